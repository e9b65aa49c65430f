"""A collaboration over years: which rows take part, who holds what, what changed since.

The page about it is docs/rounds.md.
"""

from fairpool.rounds.changes import Changes, PartyChange, explain_changes
from fairpool.rounds.factors import FACTORS, ByFactor
from fairpool.rounds.round_game import RoundGame

__all__ = [
    "FACTORS",
    "ByFactor",
    "Changes",
    "PartyChange",
    "RoundGame",
    "explain_changes",
]
