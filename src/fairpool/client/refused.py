"""What can go wrong between a program and a service."""

from fairpool.errors import ServiceError


class UnreachableError(ServiceError):
    """The service does not answer, or the connection to it was lost; it may be tried again."""


class RefusedByServiceError(ServiceError):
    """The service says no, and why: `problems` are its own words.

    Args:
        *problems: In the service's words.
        status: Of its answer: 401 for a token that is over, 404 for what is not there or not one's
            own to see, 409 for what cannot be done now, 422 for what cannot be used.
    """

    def __init__(self, *problems: str, status: int) -> None:
        super().__init__(*problems)
        self.status = status
