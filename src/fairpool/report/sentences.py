"""One sentence per party: what it receives, and why."""

from fairpool.outcome import Outcome
from fairpool.report.held import Held, Standing, is_sent, kept_sentence, of_party
from fairpool.report.words import as_percent


def explain(outcome: Outcome) -> tuple[str, ...]:
    """A sentence for every party, in the parties' order."""
    return tuple(sentence(outcome, i) for i in range(outcome.game.n))


def sentence(outcome: Outcome, i: int) -> str:
    """What party i receives, and why."""
    game = outcome.game
    name = game.names[i]
    total = game.total
    share = outcome.scheme.shares[i]
    if total <= 0:
        return f"{name} receives nothing, because nobody's data tells anything about the model."
    if outcome.received:
        held = of_party(outcome, i)
        if not is_sent(outcome, i):
            return kept_sentence(name, held)
        if held.standing is Standing.LESS:
            return _rest_later(name, held)
    if outcome.kept is not None and outcome.kept[i] < 1:
        return _discounted(outcome, i)
    if is_capped(outcome, i):
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


def is_capped(outcome: Outcome, i: int) -> bool:
    """Whether party i is given less than it is due since it wants no more."""
    if outcome.most is None:
        return False
    due = outcome.scheme.rewards(outcome.rho)[i]
    return bool(due > outcome.rewards[i] and outcome.most[i] * outcome.game.total < due)


def _rest_later(name: str, held: Held) -> str:
    """Of a party whose new model does not make up its share, since some rows may be in no file."""
    return (
        f"{name} is sent a new model, with which it holds {held.in_words}; its share of this round"
        f" is {held.share_in_words}. The rest comes with a later model: some of the others' rows"
        " may be in no new one yet."
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
