"""What an operator looked at before releasing, in numbers, so that nothing else is released."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fairpool.consortium.scrutiny import Run
from fairpool.errors import few
from fairpool.report.gravity import gravity_of
from fairpool.server.refused import RefusedError

RELATIVE, ABSOLUTE = 1e-6, 1e-9
"""Another machine may round differently; other data give other numbers than that."""

NUMBERS = ("value", "contribution", "reward")
"""Of each party."""


def summary_of(run: Run) -> dict[str, Any]:
    """What is kept of a preview in the database, for the operator.

    Args:
        run: What was computed.
    """
    collaboration = run.collaboration
    parties = []
    for i, contribution in enumerate(run.contributions):
        contents = contribution.survey.contents
        files = contribution.survey.source.files
        parties.append(
            {
                "id": contribution.id,
                "name": contribution.data.name,
                "rows": len(contribution.data),
                "inputs": [contents[file].sha256 for file in files],
                "value": float(collaboration.game.alone[i]),
                "contribution": float(collaboration.contributions.values[i]),
                "reward": float(collaboration.rewards[i]),
            }
        )
    return {
        "total": float(collaboration.game.total),
        "rho": float(collaboration.rho),
        "parties": parties,
        "left_out": [one.evidence.party for one in run.left_out],
        "notes": [
            {
                "code": note.code,
                "party": note.party,
                "text": note.text,
                "gravity": gravity_of(note).name.lower(),
            }
            for note in run.notes
        ],
    }


def refuse_other(previewed: Mapping[str, Any], computed: Mapping[str, Any]) -> None:
    """Refuse what is not what was looked at.

    Args:
        previewed: `summary_of` the preview.
        computed: `summary_of` what is about to be released.
    """
    differences = [
        *_other_numbers("", ("total", "rho"), previewed, computed),
        *_other_parties(previewed["parties"], computed["parties"]),
    ]
    if previewed["left_out"] != computed["left_out"]:
        differences.append("other parties are left out")
    if _found(previewed) != _found(computed):
        differences.append("other things were found")
    if differences:
        raise RefusedError(
            f"this is not what was previewed ({few(differences)}); compute a preview again, look"
            " at it, and release that"
        )


def _other_parties(before: Sequence[Any], now: Sequence[Any]) -> list[str]:
    if [party["id"] for party in before] != [party["id"] for party in now]:
        return ["other parties take part"]
    differences = []
    for old, new in zip(before, now, strict=True):
        if old["inputs"] != new["inputs"]:
            differences.append(f'other data of "{new["name"]}"')
        differences += _other_numbers(f' of "{new["name"]}"', NUMBERS, old, new)
    return differences


def _other_numbers(
    whose: str, names: Sequence[str], old: Mapping[str, Any], new: Mapping[str, Any]
) -> list[str]:
    return [
        f"another {name}{whose}: {new[name]:.6g} instead of {old[name]:.6g}"
        for name in names
        if not math.isclose(old[name], new[name], rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    ]


def _found(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was found about whom; the words may have numbers that are rounded differently."""
    technical = ("kept values changed", "not kept", "worker died")
    found = {(note["code"], note["party"] or "") for note in summary["notes"]}
    return sorted(one for one in found if one[0] not in technical)
