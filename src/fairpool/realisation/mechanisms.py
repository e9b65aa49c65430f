"""The mechanisms that there are, by the names that collaboration.toml and reward files use."""

from fairpool.errors import RewardError, cut
from fairpool.realisation.label_noise import LabelNoise
from fairpool.realisation.mechanism import Mechanism

MECHANISMS: dict[str, Mechanism] = {
    "label_noise": LabelNoise(),
}


def mechanism_of(mechanism: str | Mechanism) -> Mechanism:
    """A mechanism, from itself or from its name."""
    if isinstance(mechanism, str) and mechanism in MECHANISMS:
        return MECHANISMS[mechanism]
    if isinstance(mechanism, Mechanism):
        return mechanism
    known = ", ".join(f'"{name}"' for name in MECHANISMS)
    raise RewardError(f'no mechanism "{cut(str(mechanism))}"; there are {known}')
