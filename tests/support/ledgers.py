"""Ledgers for tests: made line by line, without the code that appends."""

import hashlib
import hmac
import json

from fairpool.ledger.ledger import Ledger

KEY = bytes(range(32))
OTHER_KEY = bytes(32)
ZEROS = "0" * 64


def plain_line(fields):
    """A line as the format says, written out here once more."""
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode() + b"\n"


def sealed_line(key=KEY, **changes):
    """A line with any fields, sealed with a key."""
    fields = {
        "number": 1,
        "time": "2026-03-01T09:30:00Z",
        "kind": "note",
        "version": "0.1.0",
        "previous": ZEROS,
        "body": {},
    }
    fields |= changes
    if "mac" not in fields:
        unsealed = plain_line(fields)[:-1]
        fields["mac"] = hmac.new(key, unsealed, hashlib.sha256).hexdigest()
    return plain_line(fields)


def chained(bodies, key=KEY, previous=ZEROS, first=1):
    """Lines, one for each body, each with the hash of the line before."""
    lines = []
    for number, body in enumerate(bodies, start=first):
        line = sealed_line(key, number=number, previous=previous, body=body)
        previous = hashlib.sha256(line).hexdigest()
        lines.append(line)
    return lines


def hash_of(line):
    return hashlib.sha256(line).hexdigest()


def ledger_of(path, count, key=KEY):
    """A ledger with so many records."""
    ledger = Ledger.open(path, key)
    for number in range(count):
        ledger.append("note", {"value": number}, time=f"2026-03-01T09:30:{number:02d}Z")
    return ledger
