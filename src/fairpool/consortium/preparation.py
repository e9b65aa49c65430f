"""Everything that can be known before computing: configuration, files, how tables become numbers.

All problems are found at once, so that an operator can write to all parties in one go.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from fairpool.compute.workers import Workers, is_dask
from fairpool.consortium.column_plan import ColumnPlan
from fairpool.consortium.column_table import ColumnSummary, columns_by_party, unit_notes
from fairpool.consortium.columns import (
    choose_features,
    column_problems,
    row_number_warnings,
    unused_warnings,
    wanted_columns,
)
from fairpool.consortium.configuration import Configuration
from fairpool.consortium.configuration_file import ConfigurationFile, read_configuration
from fairpool.consortium.encoder_folders import open_encoders
from fairpool.consortium.faults import Columns
from fairpool.consortium.heads import column_names
from fairpool.consortium.intake import survey
from fairpool.consortium.limits import Limits
from fairpool.consortium.outliers import look_for_outliers, outlier_notes
from fairpool.consortium.parquet_heads import refuse_large
from fairpool.consortium.problems import Problem, Severity, problems_of, worst_first
from fairpool.consortium.reading_sections import SourceSection
from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.context import RoundContext
from fairpool.consortium.rounds.known import Look
from fairpool.consortium.scaling import fix_encoding
from fairpool.consortium.survey_problems import survey_problems
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import PUBLIC, TEST, Source, links_to_others
from fairpool.consortium.tolerant_reading import wanted_of
from fairpool.consortium.treatment import class_notes, treatment_notes
from fairpool.consortium.wanted import constant_problems
from fairpool.encoding import TableEncoding
from fairpool.errors import ConfigurationError, DataError, FairpoolError, shown
from fairpool.model_kinds import KINDS
from fairpool.notes import Note, notes_of, texts_of
from fairpool.realisation.disclosure import FEWEST_ROWS, Exposure, RareClass
from fairpool.targets import ClassTarget, label_sets

T = TypeVar("T")
Problems = dict[str, list[Problem]]
"""What is wrong with each owner's data, in the configuration's order."""
Heads = dict[Path, tuple[str, ...]]
"""The column names of every file that can be opened."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Preparation:
    """A collaboration that can be run.

    Attributes:
        request: What was asked for.
        folder: Where the configuration file is; its paths are relative to it.
        configuration: What it says.
        plan: What it says of columns.
        columns: How they are read.
        text: The file as it was read.
        encoding: How every table becomes numbers, fixed now.
        parties: Each party's data, surveyed, in the configuration's order.
        public: The public data, if any.
        test: The test data, if any.
        table: Every column that is used, at every party.
        notes: What the operator should know.
        file: The configuration's file.
        context: What was released in earlier rounds; None: that does not matter.
    """

    request: RunRequest
    folder: Path
    configuration: Configuration
    plan: ColumnPlan
    columns: Columns
    text: str
    encoding: TableEncoding
    parties: tuple[Survey, ...]
    public: Survey | None
    test: Survey | None
    table: tuple[ColumnSummary, ...]
    notes: tuple[Note, ...]
    file: ConfigurationFile
    context: RoundContext | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes in words."""
        return texts_of(self.notes)

    @property
    def surveys(self) -> tuple[Survey, ...]:
        """All data: the parties', then public and test data."""
        others = [survey for survey in (self.public, self.test) if survey is not None]
        return (*self.parties, *others)


def prepare(
    request: RunRequest, workers: Workers | None = None, context: RoundContext | None = None
) -> Preparation:
    """Read the configuration and look at all data once; refuse with every problem that is found.

    Problems of the configuration come first, then those of tables, the worst first.

    Args:
        request: What is asked for.
        workers: Who looks at the tables, and who is told about it.
        context: What was released in earlier rounds, and agreed in the first.
    """
    return conclude(examine(request, workers, context))


