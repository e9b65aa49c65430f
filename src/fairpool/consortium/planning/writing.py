"""plan.json beside collaboration.toml: signed, put in its place at once, and never lost by mistake.

What parties have contributed is summed up by the features of the plan. So these change only where
nothing was contributed yet, or where the operator says so.
"""

import dataclasses
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from fairpool.compute.files import READABLE, sync_folder, write_atomically
from fairpool.compute.workers import Workers
from fairpool.consortium.configuration import Configuration
from fairpool.consortium.configuration_file import read_configuration
from fairpool.consortium.planning.plan import plan_of
from fairpool.consortium.rounds.context import LEDGER_FILE, PLAN_FILE, home_of, read_plan
from fairpool.consortium.rounds.operator_key import operator_key
from fairpool.consortium.rounds.releasing import one_at_a_time
from fairpool.consortium.tables import Source
from fairpool.errors import DataError, FairpoolError, PlanError
from fairpool.exchange.contribution_file import SUFFIX
from fairpool.exchange.plan import Plan, SignedPlan
from fairpool.exchange.plan_differences import differences_in_words
from fairpool.signatures import SigningKey


class Change(StrEnum):
    """What became of the plan that was there."""

    NEW = "new"
    """There was none."""

    NONE = "none"
    """It says the same, and was left as it is."""

    TERMS = "terms"
    """Contributions under the old one can be used under the new one."""

    FEATURES = "features"
    """They cannot: every party has to contribute again."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Written:
    """A plan that lies beside the configuration.

    Attributes:
        path: Where it is.
        plan: What it says, and who signed it.
        change: What became of the one that was there.
        is_late: Whether models were released by other features, or before there was any plan.
        rekeyed: The parties whose key is another than in the plan that was there.
    """

    path: Path
    plan: SignedPlan
    change: Change
    is_late: bool = False
    rekeyed: tuple[str, ...] = ()


def write_plan(
    configuration: Path, *, made: str, replace: bool = False, workers: Workers | None = None
) -> Written:
    """Make a plan of a configuration and sign it; one that says the same is left as it is.

    Args:
        configuration: The folder with collaboration.toml, or the file.
        made: When, as ISO 8601 in UTC.
        replace: Whether features may change under which parties have contributed, and a plan be
            replaced that is damaged, or that somebody else signed.
        workers: Who looks at public data, and who is told about it.
    """
    wanted = read_configuration(configuration).configuration  # so that a wrong folder stays so
    folder = home_of(configuration)
    with one_at_a_time(configuration):
        before = _plan_before(folder, replace=replace)
        plan = plan_of(configuration, made=made, before=before, workers=workers)
        key = operator_key(folder)
        change = _change(plan, before, key)
        path = folder / PLAN_FILE
        if change is Change.NONE:
            assert before is not None
            return Written(path=path, plan=before, change=change)
        if change is Change.FEATURES and not replace:
            assert before is not None
            _refuse_lost_contributions(wanted, folder, differences_in_words(before.plan, plan))
        content = plan.signed(key).content
        written = SignedPlan.of_content(content, str(path))
        for left in folder.glob(f".{PLAN_FILE}.*"):
            left.unlink()  # by a run that was killed
        # Everybody may read it: it is sent to all parties.
        write_atomically(path, content, READABLE)
        sync_folder(folder)
    is_late = change is not Change.TERMS and (folder / LEDGER_FILE).exists()
    return Written(
        path=path,
        plan=written,
        change=change,
        is_late=is_late,
        rekeyed=_rekeyed(plan, before),
    )


def _rekeyed(plan: Plan, before: SignedPlan | None) -> tuple[str, ...]:
    """The parties that had another key, with which they may have signed contributions."""
    if before is None:
        return ()
    keys = {party.id: party.key for party in before.plan.parties if party.key is not None}
    changed = [party for party in plan.parties if party.key != keys.get(party.id, party.key)]
    return tuple(party.name for party in changed)


def _change(plan: Plan, before: SignedPlan | None, key: SigningKey) -> Change:
    """What becomes of the plan that is there, if there is one."""
    if before is None:
        return Change.NEW
    as_before = dataclasses.replace(plan, made=before.plan.made)
    if as_before.signed(key).content == before.document.content:
        return Change.NONE
    if plan.features_digest == before.plan.features_digest:
        return Change.TERMS
    return Change.FEATURES


def _plan_before(folder: Path, *, replace: bool) -> SignedPlan | None:
    """The plan that is there; with `replace`, one that cannot be used counts as none."""
    try:
        return read_plan(folder)
    except FairpoolError:
        if replace:
            return None
        raise


def _refuse_lost_contributions(
    configuration: Configuration, folder: Path, differences: str
) -> None:
    """Refuse other features where sums, or models, were made by those of the old plan."""
    senders = [party.name for party in configuration.parties if _has_sent(party.patterns, folder)]
    if senders:
        raise PlanError(
            f"{folder / PLAN_FILE}: other columns, scaling or features than before"
            f" ({differences}), and contributions of {', '.join(senders)} were made by those: they"
            " could not be used any longer; put the configuration back, or, if all parties are to"
            " contribute again: fairpool plan --replace"
        )
    if (folder / LEDGER_FILE).exists():
        raise PlanError(
            f"{folder / PLAN_FILE}: other columns, scaling or features than before"
            f" ({differences}), and models made by those were released; put the configuration back,"
            " or, if all parties agreed to other ones: fairpool plan --replace, then fairpool run"
            " --learn-anew"
        )


def _has_sent(patterns: tuple[str, ...], folder: Path) -> bool:
    """Whether a party's contributions are there, by the names of the files."""
    ours = [pattern for pattern in patterns if pattern.endswith(SUFFIX)]
    if not ours:
        return False
    try:
        return bool(Source.find("a party", ours, folder, suffixes=(SUFFIX,)).files)
    except DataError:
        return False  # none has arrived
