"""What a check found: verified, cannot be verified, or FALSE."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fairpool.targets import Target
from fairpool.targets.target import NOISE_DIGITS

VERIFIED = "verified"
UNKNOWN = "cannot be verified"
FALSE = "FALSE"

CLOSE = 1e-6
"""As a share: what two ways to compute a worth may differ by, since they round differently."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line of what was found.

    Attributes:
        about: What was checked, in a few words.
        answer: `VERIFIED`, `UNKNOWN` or `FALSE`.
        text: Which numbers were compared, or why nothing can be said.
    """

    about: str
    answer: str
    text: str

    def to_dict(self) -> dict[str, str]:
        """For a program."""
        return {"about": self.about, "answer": self.answer, "text": self.text}


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All lines, in the order of the checks."""

    lines: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is FALSE."""
        return not self.false

    @property
    def false(self) -> tuple[Finding, ...]:
        """What is not as was said."""
        return tuple(line for line in self.lines if line.answer == FALSE)

    def to_dict(self) -> dict[str, Any]:
        """For a program."""
        return {"ok": self.ok, "findings": [line.to_dict() for line in self.lines]}


def verified(about: str, text: str) -> Finding:
    """What was found to be so."""
    return Finding(about=about, answer=VERIFIED, text=text)


def unknown(about: str, why: str) -> Finding:
    """What cannot be checked, and why."""
    return Finding(about=about, answer=UNKNOWN, text=why)


def false(about: str, what: str) -> Finding:
    """What is not as was said, with both numbers."""
    return Finding(about=about, answer=FALSE, text=what)


def same_number(about: str, text: str, *, said: float, found: float) -> Finding:
    """Verified if two numbers are the same up to rounding, otherwise FALSE.

    Args:
        about: What was checked.
        text: What the numbers are, such as "the worth of the model in the file".
        said: What somebody says.
        found: What was computed.
    """
    if is_close(said, found):
        return verified(about, f"{text} is {found:.6g}, as was said")
    return false(about, f"{text} is {found:.9g}, and {said:.9g} was said")


def same_noise(about: str, text: str, *, said: float, found: float, target: Target) -> Finding:
    """The same of noise on labels, which people are told as a standard deviation.

    Args:
        about: What was checked.
        text: What has that noise.
        said: The variance that somebody says, in squared units that never change.
        found: The one that was computed.
        target: What is predicted.
    """
    if is_close(said, found):
        words = noise_in_words(found, target)
        return verified(about, f"{text} is {words}, as was said")
    both = [noise_in_words(variance, target, digits=9) for variance in (found, said)]
    return false(about, f"{text} is {both[0]}, and {both[1]} was said")


def noise_in_words(variance: float, target: Target, digits: int = NOISE_DIGITS) -> str:
    """Noise whose variance is in squared units that never change, as people are told of it."""
    if variance == 0:
        return "none"
    return target.noise_in_words(variance / target.noise_scale**2, digits)


def same_text(about: str, text: str, *, said: str, found: str) -> Finding:
    """Verified if two texts are the same, otherwise FALSE."""
    if said == found:
        return verified(about, f"{text} is as was said")
    return false(about, f"{text} is {found}, and {said} was said")


def is_close(one: float, other: float) -> bool:
    """Whether two worths are the same up to rounding."""
    return abs(one - other) <= CLOSE * max(abs(one), abs(other), 1.0)


def joined(groups: Sequence[Sequence[Finding]]) -> Findings:
    """All lines of several checks."""
    lines: list[Finding] = []
    for group in groups:
        lines += group
    return Findings(lines=tuple(lines))
