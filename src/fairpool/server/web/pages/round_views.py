"""What the pages of rounds show, once there are results."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class ReleasedLine:
    """A round that was released."""

    number: int
    released: datetime
    by: str
    head: str
    report: str


@dataclass(frozen=True, kw_only=True)
class FindingGroup:
    """What the checks found, of one gravity."""

    title: str
    texts: tuple[str, ...]
    is_grave: bool
    can_wait: bool


@dataclass(frozen=True, kw_only=True)
class PreviewParty:
    """What a party would receive."""

    name: str
    rows: str
    receives: str
    alone: str


@dataclass(frozen=True, kw_only=True)
class PreviewCard:
    """A round as it would be released."""

    job: str
    time: datetime
    parties: tuple[PreviewParty, ...]
    left_out: tuple[str, ...]
    rho: str
    groups: tuple[FindingGroup, ...]
    report: str