@dataclass(frozen=True, kw_only=True, eq=False)
class Examination:
    """What was seen of a collaboration, whether it can be run or not.

    Attributes:
        request: What was asked for.
        folder: Where the configuration file is.
        file: What it says.
        findings: What was found by looking at all files.
        table: Every column that is used, at everybody whose data could be looked at.
        context: What was released in earlier rounds.
    """

    request: RunRequest
    folder: Path
    file: ConfigurationFile
    findings: "_Findings"
    table: tuple[ColumnSummary, ...]
    context: RoundContext | None = None


def examine(
    request: RunRequest, workers: Workers | None = None, context: RoundContext | None = None
) -> Examination:
    """Read the configuration and look at all data once, whatever is wrong with them.

    Args:
        request: What is asked for.
        workers: Who looks at the tables, and who is told about it.
        context: What was released in earlier rounds, and agreed in the first.
    """
    workers = workers or Workers()
    file = read_configuration(request.configuration)
    folder = _folder_of(request.configuration, workers)
    if context is not None and context.agreement is not None:
        context.agreement.refuse_other(file.configuration)
    return _examined(request, file, workers, folder=folder, context=context)


def _examined(
    request: RunRequest,
    file: ConfigurationFile,
    workers: Workers,
    *,
    folder: Path,
    context: RoundContext | None,
) -> Examination:
    """What is seen of the files that a configuration names."""
    agreed = None
    if context is not None and context.agreement is not None:
        agreed = context.agreement.features
    findings = _look_at_everything(
        file.configuration, folder, workers, agreed=agreed, context=context
    )
    names = {_owner(party.name): party.name for party in file.configuration.parties}
    by_name = {names.get(owner, owner): seen for owner, seen in findings.surveys.items()}
    return Examination(
        request=request,
        folder=folder,
        file=file,
        findings=findings,
        table=columns_by_party(findings.columns, by_name, findings.plan),
        context=context,
    )


def conclude(examination: Examination) -> Preparation:
    """What can be run; refused with every problem that was found."""
    file = examination.file
    findings = examination.findings
    _refuse_problems(file, findings)
    configuration = file.configuration
    features = findings.features
    surveys = findings.surveys
    parties = tuple(surveys[_owner(party.name)] for party in configuration.parties)
    plan = findings.plan
    encoding, encoding_notes = fix_encoding(
        plan, findings.columns, features=features, surveys=surveys
    )
    context = examination.context
    if context is not None and context.agreement is not None:
        encoding = context.agreement.encoding_like(encoding)
    _refuse_unfit_model(configuration, encoding)
    _refuse_small_parties(configuration, encoding, surveys)
    far = look_for_outliers(findings.columns, surveys, configuration.limits)
    unused = unused_warnings(plan, features, findings.party_heads)
    row_numbers = row_number_warnings(plan, features, parties)
    names = {_owner(party.name): party.name for party in configuration.parties}
    notes = [
        *encoding_notes,
        *notes_of("unused column", unused),
        *notes_of("row numbers", row_numbers),
        *class_notes(findings.columns, parties),
        *_dropped_rows_notes(configuration, surveys),
        *treatment_notes(encoding, surveys, names),
        *notes_of("identical files", _identical_files(surveys)),
        *outlier_notes(far, names),
        *unit_notes(examination.table, list(names.values())),
    ]
    return Preparation(
        request=examination.request,
        folder=examination.folder,
        configuration=configuration,
        plan=plan,
        columns=findings.columns,
        text=file.text,
        encoding=encoding,
        parties=parties,
        public=surveys.get(PUBLIC),
        test=surveys.get(TEST),
        table=examination.table,
        notes=tuple(notes),
        file=file,
        context=context,
    )


def leave_out(preparation: Preparation, names: set[str], workers: Workers) -> Preparation:
    """The same without some parties: all is looked at again, as if they had never been there.

    Columns that they alone lack are used then, and levels, scaling and features are the others'.

    Args:
        preparation: With them.
        names: Who they are. What was noted about them stays.
        workers: Who looks at the tables, and who is told about it.
    """
    configuration = preparation.configuration
    staying = [party for party in configuration.parties if party.name not in names]
    file = replace(
        preparation.file, configuration=configuration.model_copy(update={"parties": staying})
    )
    examination = _examined(
        preparation.request,
        file,
        workers,
        folder=preparation.folder,
        context=preparation.context,
    )
    concluded = conclude(examination)
    about_them = tuple(note for note in preparation.notes if note.party in names)
    return replace(concluded, notes=concluded.notes + about_them)


