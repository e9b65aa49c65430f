"""How much a party, and a collaboration, may have others bear: disk, uploads, files that wait.

A service has one disk and few workers for all its collaborations. Whoever runs it says how much of
them is whose (`Settings`); what is beyond is refused with what to do.
"""

import math
import shutil
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from fairpool.errors import cut
from fairpool.server.consortia.who import Who
from fairpool.server.refused import NoRoomError, RefusedError, TooLargeError, TooManyError
from fairpool.server.settings import MEBIBYTE, Settings
from fairpool.server.store.tables import Blob, Party, Submission, SubmissionState, now

AN_HOUR = timedelta(hours=1)

LOOK_SECONDS = 30
"""Whoever waits for files to be looked at is told to come again after so long."""


@dataclass(frozen=True, kw_only=True)
class Room:
    """What an upload may have.

    Attributes:
        bytes: No more of them.
        refusal: What is said where there are more.
    """

    bytes: int
    refusal: RefusedError


def room_for_one(session: Session, settings: Settings, who: Who) -> Room:
    """How large one more upload may be; refused where there is to be none now.

    Args:
        session: Open.
        settings: How much is whose.
        who: One of the party's own people.
    """
    _refuse_more(session, settings, who, coming=1)
    rooms = [_of_one(settings), *_left(session, settings, who), _of_disk(settings)]
    least = min(rooms, key=lambda room: room.bytes)
    if least.bytes < 1:
        raise least.refusal
    return least


def refuse_too_much(session: Session, settings: Settings, who: Who) -> None:
    """Refuse what was just recorded, where it is too much together with what came meanwhile.

    Args:
        session: The open transaction, in which nobody else changes the collaboration.
        settings: How much is whose.
        who: One of the party's own people.
    """
    _refuse_more(session, settings, who, coming=0)
    for room in _left(session, settings, who):
        if room.bytes < 0:
            raise room.refusal


def _refuse_more(session: Session, settings: Settings, who: Who, *, coming: int) -> None:
    mine = select(Submission.created).where(Submission.party_id == who.own_party.id)
    since = now() - AN_HOUR
    times = session.scalars(
        mine.where(Submission.created > since).order_by(Submission.created)
    ).all()
    beyond = len(times) + coming - settings.uploads_per_hour
    if beyond > 0:
        wait = math.ceil((times[beyond - 1] - since).total_seconds())
        raise TooManyError(
            f"your party sent {settings.uploads_per_hour} files within an hour, the most that are"
            f" taken; wait {math.ceil(wait / 60)} minute(s), or ask whoever runs this service to"
            " raise FAIRPOOL_UPLOADS_PER_HOUR",
            seconds=max(1, wait),
        )
    waiting = mine.where(Submission.state == SubmissionState.CHECKING.value)
    waiting = waiting.where(Submission.blob_id.is_not(None))
    if len(session.scalars(waiting).all()) + coming > settings.waiting_uploads:
        raise TooManyError(
            f"{settings.waiting_uploads} files of your party are still to be looked at; wait until"
            " that is done, then send this one again, or withdraw what is not needed",
            seconds=LOOK_SECONDS,
        )


def _left(session: Session, settings: Settings, who: Who) -> tuple[Room, ...]:
    """What is left of the party's room, and of the collaboration's; less than 0: it is exceeded."""
    used = (
        select(func.coalesce(func.sum(Blob.size), 0))
        .select_from(Submission)
        .join(Blob, Blob.id == Submission.blob_id)
    )
    of_party = int(session.scalars(used.where(Submission.party_id == who.own_party.id)).one())
    here = used.join(Party, Party.id == Submission.party_id)
    here = here.where(Party.collaboration_id == who.collaboration.id)
    of_all = int(session.scalars(here).one())
    name = cut(who.own_party.name)
    return (
        Room(
            bytes=settings.party_bytes - of_party,
            refusal=TooLargeError(
                f'with this, "{name}" would have more than {_size(settings.party_bytes)} here, over'
                " all rounds; withdraw files that are not needed, send this one packed (.csv.gz,"
                " .parquet), or ask whoever runs this service to raise FAIRPOOL_PARTY_MEBIBYTES"
            ),
        ),
        Room(
            bytes=settings.collaboration_bytes - of_all,
            refusal=TooLargeError(
                "with this, the parties of this collaboration would have more than"
                f" {_size(settings.collaboration_bytes)} here together; withdraw files that are not"
                " needed, or ask whoever runs this service to raise"
                " FAIRPOOL_COLLABORATION_MEBIBYTES"
            ),
        ),
    )


def _of_one(settings: Settings) -> Room:
    return Room(
        bytes=settings.upload_bytes,
        refusal=TooLargeError(
            f"the file is larger than {_size(settings.upload_bytes)}, the most that is taken here;"
            " send it packed (.csv.gz, .parquet) or without columns that nobody uses, or ask the"
            " operator to raise FAIRPOOL_UPLOAD_MEBIBYTES"
        ),
    )


def _of_disk(settings: Settings) -> Room:
    return Room(
        bytes=shutil.disk_usage(settings.uploads).free - settings.free_bytes,
        refusal=NoRoomError(
            "the disk of this service is nearly full, so that it takes no files now; nothing was"
            " lost: tell whoever runs it, and send this one again later"
        ),
    )


def _size(size: int) -> str:
    return f"{size / MEBIBYTE:.4g} MiB"
