"""What labels say of parties, as notes for the operator.

The words are fair to an honest party: labels that do not agree with what the others' data predict
may be wrong, measured differently, or truly different.
"""

from collections.abc import Iterator

from fairpool.audit.evidence import Evidence, LabelVerdict, PartyEvidence
from fairpool.notes import Note

HARMS = "labels disagree"
NOISY = "noisy labels"
DISPUTED = "two disagree"
NOTHING_IN_COMMON = "nothing in common"
"""The codes of notes about labels."""

MAY_BE = "they may be wrong, measured differently, or truly different"

DONE = {
    "warn": "its reward is unchanged",
    "discount": "its reward is discounted",
    "exclude": "its data are left out, and everything is computed without them",
    "stop": "nothing is released",
}
"""What is done about a party that harms, by `on_harm`."""


def harm_in_words(found: PartyEvidence) -> str:
    """That a party's labels do not agree with the others', and in which numbers."""
    return (
        f'the labels of "{found.party}" do not agree with what the others\' data predict'
        f" (their agreement is {-found.z:.1f} deviations below that of honest labels, by chance in"
        f" {in_words(found.chance)} of cases): {MAY_BE}"
    )


def dispute_in_words(evidence: Evidence) -> str:
    """That two parties' labels do not agree; nobody is accused."""
    first, second = (evidence.parties[i] for i in evidence.disputed)
    return (
        f'the labels of "{first.party}" and "{second.party}" do not agree with each other (by'
        f" chance in {in_words(first.chance)} of cases), and no third party can tell which of them"
        f" are right: {MAY_BE}"
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
        yield Note(code=HARMS, party=found.party, text=text)
    for found in evidence.parties:
        if found.verdict == LabelVerdict.NOISY:
            text = (
                f'the labels of "{found.party}" are about {found.noise_factor:.1f} times as noisy'
                " as everybody's are taken to be, and so count for more than they tell; taken as"
                " noisy as they are, they agree with what the others' data predict"
            )
            yield Note(code=NOISY, party=found.party, text=text)
    if evidence.disputed:
        yield Note(code=DISPUTED, text=dispute_in_words(evidence))
    if not evidence.comparable:
        text = (
            "by the model that was learned, no party's data tell anything about another's labels,"
            " so that labels cannot be compared: nobody would be found out. Data that lie far apart"
            " look like this, and so do labels of one party that contradict all others' so much"
            " that nothing in common was learned; look at the length scales, and at everybody's"
            " labels"
        )
        yield Note(code=NOTHING_IN_COMMON, text=text)
