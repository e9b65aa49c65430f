"""What is found in one file that a party sent: all that is wrong, its columns, its first rows.

It looks by the consortium's own functions, as a run will, and writes nothing. A hostile file is to
be looked at in a process of its own (`looking`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fairpool.compute.workers import Workers
from fairpool.consortium.arrivals import DIGITS, sender_of, survey_sums
from fairpool.consortium.column_table import as_plain, columns_by_party
from fairpool.consortium.configuration import FILE_NAME, Configuration, PartySection
from fairpool.consortium.configuration_file import configuration_of, toml_values
from fairpool.consortium.findings import look_at_everything
from fairpool.consortium.guessing.samples import read_sample
from fairpool.consortium.inspection import inspect_file
from fairpool.consortium.problems import worst_first
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import Source, party_owner
from fairpool.errors import FairpoolError, cut, few, printable
from fairpool.exchange.arrival import Arrived, refuse_together
from fairpool.exchange.contribution_file import SUFFIX
from fairpool.exchange.plan import SignedPlan
from fairpool.exchange.receipt import receipt_for
from fairpool.server.work.places import configuration_with
from fairpool.signatures import SigningKey

FIRST_ROWS = 10
MOST_COLUMNS = 200
"""So much of a table is shown."""

MOST_PROBLEMS = 200
"""More of them would tell nothing more."""


_OF_THE_TERMS = (
    "[limits]",
    "in its reading",
    "features",
    "categorical",
    'missing = "',
    "[columns.",
    "configuration",
)
"""What problems call that only the operator can change."""

ASK = (
    "Where this speaks of features, categorical, [columns], missing, reading or limits, it means"
    " the terms. If these are wrong and your table is right, ask the operator for other terms."
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is to be looked at, and what for; plain values, since another process is told.

    Attributes:
        file: Where the file lies in the clear, in a folder with nothing but this party's files.
        shown: What its party calls it.
        toml: The terms' collaboration.toml.
        plan: The terms' plan.json; None: there is none.
        party: The permanent identity of the party.
        others: The party's contributions that are there already, in the clear.
        key: The file with the operator's key, which signs the receipt; empty: none is given.
        received: When the file came, as ISO 8601 in UTC.
    """

    file: str
    shown: str
    toml: str
    plan: str | None
    party: str
    others: tuple[str, ...] = ()
    key: str = ""
    received: str = ""


def look_at(asked: Asked) -> dict[str, Any]:
    """What is found, as JSON can hold it; `problems` are empty where the file can take part.

    Args:
        asked: What to look at.
    """
    file = Path(asked.file)
    place = str(file.relative_to(file.parent))
    text = configuration_with(asked.toml, {asked.party: place})
    configuration = configuration_of(
        toml_values(text, FILE_NAME), text=text, name=FILE_NAME
    ).configuration
    (section,) = [one for one in configuration.parties if one.permanent_id == asked.party]
    try:
        if file.name.endswith(SUFFIX):
            found = _look_at_sums(asked, section)
        else:
            found = _look_at_rows(asked, configuration, section)
    except FairpoolError as error:
        found = {"problems": [*error.problems]}
    problems = [_for_its_party(text, asked, section) for text in found["problems"]]
    if len(problems) > MOST_PROBLEMS:
        more = f"and {len(problems) - MOST_PROBLEMS} more problems like these"
        problems = [*problems[:MOST_PROBLEMS], more]
    notes = found.get("notes", [])
    if any(word in problem for problem in problems for word in _OF_THE_TERMS):
        notes = [*notes, ASK]
    return {**found, "problems": problems, "notes": notes}


def _for_its_party(problem: str, asked: Asked, section: PartySection) -> str:
    """A problem without who and where: its reader knows, and our disk is nobody's affair."""
    file = Path(asked.file)
    problem = problem.replace(str(file), asked.shown).replace(f"{file.parent}/", "")
    return problem.removeprefix(f"{party_owner(section.name)}: ")


def _look_at_rows(
    asked: Asked, configuration: Configuration, section: PartySection
) -> dict[str, Any]:
    file = Path(asked.file)
    owner = party_owner(section.name)
    seen = look_at_everything(configuration, file.parent, Workers(), agreed=None, context=None)
    found: dict[str, Any] = {"kind": "rows", **_beginning(file)}
    found["problems"] = [problem.text for problem in worst_first(seen.problems[owner])]
    survey = seen.surveys.get(owner)
    if survey is not None:
        table = columns_by_party(seen.columns, {section.name: survey}, seen.plan)
        found |= {
            "rows": survey.rows,
            "left_out": survey.dropped,
            "table": as_plain(table[:MOST_COLUMNS]),
        }
    return found


def _beginning(file: Path) -> dict[str, Any]:
    """The names of the columns and the first rows, as they are written; nothing where none can."""
    try:
        sample = read_sample(file)
    except FairpoolError:
        return {"columns": [], "first": []}
    return {
        "columns": _shown(sample.names),
        "more_columns": len(sample.names[MOST_COLUMNS:]),
        "first": [_shown(row) for row in sample.rows[:FIRST_ROWS]],
    }


def _shown(values: Sequence[str]) -> list[str]:
    return [cut(printable(value)) for value in values[:MOST_COLUMNS]]


def _look_at_sums(asked: Asked, section: PartySection) -> dict[str, Any]:
    """What is found in a contribution, by itself and together with those before."""
    file = Path(asked.file)
    plan = None if asked.plan is None else SignedPlan.of_content(asked.plan.encode(), "plan.json")
    survey = partial(_survey, folder=file.parent, plan=plan)
    (arrived,) = survey(section, [file.name]).arrived
    assert plan is not None  # without a plan nothing arrives
    others = survey(section, [Path(other).name for other in asked.others]).arrived
    beside = _beside(arrived, others)
    refuse_together((*beside, arrived), sender_of(section))
    manifest = arrived.manifest
    found: dict[str, Any] = {
        "kind": "sums",
        "problems": [],
        "rows": len(arrived),
        "left_out": manifest.left_out,
        "contribution": {
            "digest": arrived.file.digest,
            "replaces": list(manifest.replaces),
            "made": manifest.made,
        },
        "words": {what: str(word) for what, word in inspect_file(file).entries.items()},
        "notes": _lacking(arrived, beside),
    }
    if asked.key:
        receipt = receipt_for(arrived, plan, asked.received, SigningKey.read(asked.key))
        found["receipt"] = receipt.document.content.decode()
    return found


def _survey(
    section: PartySection, files: list[str], *, folder: Path, plan: SignedPlan | None
) -> Survey:
    if not files:
        return Survey(source=Source(party_owner(section.name), ()))
    having = section.model_copy(update={"data": files})
    return survey_sums(party_owner(section.name), having, folder, plan)


def _beside(arrived: Arrived, others: tuple[Arrived, ...]) -> list[Arrived]:
    """The contributions that count beside a new one: others stand in the place of the rest."""
    replaced = {digest for one in (*others, arrived) for digest in one.manifest.replaces}
    return [one for one in others if one.file.digest not in replaced]


def _lacking(arrived: Arrived, others: list[Arrived]) -> list[str]:
    """Contributions that this one adds to, and that are not here."""
    here = {one.file.digest for one in others}
    lacking = [digest[:DIGITS] for digest in arrived.manifest.earlier if digest not in here]
    if not lacking:
        return []
    return [
        f"it adds to {len(lacking)} earlier contribution(s) that are not here ({few(lacking)});"
        " their rows count only once you send these, too"
    ]
