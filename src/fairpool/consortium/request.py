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
        learn_anew: Whether scaling, features and hyperparameters are learned anew, instead of being
            those of the first round.
    """

    configuration: Path
    rho: float | str | None = None
    learn_anew: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "configuration", Path(self.configuration))
