"""Everything that can be known before computing: the configuration, the files, and how tables become numbers.

All problems are found at once, so that an operator can write to all parties in one go.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from fairpool.consortium.configuration import Configuration, ConfigurationError, load_configuration
from fairpool.consortium.intake import Moments, Progress, Survey, missing_problem, no_progress, shared_columns, survey
from fairpool.consortium.tables import Source, column_names
from fairpool.encoding import CategoryColumn, NumberColumn, TableEncoding
from fairpool.errors import FairpoolError

T = TypeVar("T")


@dataclass(frozen=True)
class Preparation:
    """A collaboration that can be run.

    Attributes:
        folder: Where `collaboration.toml` is; its paths are relative to it.
        configuration: What it says.
        encoding: How every table becomes numbers, fixed now.
        parties: Each party's data, surveyed, in the configuration's order.
        public: The public data, if any.
        test: The test data, if any.
        warnings: What the operator should know.
    """

    folder: Path
    configuration: Configuration
    encoding: TableEncoding
    parties: tuple[Survey, ...]
    public: Survey | None
    test: Survey | None
    warnings: tuple[str, ...]

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every file that is read."""
        return tuple(s.source for s in (*self.parties, self.public, self.test) if s is not None)


def prepare(folder: Path, progress: Progress = no_progress) -> Preparation:
    """Read the configuration and look at all data once; refuse with every problem that is found."""
    configuration = load_configuration(folder)
    folder = folder if folder.is_dir() else folder.parent
    problems = _privacy_problems(configuration)
    sources = _find_sources(configuration, folder, problems)
    columns = {file: names for s in sources for file in s.files if (names := _try(problems, column_names, file))}
    features = _choose_features(configuration, columns, problems)
    texts = tuple(name for name in features if name in configuration.categorical)
    numbers = (*(name for name in features if name not in texts), configuration.target)
    # What can be looked at is, even where other files have problems: all of them are to be told at once.
    wanted = {*numbers, *texts}
    readable = [s for s in sources if all(file in columns and wanted <= {*columns[file]} for file in s.files)]
    surveys = {s.owner: found for s in readable if (found := _try(problems, survey, s, numbers, texts, progress))}
    if configuration.missing == "error":
        problems += [missing_problem(found) for found in surveys.values() if found.missing]
    problems += [
        f"{owner}: no complete row to use"
        for owner, found in surveys.items()
        if not found.rows and not (found.missing and configuration.missing == "error")
    ]
    if problems:
        raise ConfigurationError(problems)
    parties = tuple(surveys[_owner(p.name)] for p in configuration.parties)
    public, test = surveys.get("public data"), surveys.get("test data")
    encoding, warnings = _fix_encoding(configuration, features, parties, public)
    warnings += [
        f"{owner}: {found.dropped} row(s) with missing values are left out"
        for owner, found in surveys.items()
        if found.dropped
    ]
    return Preparation(folder, configuration, encoding, parties, public, test, tuple(warnings))


def _owner(name: str) -> str:
    return f'party "{name}"'


def _try(problems: list[str], function: Callable[..., T], *arguments: object) -> T | None:
    try:
        return function(*arguments)
    except FairpoolError as error:
        problems.append(str(error))
        return None


def _privacy_problems(configuration: Configuration) -> list[str]:
    if configuration.model.kind != "gp" or configuration.rewards.share_inputs:
        return []
    return [
        'model kind "gp": every reward file would contain all parties\' inputs; if all parties agreed to that, set'
        ' share_inputs = true in [rewards]; otherwise use kind "sparse_gp", "blr" or "network", whose files'
        " contain nobody's rows"
    ]


def _find_sources(configuration: Configuration, folder: Path, problems: list[str]) -> list[Source]:
    wanted = [(_owner(party.name), party.data) for party in configuration.parties]
    wanted += [("public data", configuration.public.data)] if configuration.public else []
    wanted += [("test data", configuration.test.data)] if configuration.test else []
    found = [_try(problems, Source.find, owner, data, folder) for owner, data in wanted]
    return [source for source in found if source is not None]


def _choose_features(
    configuration: Configuration, columns: dict[Path, tuple[str, ...]], problems: list[str]
) -> tuple[str, ...]:
    target = configuration.target
    features = tuple(configuration.features or shared_columns(columns, target) if columns else ())
    for file, names in columns.items():
        lacking = [name for name in (*features, target) if name not in names]
        if lacking:
            problems.append(f'{file}: no column "{lacking[0]}"; it has {", ".join(names)}')
    if columns and not features:
        problems.append("no column is shared by all files; name the features, and give all files those columns")
    problems += [
        f'categorical: "{name}" is not one of the features ({", ".join(features)})'
        for name in configuration.categorical
        if features and name not in features
    ]
    return features


def _fix_encoding(
    configuration: Configuration, features: Sequence[str], parties: Sequence[Survey], public: Survey | None
) -> tuple[TableEncoding, list[str]]:
    """Scaling from public data, or else from all parties' training data; test rows never take part."""
    moments, warnings = Moments(), []
    for found in [public] if public else parties:
        moments.merge(found.moments)
    means, scales = moments.mean.tolist(), moments.deviation.tolist()
    target, columns = configuration.target, list[NumberColumn | CategoryColumn]()
    if scales[-1] == 0:
        raise ConfigurationError([f'the target "{target}" has the same value everywhere; there is nothing to learn'])
    numbers = [name for name in features if name not in configuration.categorical]
    for name in features:
        if name in numbers:
            at = numbers.index(name)
            columns.append(NumberColumn(name, means[at], scales[at] or 1.0))
            if scales[at] == 0:
                warnings.append(f'column "{name}" has the same value everywhere, and tells nothing')
        else:
            levels, hidden = _levels(configuration, name, parties, public)
            columns.append(CategoryColumn(name, levels))
            if hidden:
                warnings.append(
                    f'categorical column "{name}": {hidden} level(s) occur at one party only and are not told to the'
                    ' others; they count as "none of these" (list all levels in the configuration to keep them apart)'
                )
    return TableEncoding(tuple(columns), target, means[-1], scales[-1]), warnings


def _levels(
    configuration: Configuration, name: str, parties: Sequence[Survey], public: Survey | None
) -> tuple[tuple[str, ...], int]:
    """A categorical column's levels, and how many were left out.

    Levels go into every reward file. So they come from the configuration or the public data; otherwise only those that
    at least two parties have are listed, since a level of one party alone would tell the others about its rows.
    """
    if isinstance(configuration.categorical, dict):
        return tuple(configuration.categorical[name]), 0
    if public is not None:
        return tuple(sorted(public.levels[name])), 0
    owners = {level: sum(level in p.levels[name] for p in parties) for p in parties for level in p.levels[name]}
    known = sorted(level for level, count in owners.items() if count > 1 or len(parties) == 1)
    return tuple(known), len(owners) - len(known)
