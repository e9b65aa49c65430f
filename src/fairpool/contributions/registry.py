"""All ways to measure contributions, by the names that collaboration.toml and `collaborate` use."""

import difflib

from fairpool.contributions.banzhaf import BANZHAF
from fairpool.contributions.concept import Concept
from fairpool.contributions.naive import LEAVE_ONE_OUT, STANDALONE
from fairpool.contributions.shapley import SHAPLEY
from fairpool.errors import GameError, shown

CONCEPTS: dict[str, Concept] = {
    concept.name: concept
    for concept in (
        SHAPLEY,
        BANZHAF,
        STANDALONE,
        LEAVE_ONE_OUT,
    )
}
"""One line for each."""


def concept_of(concept: str | Concept) -> Concept:
    """The concept of this name, or the one that is given.

    >>> concept_of("banzhaf").words.from_values
    'what a party adds, averaged over all groups that the other parties could form'
    >>> concept_of("shapely")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fairpool.errors.GameError: 'shapely' is not a way to measure contributions; did you mean ...
    """
    if isinstance(concept, Concept):
        return concept
    if isinstance(concept, str) and concept in CONCEPTS:
        return CONCEPTS[concept]
    known = ", ".join(CONCEPTS)
    hint = f"there are {known}"
    if not isinstance(concept, str):
        hint = f"give one of {known} by name, or a Concept"
    near = difflib.get_close_matches(str(concept), CONCEPTS, n=1)
    if near:
        hint = f'did you mean "{near[0]}"? There are {known}'
    raise GameError(f"{shown(concept)} is not a way to measure contributions; {hint}")


def settings_without_meaning(
    concept: Concept, *, evaluations: int | None, precision: float | None
) -> list[str]:
    """A sentence for each setting of a sample that was given and that the concept does not heed."""
    sentences = []
    if evaluations is not None and concept.fewest_evaluations is None:
        sampled = [name for name, c in CONCEPTS.items() if c.fewest_evaluations is not None]
        sentences.append(_without_meaning(f"evaluations = {shown(evaluations)}", concept, sampled))
    if precision is not None and not concept.heeds_precision:
        heeding = [name for name, c in CONCEPTS.items() if c.heeds_precision]
        sentences.append(_without_meaning(f"precision = {shown(precision)}", concept, heeding))
    return sentences


def _without_meaning(setting: str, concept: Concept, heeding: list[str]) -> str:
    only = f"(only for {', '.join(heeding)})"
    return f'{setting} has no meaning for contributions = "{concept.name}" {only}; leave it out'
