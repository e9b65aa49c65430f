"""What the service writes to standard error: a line for each thing, and no secret in any.

Requests are written down by the pattern of their address, since some addresses let somebody in.
"""

import logging
import re
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any

import structlog

HIDDEN = "(hidden)"

_SECRET_NAMES = re.compile(r"password|secret|token|cookie|authorization", re.IGNORECASE)
_SECRET_TEXTS = (
    (re.compile(r"\bfp_[\w-]{20,}"), HIDDEN),
    (re.compile(r"(/invitations/)[\w-]{20,}"), rf"\1{HIDDEN}"),
    (re.compile(r"(://[^:/@\s]*:)[^@\s]+@"), rf"\1{HIDDEN}@"),
)


def write_logs(least: int = logging.INFO) -> None:
    """Have everything that is logged written to standard error, by whichever library.

    Args:
        least: What is less is left out; libraries are quieter than this program.
    """
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            without_secrets,
            structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers = [_Passing()]
    root.setLevel(logging.WARNING)


def without_secrets(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """A line without what would let its reader in.

    >>> without_secrets(None, "", {"password": "x", "to": "/invitations/" + "a" * 43})
    {'password': '(hidden)', 'to': '/invitations/(hidden)'}
    """
    for name, value in event.items():
        if _SECRET_NAMES.search(name):
            event[name] = HIDDEN
        elif isinstance(value, str):
            for pattern, instead in _SECRET_TEXTS:
                value = pattern.sub(instead, value)
            event[name] = value
    return event


class _Passing(logging.Handler):
    """What libraries log by Python's own means, in the same lines."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        more = {}
        if record.exc_info and record.exc_info[1] is not None:
            more["trace"] = "".join(traceback.format_exception(record.exc_info[1]))
        log = structlog.get_logger(record.name)
        log.log(record.levelno, record.getMessage().strip(), **more)
