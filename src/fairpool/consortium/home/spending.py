"""How much privacy was spent so far, by all contributions with noise that this home has made.

Every contribution counts as if a person were in all of them. Of disjoint rows that is more than
was spent on any one; but the same person may have several rows.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fairpool.compute.files import write_atomically
from fairpool.consortium.home.journal import contributions_of
from fairpool.differential_privacy.gaussian import epsilon_of, mu_of, together
from fairpool.errors import PrivacyError, shown
from fairpool.stored import number

BUDGET_FILE = "privacy.json"
"""Where the most that a person wants to spend is kept."""


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What contributions have told of any one row.

    Attributes:
        by_operator: By the operator's fingerprint, the mu of all contributions to it
            (`fairpool.differential_privacy.gaussian`).
        without_noise: How many contributions have none: of their rows, nothing is hidden.
    """

    by_operator: Mapping[str, float]
    without_noise: int

    def epsilon(self, delta: float, *, more: float = 0.0) -> float:
        """Of all operators together.

        Args:
            delta: The chance that epsilon does not hold.
            more: The mu of one more contribution.
        """
        return epsilon_of(together([*self.by_operator.values(), more]), delta)

    def epsilon_at(self, operator: str, delta: float, *, more: float = 0.0) -> float:
        """Of one operator."""
        return epsilon_of(together([self.by_operator.get(operator, 0.0), more]), delta)


def spending(home: Path) -> Spending:
    """What the journal of a home says."""
    mus: dict[str, list[float]] = {}
    without_noise = 0
    for file in contributions_of(home):
        privacy = file.manifest.privacy
        if privacy is None:
            without_noise += 1
            continue
        of_operator = mus.setdefault(file.manifest.operator.fingerprint, [])
        of_operator.append(mu_of(privacy.epsilon, privacy.delta))
    return Spending(
        by_operator={operator: together(some) for operator, some in mus.items()},
        without_noise=without_noise,
    )


def refuse_beyond_budget(
    budget: float | None, spent: Spending, *, more: float, delta: float
) -> None:
    """Refuse a contribution after which more would be spent than a person wanted.

    Args:
        budget: The most that epsilon may be, over all contributions; None: nobody said.
        spent: So far.
        more: The mu of the contribution.
        delta: At which epsilon is meant.
    """
    if budget is None:
        return
    after = spent.epsilon(delta, more=more)
    if after > budget * (1 + 1e-9):
        raise PrivacyError(
            f"with this contribution epsilon would be {after:.3g} in all (delta {delta:g}), and"
            f" your budget is {budget:g}; so far it is {spent.epsilon(delta):.3g}; give a smaller"
            " --epsilon, or a larger --budget"
        )


def read_budget(home: Path) -> float | None:
    """The budget that was set; None: none was."""
    path = home / BUDGET_FILE
    try:
        return number(json.loads(path.read_bytes())["budget"], "budget", least=0)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PrivacyError(
            f"{path}: your privacy budget cannot be read ({shown(str(error))}); remove the file,"
            " and set it again with --budget"
        ) from None


def write_budget(home: Path, budget: float) -> None:
    """Remember a budget."""
    write_atomically(home / BUDGET_FILE, (json.dumps({"budget": budget}) + "\n").encode())