def _folder_of(configuration: Path, workers: Workers) -> Path:
    """The folder that paths are relative to."""
    folder = configuration if configuration.is_dir() else configuration.parent
    if is_dask(workers.executor):
        return folder.resolve()  # workers are in other folders, if not on other machines
    return folder


@dataclass(frozen=True, kw_only=True)
class _Findings:
    """What was found by looking at all files.

    Attributes:
        problems: What is wrong with each owner's data, in the configuration's order.
        heads: The column names of every file that can be opened.
        party_heads: Those of the parties' files.
        encoder_problems: What is wrong with encoders.
        plan: What is wanted of columns, knowing their encoders.
        features: The input columns.
        columns: How they and the target are read.
        surveys: Every source's data, by owner; what could not be looked at is lacking.
    """

    problems: Problems
    heads: Heads
    party_heads: Heads
    encoder_problems: tuple[str, ...]
    plan: ColumnPlan
    features: tuple[str, ...]
    columns: Columns
    surveys: dict[str, Survey]


def _look_at_everything(
    configuration: Configuration,
    folder: Path,
    workers: Workers,
    *,
    agreed: tuple[str, ...] | None,
    context: RoundContext | None,
) -> _Findings:
    """Find all files, read their heads, and then all of what can be read.

    Args:
        configuration: Which files.
        folder: What their paths are relative to.
        workers: Who looks at them.
        agreed: The input columns of earlier rounds; None: there were none.
        context: What is known of their files; None: nothing.
    """
    problems: Problems = {owner: [] for owner, _ in _wanted_data(configuration)}
    sources = _find_sources(configuration, folder, problems)
    limits = configuration.limits
    heads = _read_heads(sources, problems, limits)
    party_heads = _heads_of_parties(sources, heads)
    encoders = open_encoders(configuration.plan, folder)
    plan = encoders.plan
    features = agreed or choose_features(plan, party_heads)
    columns = wanted_columns(plan, features)
    identities = {_owner(party.name): party.permanent_id for party in configuration.parties}
    # What can be looked at is, even where other files have problems: all of them are to be told at
    # once.
    readable_sources = {}
    for source in sources:
        readable_sources[source.owner] = replace(
            source, files=tuple(file for file in source.files if file in heads)
        )
    if context is not None:
        workers.progress("recognising files")
        of_parties = {
            identities[owner]: source
            for owner, source in readable_sources.items()
            if owner in identities
        }
        context.known.recognise(of_parties, Look(columns=columns, limits=limits))
    surveys = {}
    for source in sources:
        readable = readable_sources[source.owner]
        known = None
        if context is not None and source.owner in identities:
            known = context.known.survey(identities[source.owner], readable)
        look = partial(
            _survey_within,
            readable,
            columns=columns,
            limits=limits,
            workers=workers,
            known=known,
        )
        seen = _try(problems[source.owner], look)
        if seen is not None and readable.files:
            surveys[source.owner] = seen
            problems[source.owner] += survey_problems(seen, columns, limits=limits)
    return _Findings(
        problems=problems,
        heads=heads,
        party_heads=party_heads,
        encoder_problems=encoders.problems,
        plan=plan,
        features=features,
        columns=columns,
        surveys=surveys,
    )


def _survey_within(
    source: Source,
    *,
    columns: Columns,
    limits: Limits,
    workers: Workers,
    known: Survey | None,
) -> Survey:
    """Look at a source, unless it is known, or says of itself that it is too large."""
    problems = constant_problems(wanted_of(columns, source.delivery))
    if problems:
        raise DataError(*(f"{source.owner}: {problem}" for problem in problems))
    refuse_large(source, columns.names, limits)
    if known is not None:
        return known
    return survey(source, columns, workers, limits=limits)


