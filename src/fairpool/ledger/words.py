"""The ledger in plain English, line by line."""

from fairpool.errors import printable
from fairpool.ledger.record import Record
from fairpool.ledger.verification import Verification

SHORT = 12
"""So many digits of a hash are enough to find it again."""


def line_of(record: Record) -> str:
    """A record in one line: its number, date, kind and hash, and its body's summary, if any."""
    when = record.time.replace("T", " ").removesuffix("Z")
    line = f"{record.number}. {when} UTC, {record.kind}, {record.hash[:SHORT]}"
    summary = record.body.get("summary")
    if isinstance(summary, str) and summary:
        return printable(f"{line}: {summary}")
    return line


def lines_of(verification: Verification) -> tuple[str, ...]:
    """What was found in a ledger: the verdict, what is wrong, and what should be known."""
    count = len(verification.records)
    records = "1 record" if count == 1 else f"{count} records"
    if verification.ok:
        lines = [f"The ledger is whole: {records}, head {verification.head}."]
    else:
        lines = [f"The ledger is not as it was written: {len(verification.problems)} problem(s)."]
    for number, text in verification.problems:
        place = f"Line {number}: " if number else ""
        lines.append(printable(f"{place}{text}."))
    for note in verification.notes:
        lines.append(printable(f"Note: {note}."))
    return tuple(lines)
