"""What labels say of parties, as notes for the operator.

The words are fair to an honest party: labels that do not agree with what the others' data predict
may be wrong, measured differently, or truly different.
"""

from collections.abc import Iterator

from fairpool.audit.evidence import Evidence, LabelVerdict, PartyEvidence
from fairpool.errors import few, shown
from fairpool.notes import Note

MOST_TOLD = 5
"""Deviations: beyond this many no number is told."""

HARMS = "labels disagree"
DEALT_WITH = "labels disagree, dealt with"
NOISY = "noisy labels"
DISPUTED = "two disagree"
NOTHING_IN_COMMON = "nothing in common"
"""The codes of notes about labels."""

MAY_BE = "they may be wrong, measured differently, or truly different, or the model may not fit"

CANNOT_BE_COMPARED = (
    "by the model that was learned, no party's data tell anything about another's labels, so that"
    " labels cannot be compared, and nobody would be found out. Data that lie far apart look like"
    " this, and so do labels of one party that contradict all others' so much that nothing in"
    " common was learned; look at the length scales, and at everybody's labels"
)

DONE = {
    "warn": (
        'its reward is unchanged, since on_harm is "warn"; "discount", "exclude" and "stop" would'
        " do something about it"
    ),
    "discount": "its reward is discounted",
    "exclude": "its data are left out, and everything is computed without them",
    "stop": "nothing is released",
}
"""What is done about a party that harms, by `on_harm`."""

SETTLES = ("discount", "exclude")
"""With these, what all agreed to is done, and nothing is left to settle."""


def harm_in_words(found: PartyEvidence) -> str:
    """That a party's labels harm the others', and in which numbers."""
    return (
        f'the labels of "{found.party}" do not agree with what the others\' data predict'
        f" (their agreement is {deviations(found.z)} below that of honest labels, by chance in"
        f" {in_words(found.chance)} of cases): {MAY_BE}"
    )


def deviations(z: float) -> str:
    """How far below, in words: beyond a bound, the number would tell of others' labels.

    >>> deviations(-3.21), deviations(-40)
    ('3.2 deviations', 'more than 5 deviations')
    """
    return f"{-z:.1f} deviations" if -z <= MOST_TOLD else f"more than {MOST_TOLD} deviations"


def dispute_in_words(evidence: Evidence) -> str:
    """That some parties' labels do not agree with one other's; nobody is accused."""
    disputed = [evidence.parties[i] for i in evidence.disputed]
    names = few([shown(found.party) for found in disputed])
    return (
        f"the labels of {names} do not agree with each other (by chance in"
        f" {in_words(disputed[0].chance)} of cases), and no third party can tell which of them are"
        f" right: {MAY_BE}"
    )


def in_words(chance: float) -> str:
    """A chance, which simulations bound from below.

    >>> in_words(0.004), in_words(0.002)
    ('0.4%', 'at most 0.2%')
    """
    return f"{chance:.1%}" if chance >= 0.003 else "at most 0.2%"


def evidence_notes(evidence: Evidence, on_harm: str) -> Iterator[Note]:
    """A note for every party that harms or is noisy, and one for two that disagree."""
    for i in evidence.harmful:
        found = evidence.parties[i]
        text = f"{harm_in_words(found)}; {DONE[on_harm]}"
        if on_harm in SETTLES:
            yield Note(code=DEALT_WITH, party=found.party, text=text)
        else:
            yield Note(code=HARMS, party=found.party, text=text)
    for found in evidence.parties:
        if found.verdict == LabelVerdict.NOISY:
            text = (
                f'the labels of "{found.party}" have noise of about {found.deviation_factor:.1f}'
                " times the standard deviation of the median party's, and so count for more than"
                " they tell; taken as noisy as they are, they agree with what the others' data"
                " predict"
            )
            yield Note(code=NOISY, party=found.party, text=text)
    if evidence.disputed:
        nothing = (
            "" if on_harm in ("warn", "stop") else f'; on_harm = "{on_harm}" does nothing here'
        )
        yield Note(code=DISPUTED, text=dispute_in_words(evidence) + nothing)
    if not evidence.comparable:
        yield Note(code=NOTHING_IN_COMMON, text=CANNOT_BE_COMPARED)