def _refuse_problems(file: ConfigurationFile, findings: _Findings) -> None:
    """Refuse with every problem: those of the configuration first, then the worst first."""
    configuration = file.configuration
    settings = [*file.problems, *_privacy_problems(configuration), *findings.encoder_problems]
    every = problems_of(settings, Severity.SETTING)
    if findings.party_heads:
        of_columns = column_problems(configuration, findings.features, findings.heads)
        every += problems_of(of_columns, Severity.COLUMN)
    for problems in findings.problems.values():
        every += problems
    if every:
        raise ConfigurationError(*(problem.text for problem in worst_first(every)))


def _owner(name: str) -> str:
    return f'party "{name}"'


def _try(
    problems: list[Problem], function: Callable[..., T], *arguments: object, **named: object
) -> T | None:
    """What a function gives; None, and more problems of whole files, where it refuses."""
    try:
        return function(*arguments, **named)
    except FairpoolError as error:
        problems += problems_of(error.problems, Severity.FILE)
        return None


def _privacy_problems(configuration: Configuration) -> list[str]:
    name, rewards = configuration.model.kind, configuration.rewards
    disclosure = KINDS[name].disclosure
    without = [f'"{other}"' for other, kind in KINDS.items() if not kind.disclosure.holds_rows]
    problems = []
    if disclosure.holds_rows and not rewards.share_inputs:
        problems.append(
            f'model kind "{name}": every reward file would contain all parties\' inputs; if all'
            " parties agreed to that, set share_inputs = true in [rewards]; otherwise use kind"
            f" {', '.join(without[:-1])} or {without[-1]}, whose files contain nobody's rows"
        )
    if disclosure.from_labels and configuration.public is None and not rewards.share_labels:
        problems.append(
            f'model kind "{name}" without [public] data: it would be trained on all parties\' exact'
            " labels, and every reward file would tell about them whatever the reward is; give"
            " [public] data, or, if all parties agreed to that, set share_labels = true in"
            " [rewards]"
        )
    if configuration.target.kind == ClassTarget.kind:
        problems += _problems_of_told_classes(configuration)
    return problems


def _problems_of_told_classes(configuration: Configuration) -> list[str]:
    """Of classes: what would tell everybody's labels, whatever noise is on them."""
    rewards = configuration.rewards
    blind: bool = configuration.target.label_blind  # type: ignore[attr-defined]  # this kind's key
    holds_rows = KINDS[configuration.model.kind].disclosure.holds_rows
    if rewards.share_labels or blind or not (holds_rows or rewards.covariance == "full"):
        return []
    what = f'model kind "{configuration.model.kind}"' if holds_rows else 'covariance = "full"'
    return [
        f"{what} with classes: rows are weighted by their class, so that every reward file would"
        " tell everybody's classes, whatever noise is on them; use a model with weights and"
        ' covariance = "hidden", or label_blind = true in [target], or, if all parties agreed to'
        " that, set share_labels = true in [rewards]"
    ]


def _wanted_data(configuration: Configuration) -> list[tuple[str, SourceSection]]:
    """Whose data there are, and where, in the configuration's order."""
    wanted: list[tuple[str, SourceSection]] = [
        (_owner(party.name), party) for party in configuration.parties
    ]
    if configuration.public is not None:
        wanted.append((PUBLIC, configuration.public))
    if configuration.test is not None:
        wanted.append((TEST, configuration.test))
    return wanted


def _find_sources(configuration: Configuration, folder: Path, problems: Problems) -> list[Source]:
    sources = []
    for owner, section in _wanted_data(configuration):
        delivery = configuration.delivery_of(section)
        if delivery is None:
            continue  # nobody knows how to look at it
        find = partial(Source.find, owner, section.patterns, folder, delivery=delivery)
        source = _try(problems[owner], find)
        if source is not None:
            sources.append(source)
    for owner, links in links_to_others(sources).items():
        problems[owner] += problems_of(links, Severity.FILE)
    return sources


