"""Looking at all files that a configuration names, whatever is wrong with them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from fairpool.compute.workers import Workers
from fairpool.consortium.arrivals import survey_sums
from fairpool.consortium.column_plan import ColumnPlan
from fairpool.consortium.columns import choose_features, wanted_columns
from fairpool.consortium.configuration import Configuration, PartySection
from fairpool.consortium.encoder_folders import open_encoders
from fairpool.consortium.faults import Columns
from fairpool.consortium.heads import column_names
from fairpool.consortium.intake import survey
from fairpool.consortium.limits import Limits
from fairpool.consortium.parquet_heads import refuse_large
from fairpool.consortium.problems import Problem, Severity, problems_of
from fairpool.consortium.reading_sections import SourceSection
from fairpool.consortium.rounds.context import RoundContext, read_plan
from fairpool.consortium.rounds.known import Look
from fairpool.consortium.survey_problems import survey_problems
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import PUBLIC, TEST, Source, links_to_others, party_owner
from fairpool.consortium.tolerant_reading import wanted_of
from fairpool.consortium.wanted import constant_problems
from fairpool.errors import DataError, FairpoolError

T = TypeVar("T")

Problems = dict[str, list[Problem]]
"""What is wrong with each owner's data, in the configuration's order."""

Heads = dict[Path, tuple[str, ...]]
"""The column names of every file that can be opened."""


@dataclass(frozen=True, kw_only=True)
class Findings:
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

    @property
    def of_rows(self) -> dict[str, Survey]:
        """Those of tables; the others came as sums."""
        return {owner: seen for owner, seen in self.surveys.items() if not seen.arrived}


def look_at_everything(
    configuration: Configuration,
    folder: Path,
    workers: Workers,
    *,
    agreed: tuple[str, ...] | None,
    context: RoundContext | None,
) -> Findings:
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
    heads = _read_heads(sources, problems, configuration.limits)
    party_heads = _heads_of_parties(sources, heads)
    encoders = open_encoders(configuration.plan, folder)
    features = agreed or choose_features(encoders.plan, party_heads)
    columns = wanted_columns(encoders.plan, features)
    # What can be looked at is, even where other files have problems: all of them are to be told at
    # once.
    readable = []
    for source in sources:
        files = tuple(file for file in source.files if file in heads)
        readable.append(replace(source, files=files))
    surveys = _surveys_of_sums(configuration, folder, problems, context=context)
    surveys |= _surveys_of_rows(
        configuration, readable, problems, columns=columns, workers=workers, context=context
    )
    return Findings(
        problems=problems,
        heads=heads,
        party_heads=party_heads,
        encoder_problems=encoders.problems,
        plan=encoders.plan,
        features=features,
        columns=columns,
        surveys=surveys,
    )


def _wanted_data(configuration: Configuration) -> list[tuple[str, SourceSection]]:
    """Whose data there are, and where, in the configuration's order."""
    wanted: list[tuple[str, SourceSection]] = [
        (party_owner(party.name), party) for party in configuration.parties
    ]
    if configuration.public is not None:
        wanted.append((PUBLIC, configuration.public))
    if configuration.test is not None:
        wanted.append((TEST, configuration.test))
    return wanted


def _find_sources(configuration: Configuration, folder: Path, problems: Problems) -> list[Source]:
    sources = []
    for owner, section in _wanted_data(configuration):
        if isinstance(section, PartySection) and section.sends_sums:
            continue  # see `_surveys_of_sums`
        if section.data is None:
            nothing = (
                f"{owner}: nothing has come from it yet; once its contribution has, name it:"
                ' data = "its-name.contribution"; or leave the party out of this round'
            )
            problems[owner] += problems_of([nothing], Severity.FILE)
            continue
        delivery = configuration.delivery_of(section)
        if delivery is None:
            continue  # nobody knows how to look at it
        find = partial(Source.find, owner, section.patterns, folder, delivery=delivery)
        source = _attempt(problems[owner], find)
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
            names = _attempt(unreadable, partial(column_names, file, limits, source.delivery))
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


def _surveys_of_sums(
    configuration: Configuration,
    folder: Path,
    problems: Problems,
    *,
    context: RoundContext | None,
) -> dict[str, Survey]:
    """What came as sums, by owner."""
    senders = [section for section in configuration.parties if section.sends_sums]
    if not senders:
        return {}
    plan = read_plan(folder) if context is None else context.plan
    surveys = {}
    for section in senders:
        owner = party_owner(section.name)
        look = partial(survey_sums, owner, section, folder, plan)
        seen = _attempt(problems[owner], look)
        if seen is not None:
            surveys[owner] = seen
    return surveys


def _surveys_of_rows(
    configuration: Configuration,
    sources: Sequence[Source],
    problems: Problems,
    *,
    columns: Columns,
    workers: Workers,
    context: RoundContext | None,
) -> dict[str, Survey]:
    """What tables hold, by owner: of files that are as they were, what was seen of them before."""
    limits = configuration.limits
    known = {}
    if context is not None:
        workers.progress("recognising files")
        look = Look(columns=columns, limits=limits)
        known = _known_surveys(configuration, sources, look, context)
    surveys = {}
    for source in sources:
        look_at = partial(
            survey_within,
            source,
            columns=columns,
            limits=limits,
            workers=workers,
            known=known.get(source.owner),
        )
        seen = _attempt(problems[source.owner], look_at)
        if seen is not None and source.files:
            surveys[source.owner] = seen
            problems[source.owner] += survey_problems(seen, columns, limits=limits)
    return surveys


def _known_surveys(
    configuration: Configuration, sources: Sequence[Source], look: Look, context: RoundContext
) -> dict[str, Survey | None]:
    """By owner, what was seen of parties' files in the last round, where these are the same."""
    identities = {party_owner(party.name): party.permanent_id for party in configuration.parties}
    of_parties = {source.owner: source for source in sources if source.owner in identities}
    context.known.recognise(
        {identities[owner]: source for owner, source in of_parties.items()}, look
    )
    return {
        owner: context.known.survey(identities[owner], source)
        for owner, source in of_parties.items()
    }


def survey_within(
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


def _attempt(
    problems: list[Problem], function: Callable[..., T], *arguments: object, **named: object
) -> T | None:
    """What a function gives; None, and more problems of whole files, where it refuses."""
    try:
        return function(*arguments, **named)
    except FairpoolError as error:
        problems += problems_of(error.problems, Severity.FILE)
        return None
