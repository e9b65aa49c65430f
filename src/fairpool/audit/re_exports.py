"""New rows of a party that are rows of an earlier round, written otherwise.

Such a row has the label of the earlier one, and would get new noise: two noises on one label
average out. `docs/rounds.md` tells what is found, and what is not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairpool.audit.alterations import (
    CLOSE,
    MOST_PAIRS,
    MOSTLY,
    Alteration,
    alteration_of,
    is_rounded,
)
from fairpool.audit.chance import dependent, fewest_unlikely
from fairpool.audit.copied_rows import CopiedRows, copied_rows
from fairpool.audit.copy_search import Suspicion, search
from fairpool.audit.known_rows import Keys, KnownRows
from fairpool.audit.occupied import Occupied
from fairpool.audit.pooled_rows import Rows
from fairpool.audit.sketches import Sketch, scales_of
from fairpool.tables.arrays import FloatArray

KNOWN, NEW = 0, 1
"""What is compared, as if it were two parties."""

FEWEST_LABELS = 8
"""Of so many different labels, one rule that makes the new ones of the old is no coincidence."""

FEWEST = 5
"""Fewer rows than this are corrections."""

CORRECTED = 0.05
"""Of the rows with a known id, up to this share may come with a label that was corrected."""

MOST_OF_THEM = 0.5
"""Where more of the labels that come for a known id tell the old one, that is why they came."""

COARSE_EXCESS = 3.0
"""So many times as many rows must agree in two digits as if both were independent: other columns
do not tell chance there, as they do with fine cells."""

RULES = ("shifted", "rescaled", "shifted and rescaled")
"""Alterations of a column that tell the old value from the new one."""

ROUNDED = Alteration(kind="rounded")


@dataclass(frozen=True, kw_only=True, eq=False)
class ReExport:
    """New rows that are known ones, but for what was done to them.

    Attributes:
        new: Which of the new rows, by number from 0, in order.
        known: Which of the known rows.
        alteration: What was done to most of them, with the coordinates' names for columns.
        by_id: Whether most of them were recognised by their ids.
    """

    new: NDArray[np.intp]
    known: NDArray[np.intp]
    alteration: Alteration
    by_id: bool = False


def find_re_export(
    known: KnownRows, new: KnownRows, *, names: Sequence[str], texts: Sequence[int] = ()
) -> ReExport | None:
    """Look for new rows that agree with known ones more often than by chance.

    Rows with a known id are judged by their labels: another one is a correction; the same one with
    other digits, or one that most of them follow from the old ones by a rule, is none. All others
    are compared as they are: in all coordinates, or in all but one, or, where it is made of the old
    ones by a rule, but for the label: labels that are merely others were measured again. Texts may
    be spelled otherwise all at once, and so are left out a second time together.

    In time that grows like m log m.

    Args:
        known: Rows of earlier rounds.
        new: Rows that were in none.
        names: What the coordinates are called [k], the label last.
        texts: Which of them are made of texts.
    """
    if not len(known) or not len(new):
        return None
    found = []
    unnamed = np.arange(len(new))
    if len(known.names) and len(new.names):
        is_named = np.isin(new.names, known.names)
        unnamed = np.flatnonzero(~is_named)
        found += _with_known_ids(known, new, np.flatnonzero(is_named), names[-1])
    rest = new.some(unnamed)
    if len(rest):
        others = [place for place in range(len(names)) if place not in texts]
        among = _in_sketches(known.sketch, rest.sketch, names)
        if texts and len(others) > 2:
            kept = [names[place] for place in others]
            among += _in_sketches(known.sketch[others], rest.sketch[others], kept)
        among += _with_few_digits(known, rest)
        for finding in among:
            rows = unnamed[finding.new]
            found.append(ReExport(new=rows, known=finding.known, alteration=finding.alteration))
    if not found:
        return None
    largest = max(found, key=lambda finding: len(finding.new))
    return ReExport(
        new=np.unique(np.concatenate([finding.new for finding in found])),
        known=np.unique(np.concatenate([finding.known for finding in found])),
        alteration=largest.alteration,
        by_id=largest.by_id,
    )


# By ids.


def _with_known_ids(
    known: KnownRows, new: KnownRows, rows: NDArray[np.intp], label: str
) -> list[ReExport]:
    """New rows whose ids are known, if most of their labels tell the old ones."""
    pairs = _pairs(known.names, new.names[rows])
    pairs[:, 1] = rows[pairs[:, 1]]
    before = known.labels[pairs[:, 0]]
    after = new.labels[pairs[:, 1]]
    if len(np.unique(before)) < FEWEST_LABELS:
        return []  # of few labels, the same one comes again
    scale = scales_of([known.labels[None]])[0]
    alteration = ROUNDED
    tell = np.abs(after - before) <= CLOSE * scale
    tell |= is_rounded(before, after) | is_rounded(after, before)
    if tell.mean() < MOSTLY:
        rule = _rule_of_labels(before, after, label)
        if rule is not None:
            alteration = rule
            tell[:] = True  # the rule tells which pairs are exceptions, and these are few
    count = int(tell.sum())
    if count < max(FEWEST, CORRECTED * len(np.unique(known.names)), MOST_OF_THEM * len(pairs)):
        return []
    told = pairs[tell]
    return [
        ReExport(
            new=np.unique(told[:, 1]),
            known=np.unique(told[:, 0]),
            alteration=alteration,
            by_id=True,
        )
    ]


def _rule_of_labels(before: FloatArray, after: FloatArray, label: str) -> Alteration | None:
    """The rule by which most labels follow from the old ones; None: they follow none."""
    some = np.linspace(0, len(before) - 1, min(MOST_PAIRS, len(before))).astype(np.intp)
    if len(np.unique(before[some])) < FEWEST_LABELS:
        return None
    columns = np.column_stack([before, after])[some]
    found = alteration_of(
        columns[:, :1], columns[:, 1:], [label], scales=scales_of([columns.T])[:1]
    )
    return found if found.kind in RULES else None


def _pairs(known: Keys, new: Keys) -> NDArray[np.intp]:
    """Of each new key that is known, where, and where that is [s, 2]: the k-th and the k-th."""
    known_order = np.argsort(known, kind="stable")
    new_order = np.argsort(new, kind="stable")
    in_order = known[known_order]
    start = np.searchsorted(in_order, new[new_order], side="left")
    end = np.searchsorted(in_order, new[new_order], side="right")
    first = np.searchsorted(new[new_order], new[new_order], side="left")
    rank = np.arange(len(new)) - first
    is_known = end > start
    place = np.minimum(start + rank, end - 1)[is_known]
    return np.column_stack([known_order[place], new_order[is_known]])


# By what rows say.


def _in_sketches(known: Sketch, new: Sketch, names: Sequence[str]) -> list[ReExport]:
    """What is found in these coordinates, for each that may differ."""
    rows = Rows.of([known, new])
    best: dict[int | None, Suspicion] = {}
    for suspicion in search(rows).suspicions:
        if (suspicion.first, suspicion.second) != (KNOWN, NEW):
            continue
        before = best.get(suspicion.left_out)
        if before is None or suspicion.excess > before.excess:
            best[suspicion.left_out] = suspicion
    found = []
    for suspicion in best.values():
        copied = copied_rows(rows, suspicion)
        if not len(copied.pairs):
            continue
        alteration = _alteration(known, new, copied, names=names)
        is_of_labels = suspicion.left_out == len(names) - 1
        if is_of_labels and not _follow_a_rule(known, copied, alteration):
            continue
        found.append(ReExport(new=copied.second, known=copied.first, alteration=alteration))
    return found


def _alteration(
    known: Sketch, new: Sketch, copied: CopiedRows, *, names: Sequence[str]
) -> Alteration:
    pairs = copied.some_pairs
    before = known[:, pairs[:, 0]].T.astype(np.float64)
    after = new[:, pairs[:, 1]].T.astype(np.float64)
    scales = scales_of([np.concatenate([before, after]).T])
    return alteration_of(before, after, names, scales=scales)


def _follow_a_rule(known: Sketch, copied: CopiedRows, alteration: Alteration) -> bool:
    """Whether other labels for the same inputs tell what these were before."""
    labels = known[-1, copied.some_pairs[:, 0]]
    return alteration.kind in RULES and len(np.unique(labels)) >= FEWEST_LABELS


def _with_few_digits(known: KnownRows, new: KnownRows) -> list[ReExport]:
    """New rows that are known ones if all is rounded to two digits, and were rounded indeed."""
    owner = np.repeat([KNOWN, NEW], [len(known), len(new)])
    occupied = Occupied.of(np.concatenate([known.coarse, new.coarse]), owner, 2)
    tests = 3
    if occupied.agreeing[KNOWN, NEW] < fewest_unlikely(tests):
        return []
    votes = occupied.votes(np.zeros(2, bool))
    by_chance = 2.0 * np.sqrt((votes[KNOWN, KNOWN] + 1.0) * (votes[NEW, NEW] + 1.0))
    if votes[KNOWN, NEW] < COARSE_EXCESS * by_chance or not dependent(votes, tests=tests).any():
        return []
    pairs = _pairs(known.coarse, new.coarse)
    before = known.labels[pairs[:, 0]]
    after = new.labels[pairs[:, 1]]
    if len(np.unique(before)) < FEWEST_LABELS or not _tell(before, after):
        return []
    return [ReExport(new=np.unique(pairs[:, 1]), known=np.unique(pairs[:, 0]), alteration=ROUNDED)]


def _tell(before: FloatArray, after: FloatArray) -> bool:
    """Whether most labels are the old ones with more or fewer digits."""
    some = np.linspace(0, len(before) - 1, min(MOST_PAIRS, len(before))).astype(np.intp)
    before = before[some]
    after = after[some]
    rounded = max(is_rounded(before, after).mean(), is_rounded(after, before).mean())
    return float(rounded) >= MOST_OF_THEM
