"""An operator who lies: rewards, statements and letters that are signed, and not as they should be.

It has its own key, so that every signature is right.
"""

from dataclasses import dataclass, replace
from hashlib import sha256

from fairpool.consortium.party_files import new_reward
from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.releasing import one_at_a_time, release, settle
from fairpool.consortium.run import run
from fairpool.exchange.statement import SignedStatement
from fairpool.realisation.carried import content_digest, statement_in, with_statement
from fairpool.report.sealed_letter import letter_digest, sealed
from tests.support.exchange import OPERATOR
from tests.support.projects import reward_file


@dataclass(frozen=True, kw_only=True)
class HandedOut:
    """What a party receives."""

    reward: bytes
    letter: str

    def write(self, folder):
        """As files; their paths."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "reward.safetensors").write_bytes(self.reward)
        (folder / "letter.html").write_text(self.letter)
        return folder / "reward.safetensors", folder / "letter.html"


def handed_out(case, name, number=1):
    """What a party was handed in a round."""
    path = reward_file(case.folder, name, number)
    return HandedOut(reward=path.read_bytes(), letter=(path.parent / "letter.html").read_text())


def stated(handed):
    """The statement in a reward file."""
    content = statement_in(handed.reward, "reward")
    return SignedStatement.of_content(content, "reward").statement


def restated(handed, statement, *, key=OPERATOR, words=None):
    """The same file with another statement, and a letter that carries it, too.

    Its signature is the operator's: it is a lie, not a forgery.

    Args:
        handed: What is to be changed.
        statement: What is said.
        key: Who signs.
        words: What becomes of the letter's words, which are signed as well.
    """
    page = handed.letter
    if words is not None:
        page = words(page)
        statement = replace(statement, letter=letter_digest(page.encode()))
    signed = statement.signed(key)
    reward = with_statement(handed.reward, signed.content)
    return HandedOut(reward=reward, letter=carrying(page, signed.content, reward))


def carrying(page, statement, reward):
    """A letter with another statement, and with the hash of another file."""
    filled = sealed(page.encode(), statement=statement, file=sha256(reward).hexdigest())
    return filled.decode()


def with_model(case, done, name, posterior, *, value=None, number=1):
    """A reward file with another model in it, and a statement and letter that agree with it.

    The commitment stays that of the round.
    """
    i = list(case.tables).index(name)
    handed = handed_out(case, name, number)
    said = stated(handed)
    honest = done.collaboration.models[i]
    value = said.model.worth if value is None else value
    lying = with_reward(done, i, posterior=posterior, level=replace(honest.level, value=value))
    reward = new_reward(lying, i, said.ledger)
    statement = replace(
        said, model=replace(said.model, content=content_digest(reward), worth=value)
    )
    return restated(replace(handed, reward=reward), statement)


def without(done, name, *, left_out=None, eta=0.0):
    """The model of a party trained without some party's data, at some noise on the others'."""
    game = done.collaboration.game
    s2 = game.model.noise_variance
    P, h = 0.0, 0.0
    for other, statistics in zip(game.names, game.pool.statistics, strict=True):
        weight = 1.0 if other == name else s2 / (s2 + eta)
        if other != left_out:
            P = P + weight * statistics.told.precision
            h = h + weight * statistics.told.moment
    return game.model.posterior_from_moments(P, h, game.pool.inputs)


def lying_round(case, lie):
    """A round that the operator releases otherwise than it was computed, in all places alike.

    Args:
        case: The collaboration.
        lie: Makes of the run what is released, ledger, statements and commitments included.
    """
    for name in case.by_sums:
        if name not in case.sent:
            case.contribute(name, case.tables[name])
    case.configure(case.by_sums)
    for name in case.by_sums:
        (case.folder / f"{name}.csv").unlink(missing_ok=True)
    with one_at_a_time(case.folder):
        settle(case.folder)
        done = run(RunRequest(configuration=case.folder))
        release(lie(done))
    return done


def with_collaboration(done, **changes):
    """A run with something else in its collaboration."""
    return replace(done, collaboration=replace(done.collaboration, **changes))


def with_reward(done, i, **changes):
    """A run in which party i's model is another one."""
    models = list(done.collaboration.models)
    models[i] = replace(models[i], **changes)
    return with_collaboration(done, models=tuple(models))
