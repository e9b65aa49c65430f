"""Everything that can be known before computing: the configuration, the files, and how tables become numbers.

All problems are found at once, so that an operator can write to all parties in one go.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from fairpool.consortium.configuration import Configuration, read_configuration
from fairpool.consortium.intake import Moments, Survey, missing_problem, shared_columns, survey
from fairpool.consortium.tables import Source, column_names, sha256
from fairpool.encoding import CategoryColumn, NumberColumn, TableEncoding
from fairpool.errors import ConfigurationError, FairpoolError
from fairpool.workers import Workers, is_dask

T = TypeVar("T")


@dataclass(frozen=True)
class Preparation:
    """A collaboration that can be run.

    Attributes:
        folder: Where the configuration file is; its paths are relative to it.
        configuration: What it says.
        text: The file as it was read.
        encoding: How every table becomes numbers, fixed now.
        parties: Each party's data, surveyed, in the configuration's order.
        public: The public data, if any.
        test: The test data, if any.
        warnings: What the operator should know.
    """

    folder: Path
    configuration: Configuration
    text: str
    encoding: TableEncoding
    parties: tuple[Survey, ...]
    public: Survey | None
    test: Survey | None
    warnings: tuple[str, ...]

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every file that is read."""
        return tuple(s.source for s in (*self.parties, self.public, self.test) if s is not None)


def prepare(folder: Path, workers: Workers = Workers()) -> Preparation:  # noqa: B008 -- immutable
    """Read the configuration and look at all data once; refuse with every problem that is found."""
    configuration, text = read_configuration(folder)
    folder = folder if folder.is_dir() else folder.parent
    if is_dask(workers.executor):
        folder = folder.resolve()  # workers are in other folders, if not on other machines
    problems = _privacy_problems(configuration)
    sources = _find_sources(configuration, folder, problems)
    columns = {file: names for s in sources for file in s.files if (names := _try(problems, column_names, file))}
    features, warnings = _choose_features(configuration, sources, columns, problems)
    texts = tuple(name for name in features if name in configuration.categorical)
    numbers = (*(name for name in features if name not in texts), configuration.target)
    # What can be looked at is, even where other files have problems: all of them are to be told at once.
    wanted = {*numbers, *texts}
    readable = [s for s in sources if all(file in columns and wanted <= {*columns[file]} for file in s.files)]
    surveys = {s.owner: found for s in readable if (found := _try(problems, survey, s, numbers, texts, workers))}
    if configuration.missing == "error":
        problems += [missing_problem(found) for found in surveys.values() if found.missing]
    problems += [
        f"{owner}: no complete row to use"
        for owner, found in surveys.items()
        if not found.rows and not (found.missing and configuration.missing == "error")
    ]
    problems += _few_rows_problems(configuration, surveys)
    if problems:
        raise ConfigurationError(problems)
    parties = tuple(surveys[_owner(p.name)] for p in configuration.parties)
    public, test = surveys.get("public data"), surveys.get("test data")
    encoding, more = _fix_encoding(configuration, features, parties, public)
    warnings += more
    warnings += [
        f"{owner}: {found.dropped} row(s) with missing values are left out"
        for owner, found in surveys.items()
        if found.dropped
    ]
    warnings += _identical_files(sources)
    return Preparation(
        folder=folder,
        configuration=configuration,
        text=text,
        encoding=encoding,
        parties=parties,
        public=public,
        test=test,
        warnings=tuple(warnings),
    )


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


def _few_rows_problems(configuration: Configuration, surveys: dict[str, Survey]) -> list[str]:
    """A model with weights is made of sums over rows; of a single row, the sum is that row."""
    owners = [_owner(party.name) for party in configuration.parties]
    if configuration.model.kind == "gp" or configuration.rewards.share_inputs or not all(o in surveys for o in owners):
        return []
    total = sum(surveys[owner].rows for owner in owners)
    return [
        f"{owner}: the other parties together have a single row, which its reward would show; add rows, or set"
        " share_inputs = true in [rewards] if all parties agreed to that"
        for owner in owners
        if total - surveys[owner].rows == 1
    ]


