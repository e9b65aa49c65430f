"""What information gain cannot see.

It never looks at labels, and counts a copied row like a new one.
Rows that occur twice inflate a party's value, and garbage labels cost it nothing. So both are
looked for, and reported beside the values.
"""

from fairpool.audit.copy_notes import copy_notes
from fairpool.audit.duplicates import Duplicates, duplicates_of_keys, find_duplicates, places_in
from fairpool.audit.near_copies import NearCopies, find_near_copies, near_copies_of
from fairpool.audit.residuals import held_out_residuals

__all__ = [
    "Duplicates",
    "NearCopies",
    "copy_notes",
    "duplicates_of_keys",
    "find_duplicates",
    "find_near_copies",
    "held_out_residuals",
    "near_copies_of",
    "places_in",
]
