"""phi_i: how much each party contributes."""

from fairpool.contributions.banzhaf import banzhaf
from fairpool.contributions.concept import Concept, Words
from fairpool.contributions.contributions import Contributions
from fairpool.contributions.naive import leave_one_out, standalone
from fairpool.contributions.registry import CONCEPTS, concept_of
from fairpool.contributions.shapley import shapley

__all__ = [
    "CONCEPTS",
    "Concept",
    "Contributions",
    "Words",
    "banzhaf",
    "concept_of",
    "leave_one_out",
    "shapley",
    "standalone",
]
