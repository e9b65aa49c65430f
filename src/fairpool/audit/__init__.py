"""What information gain cannot see.

It never looks at labels, and counts a copied row like a new one.
Rows that occur twice inflate a party's value, and garbage labels cost it nothing. So both are
looked for, and reported beside the values; and what follows from that for a party's reward, and for
whoever has to trust it, is measured.
"""

from fairpool.audit.against_alone import AgainstAlone, Comparison, compare_with_alone
from fairpool.audit.copy_notes import copy_notes
from fairpool.audit.duplicates import Duplicates, duplicates_of_keys, find_duplicates, places_in
from fairpool.audit.evidence import Evidence, LabelVerdict, PartyEvidence, judge_evidence
from fairpool.audit.near_copies import NearCopies, find_near_copies, near_copies_of
from fairpool.audit.paired import PairedDifference
from fairpool.audit.residuals import held_out_residuals
from fairpool.audit.uncheckable import OpenRows, Uncheckable, uncheckable_information

__all__ = [
    "AgainstAlone",
    "Comparison",
    "Duplicates",
    "Evidence",
    "LabelVerdict",
    "NearCopies",
    "OpenRows",
    "PairedDifference",
    "PartyEvidence",
    "Uncheckable",
    "compare_with_alone",
    "copy_notes",
    "duplicates_of_keys",
    "find_duplicates",
    "find_near_copies",
    "held_out_residuals",
    "judge_evidence",
    "near_copies_of",
    "places_in",
    "uncheckable_information",
]
