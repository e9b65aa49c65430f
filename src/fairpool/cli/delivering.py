"""What `fairpool contribute --to` does besides: a contribution goes to the operator's service."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairpool.cli.screen import Screen
from fairpool.errors import FairpoolError, ServiceError

if TYPE_CHECKING:
    from fairpool.client.delivering import Delivery
    from fairpool.consortium.home.contributing import Made, Prepared


def delivery_to(url: str, token_file: Path | None, plan: Path | None) -> "Delivery":
    """Where a contribution goes.

    Args:
        url: The service.
        token_file: The file with the token; None: it is in the environment.
        plan: What the party has; None: the plan in force there.
    """
    from fairpool.client.client import Client
    from fairpool.client.delivering import Delivery
    from fairpool.consortium.home.inputs import read_plan_file

    given = None if plan is None else read_plan_file(plan)
    return Delivery.to(Client.given(url, token_file), given)


def place_of(prepared: "Prepared") -> Path:
    """Where a contribution is written, unless somebody says: here, and the same wherever it is."""
    from fairpool.client.delivering import name_of
    from fairpool.exchange.contribution_file import SUFFIX

    return Path(name_of(prepared.file) + SUFFIX)


def tell_where_it_goes(
    show: Screen, delivery: "Delivery", waiting: Sequence["Made"], prepared: "Prepared"
) -> None:
    """To which service and collaboration, and what else goes there that it lacks."""
    party = delivery.party
    show.say(f"It goes to {party.connection.address}, for {party.part.name}.")
    for made in waiting:
        if made.file.digest != prepared.file.digest:
            manifest = made.file.manifest
            show.say(
                f"So does the contribution of {manifest.made} over {manifest.rows} row(s), which"
                " this one adds to, and which does not take part there yet."
            )


def deliver(
    show: Screen,
    delivery: "Delivery",
    waiting: Sequence["Made"],
    *,
    prepared: "Prepared",
    out: Path,
) -> dict[str, Any]:
    """Bring all that waits to the service, and keep the receipts.

    Args:
        show: Where to say it.
        delivery: To which service.
        waiting: What does not take part there yet, the oldest first.
        prepared: The contribution that was asked for, which is written.
        out: Where it is; receipts go beside it.

    Returns:
        What was done, for a program.
    """
    from fairpool.client.delivering import keep_receipt, name_of
    from fairpool.exchange.receipt import SUFFIX

    sent = []
    bringing = list(waiting)
    if all(made.file.digest != prepared.file.digest for made in waiting):
        bringing.append(prepared.made)  # for its receipt, if that is not here yet
    with _said_what_is_written(out), show.progress() as progress:
        for made in bringing:
            delivered = delivery.deliver(made, progress=progress)
            place = out.parent / (name_of(made.file) + SUFFIX)
            keep_receipt(delivered.receipt, place)
            sent.append((delivered, place))
    for delivered, place in sent:
        how = "The service has it already" if delivered.was_there else "Sent"
        show.say_unbroken(f"{how}: it takes part, and {place} is the operator's receipt.")
    return {
        "to": str(delivery.party.connection.address),
        "collaboration": delivery.party.part.collaboration_id,
        "sent": [
            {
                "contribution": delivered.receipt.contribution,
                "submission": delivered.submission.id,
                "receipt": str(place),
                "was_there": delivered.was_there,
            }
            for delivered, place in sent
        ],
    }


@contextmanager
def _said_what_is_written(out: Path) -> Iterator[None]:
    """Say of a contribution that does not arrive that it is there, and how it goes on."""
    further = f"{out} is written; run this again to go on: what the service has is not sent twice"
    try:
        yield
    except FairpoolError as error:
        raise ServiceError(*error.problems, further) from None
    except KeyboardInterrupt:
        raise KeyboardInterrupt(further) from None
