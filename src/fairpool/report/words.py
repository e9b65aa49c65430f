"""The report in words: what a verdict means to somebody who has not read the paper."""

from collections.abc import Sequence
from math import floor

from fairpool.contributions import Concept
from fairpool.realisation.mechanism import MechanismWords
from fairpool.targets import Measure, Target

ROUNDING = 1e-6
"""A share that lacks no more than this of all is all: worths are computed in several ways."""


def as_percent(share: float) -> str:
    """A share in whole per cent; with a decimal where it would read as all, and is less.

    >>> as_percent(0.42), as_percent(0.998), as_percent(1.0), as_percent(1 - 1e-12)
    ('42%', '99.8%', '100%', '100%')
    """
    if 0.995 <= share < 1 - ROUNDING:
        return f"{floor(1000 * share) / 10:.1f}%"
    return f"{share:.0%}"


MEANINGS = {
    "R1": "Nobody's reward is negative",
    "R2": "Nobody's model is worth more than all data together",
    "R3": "Somebody receives the best possible model",
    "R4": "Everybody receives at least the information that it has alone",
    "R5": "The rewards are fair: who adds more receives more, who adds the same receives the same",
    "R6": "In every group, who contributes most has no reason to leave with it",
    "R7": "The rewards together are as large as they can be",
    "F1": "Who adds nothing receives nothing",
    "F2": "Who add the same receive the same",
    "F3": "Who adds more receives more",
    "F4": "Whose data gets better receives more",
    "Shapley fair": "Rewards are in proportion to contributions",
    "rho-Shapley fair": "Rewards are in proportion to a power of the contributions",
    "stable": "No group can give all its members more information by leaving",
}
"""Each condition as a sentence that holds or does not."""

ANSWERS = {True: "✓ yes", False: "✗ no", None: "? open"}
"""A verdict with a sign and a word, so that it can be read without colour."""


GLOSSARY = {
    "information (nats)": (
        "How much data reduces the uncertainty about the model: its value v."
        " One nat is about 1.44 bits."
    ),
    "the best model": (
        "The model of all data, without noise: none has more information. Whether it also predicts"
        " better than another is a question of its own."
    ),
    "alone, v_i": "The value of a party's own data.",
    "contribution, φ_i": "",  # the concept says what it is: see `glossary_of`
    "reward, r_i": (
        "A party's share: what its model is worth, or all that it then holds, from what it has"
        " alone up to the value of all data."
    ),
    "ρ": (
        "How strictly rewards follow contributions: 1 is purely proportional,"
        " 0 gives everybody the best model."
    ),
    "ρ_r": "Up to this ρ, everybody receives at least the information that it has alone.",
    "ρ_s": "Up to this ρ, no group of parties would have more information by itself.",
}
"""Terms of the report."""


def glossary_of(
    concept: Concept, mechanism: MechanismWords, target: Target, measures: Sequence[Measure] = ()
) -> dict[str, str]:
    """The terms of the report; concept, mechanism and target say what is theirs.

    Args:
        concept: How contributions are measured.
        mechanism: How rewards are weakened.
        target: What is predicted.
        measures: How predictions are scored, as far as the report has scores.
    """
    together = "Contributions need not sum to the value of all data."
    if concept.efficient:
        together = "Contributions sum to the value of all data."
    term = mechanism.term(target)
    glossary = GLOSSARY | {
        "contribution, φ_i": f"{concept.words.glossary} {together}",
        term.name: term.text,
    }
    for measure in measures:
        if measure.meaning:
            glossary[measure.title] = measure.meaning
    return glossary
