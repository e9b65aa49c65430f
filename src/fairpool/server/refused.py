"""What the service says no to: one error for every such thing, with what to do about it."""

from fairpool.errors import FairpoolError

__all__ = [
    "ArrivalOverError",
    "LinkOverError",
    "NoRoomError",
    "NotAllowedError",
    "NotFoundError",
    "NotInvitedError",
    "NotSignedInError",
    "ProviderAwayError",
    "ProviderWrongError",
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


class ProviderAwayError(RefusedError):
    """The provider that people sign in with does not answer."""

    status = 503

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} does not answer now; try again in a minute, and if it stays so, tell whoever"
            " runs this service"
        )


class ProviderWrongError(RefusedError):
    """The provider that people sign in with answers what cannot be believed."""

    status = 502

    def __init__(self, name: str, what: str) -> None:
        super().__init__(
            f"{name} gave an answer that cannot be believed ({what}); begin again, and if it stays"
            " so, tell whoever runs this service"
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


class ArrivalOverError(RefusedError):
    """Somebody comes back from a provider who did not go there, or has come back already."""

    status = 410

    def __init__(self) -> None:
        super().__init__(
            "this sign-in was begun in another browser, was ended already, or took more than 10"
            " minutes; begin again here, with cookies allowed"
        )


class NotInvitedError(RefusedError):
    """The provider knows somebody whom nobody has invited here."""

    status = 403
