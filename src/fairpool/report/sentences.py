"""One sentence per party: what it receives, and why."""

from fairpool.outcome import Outcome
from fairpool.report.words import as_percent


def explain(outcome: Outcome) -> tuple[str, ...]:
    """A sentence for every party."""
    return tuple(sentence(outcome, i) for i in range(outcome.game.n))


def sentence(outcome: Outcome, i: int) -> str:
    """What party i receives, and why."""
    game = outcome.game
    name = game.names[i]
    total = game.total
    share = outcome.scheme.shares[i]
    if total <= 0:
        return f"{name} receives nothing, because nobody's data tells anything about the model."
    if outcome.kept is not None and outcome.kept[i] < 1:
        return _discounted(outcome, i)
    if share == 1:
        return f"{name} receives the best model, because nobody contributes more."
    received = as_percent(outcome.rewards[i] / total)
    alone = as_percent(game.alone[i] / total)
    if share == 0:
        return (
            f"{name} receives {received} of the best model's information, and contributes nothing."
        )
    return (
        f"{name} receives {received} of the best model's information (alone it has {alone}),"
        f" because it contributes {as_percent(share)} of what the largest contributor does"
        f" and rho is {outcome.rho:.3g}."
    )


def _discounted(outcome: Outcome, i: int) -> str:
    """Of a party whose labels harm the others, where the operator chose to discount."""
    assert outcome.kept is not None
    game = outcome.game
    received = as_percent(outcome.rewards[i] / game.total)
    alone = as_percent(game.alone[i] / game.total)
    return (
        f"{game.names[i]} receives {received} of the best model's information (alone it has"
        f" {alone}): of what its contribution would have added to its own data it keeps"
        f" {as_percent(outcome.kept[i])}, because its labels do not agree with what the others'"
        " data predict."
    )