def _identical_files(sources: Sequence[Source]) -> list[str]:
    """Files of the same content, which somebody sent or named twice."""
    seen: dict[str, tuple[str, Path]] = {}
    texts = []
    for source in sources:
        for file in source.files:
            owner, other = seen.setdefault(sha256(file), (source.owner, file))
            if other != file or owner != source.owner:
                texts.append(f"{source.owner}: {file} is the same as {other} of {owner}")
    return texts


def _choose_features(
    configuration: Configuration, sources: Sequence[Source], columns: dict[Path, tuple[str, ...]], problems: list[str]
) -> tuple[tuple[str, ...], list[str]]:
    """The input columns, and a warning for every column that is left out because not all parties have it."""
    target = configuration.target
    own = {f: columns[f] for s in sources if s.owner.startswith("party") for f in s.files if f in columns}
    features = tuple(configuration.features or (shared_columns(own, target) if own else ()))
    for file, names in columns.items():
        lacking = [name for name in (*features, target) if name not in names]
        if lacking:
            problems.append(f'{file}: no column "{lacking[0]}"; it has {", ".join(names)}')
    if own and not features:
        problems.append("no column is shared by all parties; name the features, and give all files those columns")
    problems += [
        f'categorical: "{name}" is not one of the features ({", ".join(features)})'
        for name in configuration.categorical
        if features and name not in features
    ]
    unused: dict[str, list[str]] = {}
    for file, names in own.items():
        for name in names:
            if name not in features and name != target:
                unused.setdefault(name, []).append(file.name)
    warnings = [
        f'column "{name}" is not used: only {", ".join(files)} {"has" if len(files) == 1 else "have"} it'
        for name, files in unused.items()
        if configuration.features is None
    ]
    return features, warnings


def _fix_encoding(
    configuration: Configuration, features: Sequence[str], parties: Sequence[Survey], public: Survey | None
) -> tuple[TableEncoding, list[str]]:
    """Scaling from public data, or else from all parties' training data; test rows never take part."""
    moments, warnings = Moments(), []
    for found in [public] if public else parties:
        moments.merge(found.moments)
    means, scales = moments.mean.tolist(), moments.deviation.tolist()
    if public is None:
        # They go into every reward file, and from exact sums over all rows a party could subtract its own.
        means, scales = rounded_scaling(means, scales)
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
            if hidden and not levels:
                raise ConfigurationError([f'categorical column "{name}": no level occurs at two parties ({hidden})'])
            if hidden:
                warnings.append(
                    f'categorical column "{name}": levels that occur at one party only ({hidden}) are not told to the'
                    ' others; they count as "none of these" (list all levels in the configuration to keep them apart)'
                )
    return TableEncoding(tuple(columns), target, means[-1], scales[-1]), warnings


def rounded_scaling(means: list[float], scales: list[float]) -> tuple[list[float], list[float]]:
    """Scales to two digits, means to a tenth of them: as good for scaling, and no exact sums over anybody's rows."""
    rounded = [float(f"{scale:.1e}") for scale in scales]
    return [
        round(mean / (0.1 * scale)) * 0.1 * scale if scale else mean for mean, scale in zip(means, rounded, strict=True)
    ], rounded


def _levels(
    configuration: Configuration, name: str, parties: Sequence[Survey], public: Survey | None
) -> tuple[tuple[str, ...], str]:
    """A categorical column's levels; and those left out, in words for the operator.

    Levels go into every reward file. So they come from the configuration or the public data; otherwise only those that
    at least two parties have are listed, since a level of one party alone would tell the others about its rows.
    """
    if isinstance(configuration.categorical, dict):
        return tuple(configuration.categorical[name]), ""
    if public is not None:
        return tuple(sorted(public.levels[name])), ""
    owners: dict[str, list[str]] = {}
    for found in parties:
        for level in found.levels[name]:
            owners.setdefault(level, []).append(found.source.owner)
    known = sorted(level for level, found in owners.items() if len(found) > 1 or len(parties) == 1)
    hidden = [f'"{level}" of {found[0]}' for level, found in sorted(owners.items()) if level not in known]
    return tuple(known), ", ".join(hidden[:5]) + (f" and {len(hidden) - 5} more" if len(hidden) > 5 else "")
