"""What information gain cannot see.

It never looks at labels, and counts a copied row like a new one.
Rows that occur twice inflate a party's value, and garbage labels cost it nothing. So both are
looked for, and reported beside the values.
"""

from fairpool.audit.duplicates import Duplicates, duplicates_of_keys, find_duplicates, places_in
from fairpool.audit.evidence import Evidence, LabelVerdict, PartyEvidence, judge_evidence
from fairpool.audit.residuals import held_out_residuals

__all__ = [
    "Duplicates",
    "Evidence",
    "LabelVerdict",
    "PartyEvidence",
    "duplicates_of_keys",
    "find_duplicates",
    "held_out_residuals",
    "judge_evidence",
    "places_in",
]
