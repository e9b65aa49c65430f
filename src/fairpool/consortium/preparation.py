"""Everything that can be known before computing: the configuration, the files, and how tables
become numbers.

All problems are found at once, so that an operator can write to all parties in one go.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from fairpool.compute.workers import Workers, is_dask
from fairpool.consortium.columns import (
    choose_features,
    column_problems,
    row_number_warnings,
    unused_warnings,
    wanted_columns,
)
from fairpool.consortium.configuration import Configuration, read_configuration
from fairpool.consortium.intake import Moments, Survey, survey, survey_problems
from fairpool.consortium.levels import choose_levels, level_problems, level_warnings
from fairpool.consortium.tables import PUBLIC, TEST, Source, column_names, sha256
from fairpool.errors import ConfigurationError, DataError, FairpoolError
from fairpool.model_kinds import KINDS
from fairpool.notes import Note, notes_of, texts_of
from fairpool.tables.encoding import CategoryColumn, NumberColumn, TableEncoding

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
        hashes: The SHA-256 of every file, from before it was looked at.
        notes: What the operator should know.
    """

    folder: Path
    configuration: Configuration
    text: str
    encoding: TableEncoding
    parties: tuple[Survey, ...]
    public: Survey | None
    test: Survey | None
    hashes: dict[Path, str]
    notes: tuple[Note, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes in words."""
        return texts_of(self.notes)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every file that is read."""
        return tuple(s.source for s in (*self.parties, self.public, self.test) if s is not None)


def prepare(folder: Path, workers: Workers | None = None) -> Preparation:
    """Read the configuration and look at all data once; refuse with every problem that is found.

    Problems of the configuration come first, then those of each source in the configuration's
    order.
    """
    workers = workers or Workers()
    file = read_configuration(folder)
    configuration = file.configuration
    folder = folder if folder.is_dir() else folder.parent
    if is_dask(workers.executor):
        folder = folder.resolve()  # workers are in other folders, if not on other machines
    owners = [owner for owner, _ in _wanted_data(configuration)]
    problems: dict[str, list[str]] = {owner: [] for owner in owners}
    sources = _find_sources(configuration, folder, problems)
    hashes = _hashes(sources)
    heads = _read_heads(sources, problems)
    own = {file: heads[file] for s in sources if s.is_party for file in s.files if file in heads}
    features = choose_features(configuration, own)
    columns = wanted_columns(configuration, features)
    surveys: dict[str, Survey] = {}
    for source in sources:
        # What can be looked at is, even where other files have problems: all of them are to be told
        # at once.
        readable = replace(source, files=tuple(file for file in source.files if file in heads))
        found = _try(problems[source.owner], survey, readable, columns, workers)
        if found is not None and readable.files:
            surveys[source.owner] = found
            problems[source.owner] += survey_problems(
                found, columns, may_miss=configuration.missing == "drop"
            )
    general = [*file.problems, *_privacy_problems(configuration)]
    if own:
        general += column_problems(configuration, features, list(heads))
    if not any(problems.values()):
        general += _few_rows_problems(configuration, surveys)
    _refuse(general, *problems.values())
    parties = tuple(surveys[_owner(p.name)] for p in configuration.parties)
    names = {_owner(party.name): party.name for party in configuration.parties}
    public, test = surveys.get(PUBLIC), surveys.get(TEST)
    encoding, notes = _fix_encoding(configuration, features, surveys)
    notes += notes_of("unused column", unused_warnings(configuration, features, own))
    notes += notes_of("row numbers", row_number_warnings(configuration, features, parties))
    for owner, found in surveys.items():
        if found.dropped:
            text = f"{owner}: {found.dropped} row(s) with missing values are left out"
            notes.append(Note(code="dropped rows", party=names.get(owner), text=text))
    notes += notes_of("identical files", _identical_files(sources, hashes))
    return Preparation(
        folder=folder,
        configuration=configuration,
        text=file.text,
        encoding=encoding,
        parties=parties,
        public=public,
        test=test,
        hashes=hashes,
        notes=tuple(notes),
    )


def refuse_changed_files(preparation: Preparation) -> None:
    """Refuse to go on where a file is not what was looked at: values and models would be of other
    data.

    To be called when all files were read for the last time: a file that is the same before and
    after was so between, unless somebody put it back in the meantime.
    """
    now = _hashes(preparation.sources)
    problems = [
        f"{source.owner}: {file} was changed while it was read; leave it alone and run again"
        for source in preparation.sources
        for file in source.files
        if now.get(file) != preparation.hashes[file]
    ]
    if problems:
        raise DataError(*problems)


def _hashes(sources: Sequence[Source]) -> dict[Path, str]:
    """The SHA-256 of every file that can be read; what cannot be is told by who looks at it."""
    hashes = {}
    for source in sources:
        for file in source.files:
            with suppress(OSError):
                hashes[file] = sha256(file)
    return hashes


def _refuse(*problems: list[str]) -> None:
    """Raise all problems, if there are any."""
    every = [problem for some in problems for problem in some]
    if every:
        raise ConfigurationError(*every)


def _owner(name: str) -> str:
    return f'party "{name}"'


def _try(problems: list[str], function: Callable[..., T], *arguments: object) -> T | None:
    try:
        return function(*arguments)
    except FairpoolError as error:
        problems += error.problems
        return None


def _privacy_problems(configuration: Configuration) -> list[str]:
    kind = KINDS[configuration.model.kind]
    if not kind.disclosure.holds_rows or configuration.rewards.share_inputs:
        return []
    return [
        'model kind "gp": every reward file would contain all parties\' inputs; if all parties'
        " agreed to that, set"
        ' share_inputs = true in [rewards]; otherwise use kind "sparse_gp", "blr" or "network",'
        " whose files"
        " contain nobody's rows"
    ]


def _wanted_data(configuration: Configuration) -> list[tuple[str, str]]:
    """Whose data there are, and where, in the configuration's order."""
    wanted = [(_owner(party.name), party.data) for party in configuration.parties]
    wanted += [(PUBLIC, configuration.public.data)] if configuration.public else []
    wanted += [(TEST, configuration.test.data)] if configuration.test else []
    return wanted


def _find_sources(
    configuration: Configuration, folder: Path, problems: dict[str, list[str]]
) -> list[Source]:
    wanted = _wanted_data(configuration)
    found = [_try(problems[owner], Source.find, owner, data, folder) for owner, data in wanted]
    return [source for source in found if source is not None]


def _read_heads(
    sources: Sequence[Source], problems: dict[str, list[str]]
) -> dict[Path, tuple[str, ...]]:
    """The column names of every file that can be opened."""
    heads = {}
    for source in sources:
        found: list[str] = []
        for file in source.files:
            names = _try(found, column_names, file)
            if names is not None:
                heads[file] = names
        problems[source.owner] += [f"{source.owner}: {problem}" for problem in found]
    return heads


def _few_rows_problems(configuration: Configuration, surveys: dict[str, Survey]) -> list[str]:
    """A model with weights is made of sums over rows; of a single row, the sum is that row."""
    owners = [_owner(party.name) for party in configuration.parties]
    holds_rows = KINDS[configuration.model.kind].disclosure.holds_rows
    if holds_rows or configuration.rewards.share_inputs or not all(o in surveys for o in owners):
        return []
    total = sum(surveys[owner].rows for owner in owners)
    return [
        f"{owner}: the other parties together have a single row, which its reward would show; add"
        " rows, or set"
        " share_inputs = true in [rewards] if all parties agreed to that"
        for owner in owners
        if total - surveys[owner].rows == 1
    ]


def _identical_files(sources: Sequence[Source], hashes: dict[Path, str]) -> list[str]:
    """Files of the same content, which somebody sent or named twice."""
    seen: dict[str, tuple[str, Path]] = {}
    texts = []
    for source in sources:
        for file in source.files:
            owner, other = seen.setdefault(hashes[file], (source.owner, file))
            if other != file or owner != source.owner:
                texts.append(f"{source.owner}: {file} is the same as {other} of {owner}")
    return texts


def _fix_encoding(
    configuration: Configuration, features: Sequence[str], surveys: dict[str, Survey]
) -> tuple[TableEncoding, list[Note]]:
    """Scaling from public data, or else from all parties' training data; test rows never take part."""
    parties, public = (
        [surveys[_owner(party.name)] for party in configuration.parties],
        surveys.get(PUBLIC),
    )
    moments, problems, notes = Moments(), list[str](), list[Note]()
    for found in [public] if public else parties:
        moments.merge(found.moments)
    means, scales = moments.mean.tolist(), moments.deviation.tolist()
    if public is None:
        # They go into every reward file, and from exact sums over all rows a party could subtract
        # its own.
        means, scales = rounded_scaling(means, scales)
    target, columns = configuration.target, list[NumberColumn | CategoryColumn]()
    if scales[-1] == 0:
        problems.append(
            f'the target "{target}" has the same value everywhere; there is nothing to learn'
        )
    numbers = [name for name in features if name not in configuration.categorical]
    for name in features:
        if name in numbers:
            at = numbers.index(name)
            columns.append(NumberColumn(name, means[at], scales[at] or 1.0))
            if scales[at] == 0:
                text = f'column "{name}" has the same value everywhere, and tells nothing'
                notes.append(Note(code="constant column", text=text))
        else:
            levels = choose_levels(configuration, name, parties, public)
            columns.append(CategoryColumn(name, levels))
            problems += level_problems(name, levels, parties)
            notes += notes_of("levels", level_warnings(configuration, name, levels, surveys))
    _refuse(problems)
    return TableEncoding(tuple(columns), target, means[-1], scales[-1]), notes


def rounded_scaling(means: list[float], scales: list[float]) -> tuple[list[float], list[float]]:
    """Scales to two digits, means to a tenth of them: as good for scaling, and no exact sums over anybody's rows."""
    rounded = [float(f"{scale:.1e}") for scale in scales]
    return [
        round(mean / (0.1 * scale)) * 0.1 * scale if scale else mean
        for mean, scale in zip(means, rounded, strict=True)
    ], rounded
