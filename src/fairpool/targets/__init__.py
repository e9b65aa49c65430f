"""The kinds of targets that there are, one file each: what a label is."""

from typing import Any

from fairpool.errors import RewardFileError, shown
from fairpool.stored import text
from fairpool.targets.classes import CLASSES, ClassTarget
from fairpool.targets.kind import Labels, SeenLabels, TargetKind
from fairpool.targets.log_number import LogNumberTarget
from fairpool.targets.number import LABELS, NUMBER, NumberLabels, NumberTarget
from fairpool.targets.target import Measure, Score, Target

TARGETS: dict[str, TargetKind] = {
    "number": NUMBER,
    "classes": CLASSES,
}

__all__ = [
    "LABELS",
    "TARGETS",
    "ClassTarget",
    "Labels",
    "LogNumberTarget",
    "Measure",
    "NumberLabels",
    "NumberTarget",
    "Score",
    "SeenLabels",
    "Target",
    "TargetKind",
    "label_sets",
    "target_entries",
    "target_of",
]


def label_sets(target: Target) -> int:
    """How many latent functions there are: one for each class, or one."""
    return len(target.levels) if isinstance(target, ClassTarget) else 1


def target_entries(target: Target) -> dict[str, Any]:
    """A target as entries of a reward file; one that names no kind is a number."""
    entries = target.entries()
    if target.kind != NumberTarget.kind:
        entries["target_kind"] = target.kind
    return entries


def target_of(entries: dict[str, Any]) -> Target:
    """The target that `target_entries` described."""
    kind = text(entries.get("target_kind", NumberTarget.kind))
    if kind not in TARGETS:
        raise RewardFileError(f"no target of kind {shown(kind)} is known")
    return TARGETS[kind].decode(entries)
