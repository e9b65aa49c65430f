"""Receipts for the contributions that arrived: each is checked, and what is right acknowledged."""

from dataclasses import dataclass, replace
from pathlib import Path

from fairpool.compute.files import READABLE, write_atomically
from fairpool.consortium.arrivals import survey_sums
from fairpool.consortium.configuration import Configuration, PartySection
from fairpool.consortium.configuration_file import load_configuration
from fairpool.consortium.folders import folder_names
from fairpool.consortium.rounds.context import (
    OPERATOR_KEY,
    STATE_FOLDER,
    home_of,
    read_plan,
)
from fairpool.consortium.tables import party_owner
from fairpool.errors import ContributionError, FairpoolError, PlanError
from fairpool.exchange.arrival import Arrived
from fairpool.exchange.plan import SignedPlan
from fairpool.exchange.receipt import SUFFIX, Receipt, receipt_for
from fairpool.signatures import SigningKey

FOLDER = "receipts"
"""Beside collaboration.toml."""

DIGITS = 16
"""Of a contribution's digest, in a receipt's name."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """A receipt, and where it is.

    Attributes:
        party: Whose contribution it is for.
        path: Where it lies.
        receipt: What it says.
        is_new: Whether it was written now; the same contribution has one receipt.
        is_noisy: Whether its number of rows has noise.
    """

    party: str
    path: Path
    receipt: Receipt
    is_new: bool
    is_noisy: bool = False


@dataclass(frozen=True, kw_only=True)
class Receipts:
    """What became of the contributions that are there.

    Attributes:
        given: For those that are right.
        problems: What is wrong with the others.
        lacking: Names of parties that send sums, of whom nothing has arrived.
    """

    given: tuple[Given, ...]
    problems: tuple[str, ...]
    lacking: tuple[str, ...]


def give_receipts(configuration: Path, *, received: str) -> Receipts:
    """Check every contribution that is there, and acknowledge those that are right.

    One party's mistakes do not keep another from its receipt.

    Args:
        configuration: The folder with collaboration.toml, or the file.
        received: When they came, as ISO 8601 in UTC; a receipt that is there already stays.
    """
    settings = load_configuration(configuration)
    home = home_of(configuration)
    plan = read_plan(home)
    if plan is None:
        raise PlanError(
            f"{home}: there is no plan.json, under which contributions could be made; write one:"
            " fairpool plan"
        )
    key = SigningKey.read(home / STATE_FOLDER / OPERATOR_KEY)
    given: list[Given] = []
    problems: list[str] = []
    lacking = []
    for section, folder in zip(settings.parties, folder_names(_names(settings)), strict=True):
        if section.key is not None and section.data is None:
            lacking.append(section.name)
        if not section.sends_sums:
            continue
        try:
            arrived = _arrived(section, home, plan)
        except FairpoolError as error:
            problems += error.problems
            continue
        for one in arrived:
            name = f"{folder}-{one.file.digest[:DIGITS]}{SUFFIX}"
            receipt = receipt_for(one, plan, received, key)
            written = _given(section.name, home / FOLDER / name, receipt)
            given.append(replace(written, is_noisy=one.manifest.privacy is not None))
    return Receipts(given=tuple(given), problems=tuple(problems), lacking=tuple(lacking))


def _names(settings: Configuration) -> list[str]:
    return [section.name for section in settings.parties]


def _arrived(section: PartySection, home: Path, plan: SignedPlan) -> tuple[Arrived, ...]:
    return survey_sums(party_owner(section.name), section, home, plan).arrived


def _given(party: str, path: Path, receipt: Receipt) -> Given:
    """Write a receipt, unless there is one for this contribution."""
    try:
        before = Receipt.of_content(path.read_bytes(), str(path))
    except FileNotFoundError:
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, receipt.document.content, READABLE)
        return Given(party=party, path=path, receipt=receipt, is_new=True)
    except OSError as error:
        raise ContributionError(f"{path}: cannot be read ({error.strerror})") from None
    if (before.contribution, before.operator) != (receipt.contribution, receipt.operator):
        raise ContributionError(
            f"{path}: is a receipt of another operator or for another contribution; move it away"
        )
    return Given(party=party, path=path, receipt=before, is_new=False)
