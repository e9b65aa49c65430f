"""How every table becomes numbers: scaling and levels, fixed before any data is valued."""

from collections.abc import Sequence
from typing import NamedTuple

from fairpool.consortium.columns import MOST_WARNED
from fairpool.consortium.configuration import Configuration
from fairpool.consortium.levels import choose_levels, level_problems, level_warnings
from fairpool.consortium.surveys import Moments, Survey
from fairpool.consortium.tables import PUBLIC
from fairpool.encoding import TableEncoding
from fairpool.errors import ConfigurationError
from fairpool.notes import Note, notes_of
from fairpool.tables.columns import CategoryColumn, NumberColumn
from fairpool.targets import NumberTarget


class Scaling(NamedTuple):
    """Means and scales of the number columns and then the target."""

    means: list[float]
    scales: list[float]


class FixedEncoding(NamedTuple):
    """How tables become numbers, and what the operator should know about that."""

    encoding: TableEncoding
    notes: list[Note]


def fix_encoding(
    configuration: Configuration, features: Sequence[str], surveys: dict[str, Survey]
) -> FixedEncoding:
    """Fix the encoding from public data, or else from all parties'; test rows never take part.

    Args:
        configuration: What the operator decided.
        features: The input columns.
        surveys: Every source's data, by owner.
    """
    public = surveys.get(PUBLIC)
    parties = [survey for survey in surveys.values() if survey.source.is_party]
    means, scales = _scaling_of(parties, public)
    target = configuration.target
    problems = []
    if scales[-1] == 0:
        problems.append(
            f'the target "{target}" has the same value everywhere; there is nothing to learn'
        )
    notes = []
    constant = 0
    columns: list[NumberColumn | CategoryColumn] = []
    categorical = {*configuration.categorical}
    numbers = [name for name in features if name not in categorical]
    at = {name: k for k, name in enumerate(numbers)}
    for name in features:
        if name in at:
            mean = means[at[name]]
            scale = scales[at[name]]
            columns.append(NumberColumn(name, mean, scale or 1.0))
            if scale == 0:
                constant += 1
                if constant <= MOST_WARNED:
                    text = f'column "{name}" has the same value everywhere, and tells nothing'
                    notes.append(Note(code="constant column", text=text))
        else:
            levels = choose_levels(configuration, name, parties=parties, public=public)
            columns.append(CategoryColumn(name, levels))
            problems += level_problems(name, levels, parties)
            warnings = level_warnings(configuration, name, levels=levels, surveys=surveys)
            notes += notes_of("levels", warnings)
    if constant > MOST_WARNED:
        text = f"and {constant - MOST_WARNED} more column(s) that have the same value everywhere"
        notes.append(Note(code="constant column", text=text))
    if problems:
        raise ConfigurationError(*problems)
    encoding = TableEncoding(
        columns=tuple(columns), target=NumberTarget(target, mean=means[-1], scale=scales[-1])
    )
    return FixedEncoding(encoding, notes)


def _scaling_of(parties: Sequence[Survey], public: Survey | None) -> Scaling:
    if public is not None:
        return Scaling(public.moments.mean.tolist(), public.moments.deviation.tolist())
    moments = Moments()
    for party in parties:
        moments = moments.merged(party.moments)
    # They go into every reward file, and from exact sums over all rows a party could subtract its
    # own.
    return rounded_scaling(moments.mean.tolist(), moments.deviation.tolist())


def rounded_scaling(means: list[float], scales: list[float]) -> Scaling:
    """Scales to two digits, means to a tenth of them: as good, and no exact sums over rows."""
    rounded_means = []
    rounded_scales = []
    for mean, scale in zip(means, scales, strict=True):
        rounded_scale = float(f"{scale:.1e}")
        if rounded_scale:
            mean = round(mean / (0.1 * rounded_scale)) * 0.1 * rounded_scale
        rounded_means.append(mean)
        rounded_scales.append(rounded_scale)
    return Scaling(rounded_means, rounded_scales)
