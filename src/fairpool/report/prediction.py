"""In words and as JSON: does a reward predict better than a party's own data, and who can check it?

The report has everybody's, a letter its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpool.audit import AgainstAlone, Comparison, PairedDifference, Uncheckable
from fairpool.audit.paired import BETTER, SAME, UNKNOWN, WORSE
from fairpool.report.words import as_percent
from fairpool.targets.target import OF_NUMBERS, ComparisonNames

PLACES = {"test": "test rows", "own_rows": "own rows"}
"""What was predicted, by the attribute of `AgainstAlone`."""

ERRORS = (
    "± is one standard error over rows. “Better” and “worse” are said beyond about two of them: by"
    " chance alone, in one or two of twenty comparisons."
)
"""What the words mean."""


@dataclass(frozen=True, kw_only=True)
class PredictionWords:
    """What the report's and letters' templates ask.

    Attributes:
        names: What is compared, as the target calls it.
    """

    names: ComparisonNames = OF_NUMBERS

    errors = ERRORS

    def rows_of(self, against: AgainstAlone) -> list[tuple[str, Comparison]]:
        """What was compared, and how it went."""
        return list(_comparisons(against))

    def has_errors(self, several: Sequence[AgainstAlone]) -> bool:
        """Whether any error is shown, so that it has to be said what it is."""
        verdicts = [how.verdict for against in several for _, how in _comparisons(against)]
        return any(verdict != UNKNOWN for verdict in verdicts)

    def has_own_rows(self, several: Sequence[AgainstAlone]) -> bool:
        """Whether any party's own rows were predicted."""
        return any(against.own_rows is not None for against in several)

    def signed(self, difference: PairedDifference) -> str:
        """Difference and standard error, to two digits of the error.

        >>> from fairpool.audit import PairedDifference
        >>> a = {"alone": -1.0, "reward": -0.9, "rows": 50, "larger_is_better": True}
        >>> PredictionWords().signed(PairedDifference(**a, difference=0.1234, standard_error=0.031))
        '+0.123 ± 0.031'
        """
        return signed(difference)

    def error(self, mean_square: float) -> str:
        """A mean squared error, or its root."""
        shown = np.sqrt(mean_square) if self.names.is_root else mean_square
        return f"{shown:.4g}"

    def sentences(self, against: AgainstAlone) -> list[str]:
        """To the party itself."""
        return [self._sentence(place, how) for place, how in _comparisons(against)]

    def _sentence(self, place: str, how: Comparison) -> str:
        text = f"{OPENINGS[place].format(rows=f'{how.rows:,}')} {VERBS[how.verdict]}"
        if how.verdict == UNKNOWN:
            return f"{text}."
        alone = self.error(how.squared_error.alone)
        reward = self.error(how.squared_error.reward)
        return (
            f"{text}: mean {self.names.log_density} {signed(how.log_density)} nats per row;"
            f" {self.names.error} {reward}, alone {alone}."
        )

    def taken_on_trust(self, uncheckable: Uncheckable) -> str:
        """To the party itself; the number of rows is the operator's."""
        share = as_percent(uncheckable.share)
        if not uncheckable.rows:
            return "The others have data near every row of yours, and so can check your labels."
        return (
            f"Of what your data add to the others', {share} comes from rows where nobody else has"
            " data to check them by: it may be what makes your data valuable, and has to be taken"
            " on trust."
        )


def signed(difference: PairedDifference) -> str:
    """See `PredictionWords.signed`."""
    if difference.verdict == UNKNOWN:
        return "–"
    error = difference.standard_error
    digits = 3
    if error > 0:
        digits = int(np.clip(1 - np.floor(np.log10(error)), 0, 9))
    shown = f"{difference.difference:+.{digits}f}".replace("-", "−")
    return f"{shown} ± {error:.{digits}f}"


def as_json(against: AgainstAlone) -> dict[str, Any]:
    """Every number of a comparison, those that are not known as None."""
    entries: dict[str, Any] = {}
    for key in PLACES:
        how = getattr(against, key)
        entries[key] = None
        if how is not None:
            entries[key] = {
                "rows": how.rows,
                "verdict": how.verdict,
                "log_density": _entries(how.log_density),
                "squared_error": _entries(how.squared_error),
            }
    return entries


def uncheckable_as_json(uncheckable: Uncheckable | None) -> dict[str, Any] | None:
    """Rows, nats and share."""
    if uncheckable is None:
        return None
    return {
        "rows": uncheckable.rows,
        "added": uncheckable.added,
        "from_them": uncheckable.from_them,
        "share": uncheckable.share,
    }


def _comparisons(against: AgainstAlone) -> Iterator[tuple[str, Comparison]]:
    for key, place in PLACES.items():
        how = getattr(against, key)
        if how is not None:
            yield place, how


def _entries(difference: PairedDifference) -> dict[str, Any]:
    numbers = {
        "alone": difference.alone,
        "reward": difference.reward,
        "difference": difference.difference,
        "standard_error": difference.standard_error,
    }
    entries: dict[str, Any] = {}
    for key, number in numbers.items():
        entries[key] = number if np.isfinite(number) else None
    return entries | {"verdict": difference.verdict}


OPENINGS = {
    PLACES["test"]: "The operator's {rows} test rows",
    PLACES["own_rows"]: "Your own data ({rows} rows, each left out of both models in turn)",
}

VERBS = {
    BETTER: "are predicted better with your reward than with your data alone",
    WORSE: "are predicted worse with your reward than with your data alone",
    SAME: "are predicted no differently, as far as so many rows can tell",
    UNKNOWN: "are too few to tell",
}
