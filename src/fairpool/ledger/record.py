"""One line of the ledger: what happened, in canonical bytes, tied to the line before, and sealed.

A line is a JSON object with sorted keys, without blanks, in ASCII, every float as `repr` writes it,
and a newline. So equal records are equal bytes, and `tail -n 1 ledger.jsonl | sha256sum` is the
ledger's head.
"""

import hashlib
import hmac
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from fairpool.__about__ import __version__
from fairpool.canonical import depth_of
from fairpool.errors import LedgerError, few, is_printable, shown

NOTHING_BEFORE = "0" * 64
"""What the first record has for the hash of the line before; also the head of an empty ledger."""

LONGEST_LINE = 64 << 20
"""In bytes; a longer line is refused before it is taken apart."""

DEEPEST_BODY = 50
"""So many objects and lists may lie inside one another; how many Python takes differs."""

KEY_BYTES = 32

_FIELDS = frozenset(("body", "kind", "mac", "number", "previous", "time", "version"))
_HASH = re.compile(r"[0-9a-f]{64}")
_KIND = re.compile(r"[a-z][a-z0-9 _-]{0,79}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_LONGEST_VERSION = 80


@dataclass(frozen=True, kw_only=True)
class Record:
    """One line of the ledger.

    Attributes:
        number: Counted from 1.
        time: When it was written, in UTC, such as "2026-03-01T09:30:00Z".
        kind: What it is about, such as "release"; small letters, digits, blanks and hyphens.
        version: The version of fairpool that wrote it.
        previous: The hash of the line before, or `NOTHING_BEFORE`.
        body: What happened, as a plain JSON object; it must not be changed.
        mac: HMAC-SHA256 of all the rest, in hexadecimal digits.
    """

    number: int
    time: str
    kind: str
    version: str
    previous: str
    body: dict[str, Any] = field(hash=False)
    mac: str

    def __post_init__(self) -> None:
        if type(self.number) is not int or self.number < 1:
            raise LedgerError(f"number {shown(self.number)} is no whole number from 1 on")
        _check_time(self.time)
        if not isinstance(self.kind, str) or not _KIND.fullmatch(self.kind):
            raise LedgerError(
                f"kind {shown(self.kind)} is no word of at most 80 small letters, digits, blanks"
                " or hyphens"
            )
        if not _is_version(self.version):
            raise LedgerError(f"version {shown(self.version)} is no version of fairpool")
        for name in ("previous", "mac"):
            value = getattr(self, name)
            if not is_hash(value):
                raise LedgerError(f"{name} {shown(value)} is not 64 hexadecimal digits")
        if not isinstance(self.body, dict):
            raise LedgerError(f"body {shown(self.body)} is no JSON object")

    @cached_property
    def line(self) -> bytes:
        """The record as it stands in the file, with its newline."""
        return _canonical(_fields(self) | {"mac": self.mac}) + b"\n"

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the whole line: what the next record, letters and files know it by."""
        return hashlib.sha256(self.line).hexdigest()


def make_record(
    mac_key: bytes,
    *,
    number: int,
    previous: str,
    kind: str,
    body: Mapping[str, Any],
    time: str | None = None,
) -> Record:
    """A new record, sealed with the key.

    Args:
        mac_key: The ledger's key, of 32 bytes.
        number: Its place, counted from 1.
        previous: The hash of the line before.
        kind: What it is about.
        body: What happened; a copy of it is kept.
        time: When, in UTC; None: now.
    """
    unsealed = Record(
        number=number,
        time=time or now(),
        kind=kind,
        version=__version__,
        previous=previous,
        body=_plain_object(body, "body", depth=0),
        mac=NOTHING_BEFORE,
    )
    try:
        record = replace(unsealed, mac=_mac(unsealed, mac_key))
        line = record.line
    except ValueError as error:  # a whole number of more digits than Python writes
        raise LedgerError(f"a record of kind {kind!r} cannot be written ({error})") from None
    if len(line) > LONGEST_LINE:
        raise LedgerError(
            f"a record of kind {kind!r} has {len(line)} bytes; a line has at most {LONGEST_LINE}"
        )
    # As it will be read: Python has several ways to hold the same text.
    return parse(line)


def parse(line: bytes) -> Record:
    """The record of a line, newline included; anything but canonical bytes is refused.

    Whether it is authentic, and continues the line before, is asked elsewhere.
    """
    if len(line) > LONGEST_LINE:
        raise LedgerError(f"it is longer than {LONGEST_LINE} bytes")
    try:
        text = line.decode("ascii")
        fields = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise LedgerError("it holds bytes that are no ASCII") from None
    except json.JSONDecodeError as error:
        raise LedgerError(f"it is no JSON ({error.msg} at character {error.pos + 1})") from None
    except RecursionError:
        raise LedgerError("it is nested too deeply") from None
    except LedgerError:
        raise
    except ValueError as error:  # a whole number of more digits than Python reads
        raise LedgerError(f"it is no JSON that can be used ({error})") from None
    if depth_of(fields) > DEEPEST_BODY + 1:
        raise LedgerError("it is nested too deeply")
    record = _record_of(fields)
    try:
        is_canonical = record.line == line
    except ValueError:  # 1e999 is read as infinity, which is not written
        is_canonical = False
    if not is_canonical:
        raise LedgerError("it is not written as fairpool writes (blanks, order of keys, numbers)")
    return record


def is_authentic(record: Record, mac_key: bytes) -> bool:
    """Whether somebody who has the key wrote the record, and nobody changed it since."""
    return hmac.compare_digest(record.mac, _mac(record, mac_key))


def is_hash(value: object) -> bool:
    """Whether it is 64 hexadecimal digits, in small letters."""
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def check_mac_key(mac_key: bytes) -> None:
    """Refuse a key that is none."""
    if not isinstance(mac_key, bytes) or len(mac_key) != KEY_BYTES:
        raise LedgerError(f"the key of a ledger is {KEY_BYTES} bytes; this is something else")


def now() -> str:
    """This moment, as records have it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _record_of(fields: Any) -> Record:
    if not isinstance(fields, dict):
        raise LedgerError("it is no JSON object")
    missing = sorted(_FIELDS - fields.keys())
    if missing:
        raise LedgerError(f"it lacks {few(missing)}")
    unknown = sorted(fields.keys() - _FIELDS)
    if unknown:
        raise LedgerError(f"it has unknown fields: {few([shown(name) for name in unknown])}")
    return Record(**fields)


def _fields(record: Record) -> dict[str, Any]:
    return {
        "number": record.number,
        "time": record.time,
        "kind": record.kind,
        "version": record.version,
        "previous": record.previous,
        "body": record.body,
    }


def _mac(record: Record, mac_key: bytes) -> str:
    return hmac.digest(mac_key, _canonical(_fields(record)), "sha256").hex()


_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
)


