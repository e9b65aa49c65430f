"""Numbers in addresses: what is none leads nowhere, as a number that nothing has."""

from fairpool.server.refused import NotFoundError

MOST_DIGITS = 9


def number_of(text: str) -> int:
    """The number of a round in an address.

    >>> number_of("12")
    12
    """
    if not text.isascii() or not text.isdecimal() or len(text) > MOST_DIGITS:
        raise NotFoundError
    return int(text)
