"""What labels say of each party, in words and as JSON.

The report has everybody's, a letter its own.
"""

from typing import Any

from fairpool.audit import Evidence, LabelVerdict, PartyEvidence
from fairpool.audit.evidence_notes import deviations, in_words

SHORT = {
    LabelVerdict.HELPS: "✓ agrees",
    LabelVerdict.HARMS: "✗ disagrees",
    LabelVerdict.NOISY: "≈ noisier than assumed",
    LabelVerdict.DISPUTED: "? disputed",
    LabelVerdict.NO_EVIDENCE: "– cannot be told",
    LabelVerdict.NO_DATA: "– no data",
}
"""A verdict with a sign and a word, so that it can be read without colour."""

ANSWER = (
    "If you can explain it, or find what is wrong, tell the operator: look at units and signs of"
    " the labels, at how and when they were measured, at labels that belong to other rows, and"
    " whether your cases are of another kind than the others'."
)
"""What an accused party can do."""


class EvidenceWords:
    """What the report's and letters' templates ask."""

    def short(self, found: PartyEvidence) -> str:
        """A verdict in a table."""
        return SHORT[found.verdict]

    def judged(self, found: PartyEvidence) -> bool:
        """Whether there are numbers to show."""
        return found.verdict != LabelVerdict.NO_DATA

    def accused(self, found: PartyEvidence) -> bool:
        """Whether a party should look at its labels."""
        return found.verdict in (LabelVerdict.HARMS, LabelVerdict.NOISY, LabelVerdict.DISPUTED)

    def sentences(self, found: PartyEvidence) -> list[str]:
        """To the party itself; nothing is said of any other one."""
        if found.verdict == LabelVerdict.HARMS:
            return [_disagrees(found), ANSWER]
        if found.verdict == LabelVerdict.DISPUTED:
            return [
                "Your labels and those of one other party do not agree, and nobody can tell which"
                " of them are right; nobody is accused.",
                ANSWER,
            ]
        if found.verdict == LabelVerdict.NOISY:
            return [
                "The noise of your labels has about"
                f" {found.deviation_factor:.1f} times the standard deviation of the other parties';"
                " taken as noisy as they are, your labels agree with what the others' data"
                " predict.",
                ANSWER,
            ]
        if found.verdict == LabelVerdict.HELPS:
            return ["Your labels agree with what the other parties' data predict."]
        return [
            "Whether your labels agree with what the other parties' data predict cannot be told."
        ]

    def what_was_done(self, kept: float | None) -> str:
        """What a discount means to a party; empty where there is none."""
        if kept is None or kept >= 1:
            return ""
        return (
            "The parties agreed that rewards are discounted in such a case: of what your"
            f" contribution would have added to your own data, you receive about"
            f" {round(kept, 1):.0%}. Your model"
            " still has at least the information of your own data."
        )


def _disagrees(found: PartyEvidence) -> str:
    return (
        "Your labels do not agree with what the other parties' data predict: their agreement is"
        f" {deviations(found.z)} below that of honest labels of as many rows, which chance"
        f" explains in {in_words(found.chance)} of cases. They may be wrong, measured differently,"
        " or truly different."
    )


def as_json(evidence: Evidence) -> dict[str, Any]:
    """All but what is each party's own."""
    return {
        "false_alarms": evidence.level,
        "exact": evidence.exact,
        # Of many parties some pairs are never looked at, and the others are rough.
        "pairs": evidence.pairs.tolist() if evidence.exact else None,
        "expected_pairs": evidence.expected_pairs.tolist() if evidence.exact else None,
    }


def party_as_json(found: PartyEvidence) -> dict[str, Any]:
    """Every number of a party's evidence."""
    return {
        "verdict": str(found.verdict),
        "phi": found.phi,
        "expected": found.expected,
        "z": found.z,
        "chance": found.chance,
        "noise_factor": found.noise_factor,
        "share": found.share,
    }