def _read_heads(sources: Sequence[Source], problems: Problems, limits: Limits) -> Heads:
    heads = {}
    for source in sources:
        unreadable: list[Problem] = []
        for file in source.files:
            names = _try(unreadable, partial(column_names, file, limits, source.delivery))
            if names is not None:
                heads[file] = names
        for problem in unreadable:
            text = f"{source.owner}: {problem.text}"
            problems[source.owner].append(replace(problem, text=text))
    return heads


def _heads_of_parties(sources: Sequence[Source], heads: Heads) -> Heads:
    own = {}
    for source in sources:
        for file in source.files:
            if source.is_party and file in heads:
                own[file] = heads[file]
    return own


def _refuse_unfit_model(configuration: Configuration, encoding: TableEncoding) -> None:
    """Refuse a model whose settings cannot be done with these columns."""
    section = configuration.model
    public = configuration.public is not None
    problems = KINDS[section.kind].problems(section, encoding, public=public)
    if problems:
        raise ConfigurationError(*problems)


def _refuse_small_parties(
    configuration: Configuration, encoding: TableEncoding, surveys: dict[str, Survey]
) -> None:
    """Refuse parties whose rows could be computed from the others' reward files.

    Who receives nothing of the others' data is not known yet: all parties count as recipients.
    """
    if configuration.rewards.share_inputs or len(configuration.parties) == 1:
        return
    rows = {party.name: surveys[_owner(party.name)].rows for party in configuration.parties}
    public = surveys.get(PUBLIC)
    learned_from = sum(rows.values()) if public is None else public.rows
    kind = KINDS[configuration.model.kind]
    inputs = len(encoding.features)
    classes = label_sets(encoding.target)
    exposure = Exposure(
        rows={name: count for name, count in rows.items() if count},
        releases=dict.fromkeys(rows, configuration.rewards.files_together(len(rows))),
        weights=classes * kind.weights(configuration.model, inputs=inputs, rows=learned_from),
        classes=classes,
        rare=_rare_classes(configuration, encoding, surveys),
        inputs=len(encoding.columns),  # a category is one thing to guess, not one per level
        hidden=configuration.rewards.covariance == "hidden",
    )
    problems = exposure.problems()
    if problems:
        raise ConfigurationError(*problems)


def _rare_classes(
    configuration: Configuration, encoding: TableEncoding, surveys: dict[str, Survey]
) -> dict[str, RareClass]:
    """Of each party, the class it has fewest rows of, where these are some, but too few."""
    target = encoding.target
    rare: dict[str, RareClass] = {}
    if not isinstance(target, ClassTarget):
        return rare
    for party in configuration.parties:
        counts = target.counts(surveys[_owner(party.name)].levels.get(target.name, {}))
        some = {level: count for level, count in counts.items() if 0 < count < FEWEST_ROWS}
        if some:
            level = min(some, key=lambda level: some[level])
            rare[party.name] = RareClass(shown(level), some[level])
    return rare


def _dropped_rows_notes(configuration: Configuration, surveys: dict[str, Survey]) -> Iterator[Note]:
    """Whose rows are left out, since something is missing in them."""
    names = {_owner(party.name): party.name for party in configuration.parties}
    for owner, seen in surveys.items():
        if seen.dropped:
            text = f"{owner}: {seen.dropped} row(s) with missing values are left out"
            yield Note(code="dropped rows", party=names.get(owner), text=text)


def _identical_files(surveys: dict[str, Survey]) -> list[str]:
    """Files of the same content, which somebody sent or named twice."""
    first_with: dict[tuple[str, str], tuple[str, Path]] = {}
    texts = []
    for owner, seen in surveys.items():
        for file in seen.source.files:
            content = seen.contents[file]
            hashes = (content.sha256, content.images)
            first_owner, first_file = first_with.setdefault(hashes, (owner, file))
            if first_file != file or first_owner != owner:
                texts.append(f"{owner}: {file} is the same as {first_file} of {first_owner}")
    return texts
