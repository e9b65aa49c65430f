"""Pages are made of templates, in which everything is escaped and every name must be given."""

from datetime import UTC, datetime
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from fairpool.__about__ import __version__
from fairpool.errors import printable
from fairpool.server.settings import MEBIBYTE
from fairpool.server.web.static_files import HTMX, static_address

KIBIBYTE = 1 << 10


@cache
def templates() -> Environment:
    """The templates of all pages."""
    environment = Environment(
        loader=PackageLoader("fairpool.server.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=_shown,
    )
    environment.filters |= {
        "iso": in_utc,
        "in_words": in_words,
        "sentence": as_sentence,
        "size": size_in_words,
    }
    environment.globals |= {"static": static_address, "htmx": HTMX, "version": __version__}
    return environment


def rendered(template: str, **values: Any) -> str:
    """A page, or a part of one.

    Args:
        template: Its name, such as "error.html".
        values: What the template puts into place; what every page has may be left out.
    """
    of_every_page = {"signed": None, "notice": None, "problems": (), "active": "", "demo": None}
    return templates().get_template(f"{template}.j2").render(of_every_page | values)


def _shown(value: Any) -> Any:
    """Texts as `printable` shows them, line by line; the templates' own parts as they are."""
    if hasattr(value, "__html__") or not isinstance(value, str):
        return value
    return "\n".join(printable(line) for line in value.split("\n"))


def in_utc(moment: datetime) -> str:
    """A time for programs.

    >>> in_utc(datetime(2026, 3, 1, 12, 30, tzinfo=UTC))
    '2026-03-01T12:30:00Z'
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def in_words(moment: datetime) -> str:
    """A time for people, until their browser puts it into their own zone.

    >>> in_words(datetime(2026, 3, 1, 12, 30, tzinfo=UTC))
    '1 Mar 2026, 12:30 UTC'
    """
    moment = moment.astimezone(UTC)
    return f"{moment.day} {moment.strftime('%b %Y, %H:%M')} UTC"


def as_sentence(text: str) -> str:
    """What an error says, as a sentence of a page; a name at its beginning stays as it is.

    >>> as_sentence("nothing has come yet; wait"), as_sentence("pH: 3 values are missing")
    ('Nothing has come yet; wait.', 'pH: 3 values are missing.')
    """
    first = text.split(" ", 1)[0]
    if first.isalpha() and first.islower():
        text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", ":", "”")) else f"{text}."


def size_in_words(size: int) -> str:
    """How large a file is.

    >>> size_in_words(512 * MEBIBYTE), size_in_words(5200), size_in_words(3)
    ('512 MiB', '5 KiB', '3 bytes')
    """
    if size >= MEBIBYTE:
        return f"{size / MEBIBYTE:.4g} MiB"
    if size >= KIBIBYTE:
        return f"{size / KIBIBYTE:.0f} KiB"
    return f"{size} bytes"
