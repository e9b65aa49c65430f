"""What was released, line by line: a file that is only added to, chained, sealed and checked.

Nothing here knows what a round, a model or a party is: a record has a kind and a body.
"""

from fairpool.ledger.ledger import Ledger
from fairpool.ledger.lock import exclusive
from fairpool.ledger.record import NOTHING_BEFORE, Record
from fairpool.ledger.transaction import Recovery, begin, finish, recover, undo, unfinished
from fairpool.ledger.verification import Verification, verify
from fairpool.ledger.words import line_of, lines_of

__all__ = [
    "NOTHING_BEFORE",
    "Ledger",
    "Record",
    "Recovery",
    "Verification",
    "begin",
    "exclusive",
    "finish",
    "line_of",
    "lines_of",
    "recover",
    "undo",
    "unfinished",
    "verify",
]