def _canonical(fields: Mapping[str, Any]) -> bytes:
    return _ENCODER.encode(fields).encode("ascii")


def _check_time(time: object) -> None:
    if isinstance(time, str) and _TIME.fullmatch(time):
        try:
            datetime.fromisoformat(time)
        except ValueError:
            pass  # a day or an hour that no calendar has
        else:
            return
    raise LedgerError(f'time {shown(time)} is not one in UTC such as "2026-03-01T09:30:00Z"')


def _is_version(version: object) -> bool:
    if not isinstance(version, str):
        return False
    return 0 < len(version) <= _LONGEST_VERSION and is_printable(version)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise LedgerError("it has the same key twice in one object")
    return fields


def _no_constant(name: str) -> None:
    raise LedgerError(f"it holds {name}, which is no number")


def _plain_object(value: Mapping[str, Any], place: str, *, depth: int) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise LedgerError(f"{place}: {shown(value)} is no object with names")
    copy = {}
    for name, inner in value.items():
        if not isinstance(name, str):
            raise LedgerError(f"{place}: the name {shown(name)} is no text")
        copy[name] = _plain(inner, f"{place}.{name}", depth=depth + 1)
    return copy


def _plain(value: Any, place: str, *, depth: int) -> Any:
    """A copy of what JSON can hold; anything else is an error that names its place."""
    if depth > DEEPEST_BODY:
        raise LedgerError(f"body: is nested more than {DEEPEST_BODY} deep")
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise LedgerError(f"{place}: {value} is not a finite number")
        return value
    if isinstance(value, Mapping):
        return _plain_object(value, place, depth=depth)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        copy = []
        for number, inner in enumerate(value):
            copy.append(_plain(inner, f"{place}[{number}]", depth=depth + 1))
        return copy
    raise LedgerError(f"{place}: {shown(value)} is nothing that JSON can hold")
