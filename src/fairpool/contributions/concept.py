"""What a way to measure contributions is: how it is done, what it guarantees, what people are told.

Each way is in a file beside this one, which ends with its `Concept`, and has a line in `registry`.
To add a way, write such a file and add such a line. Nothing else needs to know it: `collaborate`,
collaboration.toml, the verdicts, the report and the letters ask the concept.
`tests/seams/test_contribution_seam.py` adds one from beginning to end.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from fairpool.compute.workers import Workers
from fairpool.errors import GameError
from fairpool.values import Game

if TYPE_CHECKING:  # contributions say of which concept they are, so these modules need each other
    from fairpool.contributions.contributions import Contributions


class Measure(Protocol):
    """How the contributions of all parties are found."""

    def __call__(
        self,
        game: Game,
        *,
        rng: int,
        evaluations: int | None,
        target_standard_error: float | None,
        workers: Workers,
    ) -> "Contributions":
        """Measure them.

        Args:
            game: The values. Up to 16 parties all of them are known.
            rng: Seed of the sample, where coalitions are sampled.
            evaluations: How many coalitions to value at most, where they are sampled; None: as many
                as the concept finds sensible.
            target_standard_error: Stop sampling once every standard error is this small.
            workers: Who values coalitions.
        """
        ...  # pragma: no cover


@dataclass(frozen=True, kw_only=True)
class Words:
    """How a concept is explained to people who have not read the paper.

    Attributes:
        letter: What a party's contribution is, said to that party: continues "Your contribution is
            2.50 nats: ".
        glossary: The same for the operator, as whole sentences.
        from_values: The same in short: continues "Contributions are computed from these values: ".
        tells: A sentence for every letter on what its numbers tell about other parties, beyond what
            those of Shapley values tell; empty where there is nothing more.
    """

    letter: str
    glossary: str
    from_values: str
    tells: str = ""


@dataclass(frozen=True, kw_only=True)
class Concept:
    """A way to measure contributions, in game theory a solution concept.

    What it guarantees is promised for the exact numbers, and no verdict relies on more than that.

    Attributes:
        name: As in collaboration.toml.
        measure: How it is done.
        words: How people are told.
        strictly_party_monotone: Whether, when a party's data becomes more valuable and nothing else
            changes, its contribution rises, and nobody's rises more. Theorem 1's proof of F4 needs
            that of the contributions, and nothing else (App. D.3).
        averages_marginals: Whether every contribution is an average of what the party adds to
            coalitions. For submodular values it then lies between what the party adds as the last
            to come and what it has alone.
        efficient: Whether the contributions sum to v_N.
        fewest_evaluations: How many coalitions a sample must have at least, for n parties; None
            where nothing is ever sampled.
        heeds_precision: Whether sampling stops at a target standard error.
    """

    name: str
    measure: Measure
    words: Words
    strictly_party_monotone: bool = False
    averages_marginals: bool = False
    efficient: bool = False
    fewest_evaluations: Callable[[int], int] | None = None
    heeds_precision: bool = False


def _cannot_be_measured(game: Game, **_: object) -> "Contributions":
    raise GameError(
        f"contributions that are given as numbers cannot be measured for {game.n} parties; choose"
        " a way to measure them, such as shapley"
    )


GIVEN = Concept(
    name="given",
    measure=_cannot_be_measured,
    words=Words(
        letter="a number that was given to the program",
        glossary="A number for every party that was given to the program.",
        from_values="they were given",
    ),
)
"""Of numbers that somebody gives, nothing is known: this concept guarantees nothing."""
