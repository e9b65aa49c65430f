"""What a service sends as a file: written as a whole or not at all, and over nothing."""

import os
from pathlib import Path

from fairpool.client.connection import Connection, Request
from fairpool.errors import ServiceError


def save(connection: Connection, request: Request, path: str | os.PathLike[str]) -> Path:
    """Save the answer to a request, for this user alone; however large, piece by piece.

    Args:
        connection: To the service.
        request: What is asked for.
        path: The file; what is there already stays, and is an error.
    """
    place = Path(path)
    if os.path.lexists(place):
        raise ServiceError(f"{place}: there is something already; give another place")
    if not place.absolute().parent.is_dir():
        raise ServiceError(f"{place}: there is no such folder; make it, or give another place")
    connection.save(request, place)
    return place
