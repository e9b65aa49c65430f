"""What is erased is gone from the disk as soon as the database no longer knows of it."""

from contextlib import suppress
from functools import partial

from sqlalchemy.orm import Session

from fairpool.server.settings import Settings
from fairpool.server.store.afterwards import once_committed
from fairpool.server.store.tables import Blob
from fairpool.server.work.vault import remove_upload


def erase(session: Session, settings: Settings, identity: str | None) -> None:
    """Forget an upload: its record now, its file once that is kept.

    Args:
        session: The open transaction, in which nothing refers to it any longer.
        settings: Where uploads are.
        identity: Which; None: nothing is done.
    """
    if identity is None:
        return
    blob = session.get(Blob, identity)
    if blob is not None:
        session.flush()
        session.delete(blob)
        session.flush()
    once_committed(session, partial(_remove, settings, identity))


def _remove(settings: Settings, identity: str) -> None:
    # A file that stays is one without a record, which `fairpool server check` finds.
    with suppress(OSError):
        remove_upload(settings, identity)
