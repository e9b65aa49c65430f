"""v_C: games on coalitions."""

from fairpool.values.evidence_gain import EvidenceGain
from fairpool.values.game import EXACT_LIMIT, Game, TableGame
from fairpool.values.information_gain import InformationGain
from fairpool.values.properties import check_properties, tolerance_of
from fairpool.values.validation_gain import ValidationGain

__all__ = [
    "EXACT_LIMIT",
    "EvidenceGain",
    "Game",
    "InformationGain",
    "TableGame",
    "ValidationGain",
    "check_properties",
    "tolerance_of",
]
