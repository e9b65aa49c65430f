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
    if outcome.received and not outcome.received[i].sent:
        return _not_sent(outcome, i)
    if outcome.kept is not None and outcome.kept[i] < 1:
        return _discounted(outcome, i)
    if outcome.most is not None and outcome.scheme.rewards(outcome.rho)[i] > outcome.rewards[i]:
        return _capped(outcome, i)
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


def _not_sent(outcome: Outcome, i: int) -> str:
    """Of a party that keeps the model it has."""
    received = outcome.received[i]
    total = outcome.game.total
    name = outcome.game.names[i]
    holds = as_percent(received.holds / total)
    due = as_percent(received.due / total)
    if received.holds >= received.due:
        return (
            f"{name} holds {holds} of the best model's information already; this round's share"
            f" would be {due}. It keeps what it has, and nothing worse is sent."
        )
    return (
        f"{name} keeps the model that it has, worth {holds} of the best model's information with"
        f" its own rows: nobody else's data have changed. Its share would be {due}, which comes"
        " with the next model."
    )


def _capped(outcome: Outcome, i: int) -> str:
    """Of a party that wants to hold no more than it said."""
    assert outcome.most is not None
    total = outcome.game.total
    due = as_percent(outcome.scheme.rewards(outcome.rho)[i] / total)
    received = as_percent(outcome.rewards[i] / total)
    return (
        f"{outcome.game.names[i]} receives {received} of the best model's information: it wants no"
        f" more than {as_percent(outcome.most[i])}, and would be due {due}. The others' rewards do"
        " not change by that."
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
