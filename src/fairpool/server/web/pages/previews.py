"""A preview in the words of its page: who would receive what, and what the checks found."""

from collections.abc import Mapping, Sequence
from typing import Any

from fairpool.report.gravity import TITLES, Gravity
from fairpool.report.words import as_percent
from fairpool.server.store.tables import Job
from fairpool.server.web.pages.here import Here
from fairpool.server.web.pages.round_views import FindingGroup, PreviewCard, PreviewParty
from fairpool.server.web.routing import API


def preview_card(here: Here, job: Job, result: Mapping[str, Any]) -> PreviewCard:
    """A preview.

    Args:
        here: Where.
        job: That computed it.
        result: What it found.
    """
    return PreviewCard(
        job=job.id,
        time=job.ended or job.created,
        parties=_parties(result),
        left_out=tuple(result["left_out"]),
        rho=f"{result['rho']:.4g}",
        groups=groups_of(result["notes"]),
        report=f"{API}{here.address}/jobs/{job.id}/report",
    )


def groups_of(notes: Sequence[Mapping[str, Any]]) -> tuple[FindingGroup, ...]:
    """What was found, the gravest first."""
    groups = []
    for gravity in Gravity:
        texts = [note["text"] for note in notes if note["gravity"] == gravity.name.lower()]
        if texts:
            group = FindingGroup(
                title=TITLES[gravity],
                texts=tuple(texts),
                is_grave=gravity is Gravity.SETTLE,
                can_wait=gravity is Gravity.KNOW,
            )
            groups.append(group)
    return tuple(groups)


def _parties(result: Mapping[str, Any]) -> tuple[PreviewParty, ...]:
    total = result["total"]
    ordered = sorted(result["parties"], key=lambda party: -party["reward"])
    return tuple(
        PreviewParty(
            name=party["name"],
            rows=f"{party['rows']:,}",
            receives=as_percent(party["reward"] / total) if total > 0 else "–",
            alone=as_percent(party["value"] / total) if total > 0 else "–",
        )
        for party in ordered
    )
