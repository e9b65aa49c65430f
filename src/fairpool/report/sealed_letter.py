"""What the operator signs of a letter: the SHA-256 of all its bytes, so that no word is left out.

Two things come into a letter only after that: the statement, which has the hash in it, and the
SHA-256 of the reward file, which carries the statement. Each has a place of its own in the page,
and the hash is taken while both are empty. Nothing that is shown to readers can stand in them but
the digits of that SHA-256, which whoever has the file compares.

So a letter need not be understood to be checked, and whatever it says, its operator has signed.
"""

import hashlib
import html
import re
from dataclasses import dataclass

from fairpool.errors import SignatureError, printable

_STATEMENT = re.compile(rb'(<data id="fairpool-statement" value=")([^"]*)(">)')
_FILE = re.compile(rb'(<code id="fairpool-file">)([0-9a-f]{64}|)(</code>)')
PLACES = (_STATEMENT, _FILE)
"""What is filled once the rest is signed."""


@dataclass(frozen=True, kw_only=True)
class SealedLetter:
    """A letter, taken apart.

    Attributes:
        digest: SHA-256 of the page with its places empty.
        statement: The document that it carries; None: it carries none.
        file: The SHA-256 of the reward file, as readers see it; empty: it has none.
    """

    digest: str
    statement: bytes | None
    file: str


def letter_digest(page: bytes) -> str:
    """What an operator signs of a letter, whether its places are filled or not."""
    for place in PLACES:
        page = place.sub(rb"\1\3", page)
    return hashlib.sha256(page).hexdigest()


def sealed(page: bytes, *, statement: bytes | None, file: str) -> bytes:
    """A letter with its places filled.

    Args:
        page: The letter; without a place where nothing is to be put.
        statement: A signed document, in ASCII; None: nobody has signed anything.
        file: The SHA-256 of the reward file; empty: none is sent.
    """
    said = b""
    if statement is not None:
        said = html.escape(statement.removesuffix(b"\n").decode("ascii")).encode("ascii")
    return _filled(_filled(page, _STATEMENT, said), _FILE, file.encode("ascii"))


def _filled(page: bytes, place: re.Pattern[bytes], content: bytes) -> bytes:
    filled, count = place.subn(lambda found: found[1] + content + found[3], page)
    assert count == 1 or not content
    return filled


def unsealed(page: bytes, name: str) -> SealedLetter:
    """Take a letter apart.

    Args:
        page: The letter.
        name: What errors call it, such as the file's path.
    """
    where = printable(name)
    found = {place: place.findall(page) for place in PLACES}
    if any(len(several) > 1 for several in found.values()):
        raise SignatureError(f"{where}: it carries more than one statement; ask for it again")
    statement = None
    for _, content, _ in found[_STATEMENT]:
        try:
            statement = html.unescape(content.decode("ascii")).encode("ascii") or None
        except UnicodeError:
            raise SignatureError(f"{where}: the statement in it is none of fairpool's") from None
    file = "".join(content.decode("ascii") for _, content, _ in found[_FILE])
    return SealedLetter(digest=letter_digest(page), statement=statement, file=file)
