"""What an operator asks for: the same record from a command line, a service or a notebook."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """One run of a collaboration; how it is computed, and by whom, is the workers' business.

    Attributes:
        configuration: The folder with collaboration.toml, or a .toml file of another name.
        rho: Instead of the configuration's: a number in 0 .. 1, or "fair", "rational", "stable",
            "welfare". None: the configuration's.
        seed: The seed of the noise, to repeat an earlier run. None: a fresh secret.
    """

    configuration: Path
    rho: float | str | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "configuration", Path(self.configuration))
