"""What the service says no to: one error for every such thing, with what to do about it."""

from fairpool.errors import FairpoolError

__all__ = [
    "LinkOverError",
    "NoRoomError",
    "NotAllowedError",
    "NotFoundError",
    "NotSignedInError",
    "RefusedError",
    "TooLargeError",
    "TooManyError",
    "WrongPasswordError",
]


class RefusedError(FairpoolError):
    """What was asked for cannot be done now, and why; the remedy stands in the text."""

    status = 409


class NotFoundError(RefusedError):
    """There is no such thing, or whoever asks may not know of it: nobody can tell which."""

    status = 404

    def __init__(self) -> None:
        super().__init__(
            "there is no such page, or it is not yours to see; go back to your collaborations"
        )


class NotSignedInError(RefusedError):
    """Nobody is signed in, or the session is over."""

    status = 401


class WrongPasswordError(RefusedError):
    """Nobody has this address and this password; which of them is wrong is not said."""

    status = 401

    def __init__(
        self, text: str = "the e-mail address or the password is wrong; try again"
    ) -> None:
        super().__init__(text)


class LinkOverError(RefusedError):
    """A link that lets somebody in: there is none such, or it no longer does."""

    status = 410

    def __init__(self) -> None:
        super().__init__(
            "this link was used or taken back, or is too old; ask whoever sent it for another"
        )


class TooLargeError(RefusedError):
    """More was sent than is taken."""

    status = 413


class NoRoomError(RefusedError):
    """The service itself has no room now: nobody who asks can do anything about it."""

    status = 503


class TooManyError(RefusedError):
    """Too many attempts, or too much at once."""

    status = 429

    def __init__(self, text: str, *, seconds: int) -> None:
        super().__init__(text)
        self.seconds = seconds


class NotAllowedError(RefusedError):
    """A request that no page of the service makes, or one that is for browsers alone."""

    status = 403
