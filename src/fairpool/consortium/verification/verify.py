"""All checks that a recipient can make by itself."""

from fairpool.consortium.verification.finding import Findings, joined
from fairpool.consortium.verification.given import Given
from fairpool.consortium.verification.own_data import (
    check_contained,
    check_scores,
    check_value,
    check_what_was_used,
)
from fairpool.consortium.verification.papers import (
    check_content,
    check_letter,
    check_plan,
    check_signature,
)
from fairpool.consortium.verification.worth import check_noise, check_others, check_worth

CHECKS = (
    check_signature,
    check_content,
    check_worth,
    check_letter,
    check_plan,
    check_what_was_used,
    check_value,
    check_contained,
    check_scores,
    check_noise,
    check_others,
)
"""In the order in which people read them."""


def verify(given: Given) -> Findings:
    """Check everything that can be checked of a reward."""
    return joined([list(check(given)) for check in CHECKS])
