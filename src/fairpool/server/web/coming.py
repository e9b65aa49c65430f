"""Uploads on their way: a party has few at a time, since no record counts them yet."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import Depends, Request

from fairpool.server.refused import TooManyError

A_MOMENT = 10
"""Seconds after which somebody with too many uploads at a time tries again."""


class Uploads:
    """How many are on their way; it changes as they come and go, in the loop of the service alone.

    Args:
        most: Of a party, at a time.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._of_party: Counter[str] = Counter()

    @contextmanager
    def one_of(self, party_id: str) -> Iterator[None]:
        """One more of a party, for as long as this lasts; refused where there are enough."""
        if self._of_party[party_id] >= self._most:
            raise TooManyError(
                f"your party is sending {self._most} files at this moment, the most at a time; wait"
                " until one has arrived, then send this one again",
                seconds=A_MOMENT,
            )
        self._of_party[party_id] += 1
        try:
            yield
        finally:
            self._of_party[party_id] -= 1
            if not self._of_party[party_id]:
                del self._of_party[party_id]


def _uploads(request: Request) -> Uploads:
    uploads: Uploads = request.app.state.uploads
    return uploads


CurrentUploads = Annotated[Uploads, Depends(_uploads)]
