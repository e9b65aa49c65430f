"""The plan of terms under which parties send sums, and what earlier rounds allow of it."""

from datetime import UTC
from pathlib import Path

from fairpool.compute.files import READABLE, make_private_folder, write_atomically
from fairpool.consortium.configuration import Configuration
from fairpool.consortium.planning.writing import write_plan
from fairpool.consortium.rounds.context import PLAN_FILE, RoundContext, open_context
from fairpool.errors import FairpoolError
from fairpool.exchange.plan import SignedPlan
from fairpool.server.consortia.draft import sends_sums
from fairpool.server.refused import RefusedError
from fairpool.server.store.tables import now
from fairpool.server.work.places import PartyFiles, configuration_with, places_of

PROPOSED = ".proposed.toml"
"""What a plan is made of, beside collaboration.toml, which is that of the terms in force."""


def plan_for(
    folder: Path, toml: str, configuration: Configuration, *, before: str | None
) -> SignedPlan | None:
    """The plan of a draft; None where everybody sends rows.

    Args:
        folder: The collaboration's.
        toml: The draft.
        configuration: What it says.
        before: The plan of the terms in force; None: they have none, or there are no terms.
    """
    make_private_folder(folder)
    _put_back(folder / PLAN_FILE, before)
    try:
        context = open_context(folder)
        _refuse_other_model(context, configuration)
        if not sends_sums(configuration):
            return None
        _refuse_late(context)
        return _written(folder, toml, configuration)
    except FairpoolError as error:
        raise type(error)(*(_without_folder(one, folder) for one in error.problems)) from None


def _put_back(path: Path, plan: str | None) -> None:
    """Have the plan there that is in force, whatever became of a proposal that was not kept."""
    if plan is None:
        path.unlink(missing_ok=True)
    elif not path.is_file() or path.read_bytes() != plan.encode():
        write_atomically(path, plan.encode(), READABLE)


def _written(folder: Path, toml: str, configuration: Configuration) -> SignedPlan:
    senders = tuple(
        PartyFiles(party=party.permanent_id, uploads=())
        for party in configuration.parties
        if party.key is None
    )
    proposed = folder / PROPOSED
    write_atomically(proposed, configuration_with(toml, places_of(senders)).encode())
    try:
        made = now().astimezone(UTC).isoformat(timespec="seconds")
        return write_plan(proposed, made=made).plan
    finally:
        proposed.unlink()


def _refuse_late(context: RoundContext) -> None:
    if context.history.last is not None and context.plan is None:
        raise RefusedError(
            "rounds were released without a plan, so that sums would be of other features than the"
            " models that parties have; go on with rows, or begin a new collaboration for sums"
        )


def _refuse_other_model(context: RoundContext, configuration: Configuration) -> None:
    """Refuse other inputs or another model than those of rounds that were released."""
    if context.history.last is None or context.agreement is None:
        return
    changed = context.agreement.changed_by(configuration)
    if changed:
        raise RefusedError(
            f"what the draft says of {', '.join(changed)} is not what it said when the first round"
            " was released, and files of different models tell more about everybody's data; put it"
            " back, or begin a new collaboration"
        )


def _without_folder(problem: str, folder: Path) -> str:
    """A problem without where things lie on this service's disk, which is nobody's affair."""
    return problem.replace(f"{folder / PROPOSED}: ", "").replace(f"{folder}/", "")
