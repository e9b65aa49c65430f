"""Everything that can be known before computing: configuration, files, how tables become numbers.

All problems are found at once, so that an operator can write to all parties in one go.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from fairpool.compute.workers import Workers
from fairpool.consortium.agreed_terms import contradictions, in_words
from fairpool.consortium.arrivals import lacking_notes
from fairpool.consortium.column_plan import ColumnPlan
from fairpool.consortium.column_table import ColumnSummary, unit_notes
from fairpool.consortium.columns import column_problems, row_number_warnings, unused_warnings
from fairpool.consortium.configuration import Configuration
from fairpool.consortium.configuration_file import ConfigurationFile, read_configuration
from fairpool.consortium.examination import Examination, examine, examined, folder_of
from fairpool.consortium.faults import Columns
from fairpool.consortium.findings import Findings
from fairpool.consortium.outliers import look_for_outliers, outlier_notes
from fairpool.consortium.problems import Severity, problems_of, worst_first
from fairpool.consortium.refusals import (
    privacy_problems,
    refuse_small_parties,
    refuse_unfit_model,
)
from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.context import RoundContext
from fairpool.consortium.scaling import fix_encoding
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import PUBLIC, TEST, party_owner
from fairpool.consortium.treatment import class_notes, treatment_notes, treatment_of
from fairpool.encoding import TableEncoding
from fairpool.errors import ConfigurationError
from fairpool.notes import Note, notes_of, texts_of
from fairpool.report.treatment import Treatment


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

    @cached_property
    def treatments(self) -> tuple[Treatment, ...]:
        """What was done to every table: the parties', in order, then public and test data's."""
        names = [party.name for party in self.configuration.parties]
        owners = [*names, *(survey.source.owner for survey in self.surveys[len(names) :])]
        treatments = []
        for owner, seen in zip(owners, self.surveys, strict=True):
            treatments.append(treatment_of(self.encoding, seen, owner))
        return tuple(treatments)


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


def conclude(examination: Examination) -> Preparation:
    """What can be run; refused with every problem that was found."""
    file = examination.file
    findings = examination.findings
    _refuse_problems(file, findings)
    configuration = file.configuration
    surveys = findings.surveys
    encoding, encoding_notes = _fixed_encoding(examination)
    refuse_unfit_model(configuration, encoding)
    refuse_small_parties(configuration, encoding, surveys)
    return Preparation(
        request=examination.request,
        folder=examination.folder,
        configuration=configuration,
        plan=findings.plan,
        columns=findings.columns,
        text=file.text,
        encoding=encoding,
        parties=tuple(surveys[party_owner(party.name)] for party in configuration.parties),
        public=surveys.get(PUBLIC),
        test=surveys.get(TEST),
        table=examination.table,
        notes=(*encoding_notes, *_notes(examination, encoding)),
        file=file,
        context=examination.context,
    )


def _fixed_encoding(examination: Examination) -> tuple[TableEncoding, list[Note]]:
    """How tables become numbers: as agreed, if there were rounds before; and notes about that."""
    findings = examination.findings
    agreement = None if examination.context is None else examination.context.agreement
    if agreement is not None and not findings.of_rows.keys() - {TEST}:
        return agreement.encoding.with_encoders(examination.folder), []
    encoding, notes = fix_encoding(
        findings.plan,
        findings.columns,
        features=findings.features,
        surveys=findings.of_rows,
    )
    if agreement is not None:
        encoding = agreement.encoding_like(encoding)
    return encoding, notes


def _notes(examination: Examination, encoding: TableEncoding) -> Iterator[Note]:
    """What the operator should know of data that can be used."""
    findings = examination.findings
    configuration = examination.file.configuration
    plan, features, surveys = findings.plan, findings.features, findings.surveys
    names = {party_owner(party.name): party.name for party in configuration.parties}
    with_rows = [findings.of_rows[owner] for owner in names if owner in findings.of_rows]
    yield from _terms_notes(examination)
    yield from lacking_notes(configuration, [surveys[owner] for owner in names])
    unused = unused_warnings(plan, features, findings.party_heads)
    yield from notes_of("unused column", unused)
    row_numbers = row_number_warnings(plan, features, with_rows)
    yield from notes_of("row numbers", row_numbers)
    yield from class_notes(findings.columns, with_rows)
    yield from _dropped_rows_notes(configuration, surveys)
    yield from treatment_notes(encoding, findings.of_rows, names)
    yield from notes_of("identical files", _identical_files(surveys))
    far = look_for_outliers(findings.columns, findings.of_rows, configuration.limits)
    yield from outlier_notes(far, names)
    yield from unit_notes(examination.table, list(names.values()))


def _terms_notes(examination: Examination) -> Iterator[Note]:
    """What a preview may do, and a release must not: other terms than all parties agreed to."""
    context = examination.context
    if context is None or context.plan is None:
        return
    configuration = examination.file.configuration
    found = [*contradictions(context.plan.plan, configuration, examination.request.rho)]
    if found:
        yield Note(code="other terms", text=in_words(found))


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
    examination = examined(
        preparation.request,
        file,
        workers,
        folder=preparation.folder,
        context=preparation.context,
    )
    concluded = conclude(examination)
    about_them = tuple(note for note in preparation.notes if note.party in names)
    return replace(concluded, notes=concluded.notes + about_them)


def prepare_alone(
    request: RunRequest, party: str, workers: Workers, context: RoundContext
) -> Preparation:
    """Look at one party's data, whatever the others' are like by now.

    Args:
        request: Which configuration.
        party: The permanent identity of the party.
        workers: Who looks at the tables, and who is told about it.
        context: What was released in earlier rounds, and agreed in the first.
    """
    file = read_configuration(request.configuration)
    alone = [one for one in file.configuration.parties if one.permanent_id == party]
    file = replace(file, configuration=file.configuration.model_copy(update={"parties": alone}))
    folder = folder_of(request.configuration, workers)
    return conclude(examined(request, file, workers, folder=folder, context=context))


def _refuse_problems(file: ConfigurationFile, findings: Findings) -> None:
    """Refuse with every problem: those of the configuration first, then the worst first."""
    configuration = file.configuration
    settings = [*file.problems, *privacy_problems(configuration), *findings.encoder_problems]
    every = problems_of(settings, Severity.SETTING)
    if findings.party_heads:
        of_columns = column_problems(configuration, findings.features, findings.heads)
        every += problems_of(of_columns, Severity.COLUMN)
    for problems in findings.problems.values():
        every += problems
    if every:
        raise ConfigurationError(*(problem.text for problem in worst_first(every)))


def _dropped_rows_notes(configuration: Configuration, surveys: dict[str, Survey]) -> Iterator[Note]:
    """Whose rows are left out, since something is missing in them."""
    names = {party_owner(party.name): party.name for party in configuration.parties}
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
