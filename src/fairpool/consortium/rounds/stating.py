"""What the operator signs at a release: one statement for each party."""

import numpy as np

from fairpool.consortium.rounds.context import RoundContext
from fairpool.consortium.rounds.contribution import Contribution
from fairpool.consortium.scrutiny import Run
from fairpool.exchange.statement import (
    SentModel,
    SignedStatement,
    Statement,
    as_in_letters,
    rho_as_in_letters,
)
from fairpool.keyed_noise.secret import Secret
from fairpool.realisation import ModelReward
from fairpool.realisation.carried import content_digest
from fairpool.realisation.commitment import commit
from fairpool.report.sealed_letter import letter_digest
from fairpool.signatures import SigningKey

COMMITMENT = "commitment"
"""What the salts of commitments are for."""


def salt_of(secret: Secret, *, number: int, party: str) -> bytes:
    """The salt of a party's commitment: the operator can show it, and nobody can guess it."""
    return secret.subkey(COMMITMENT, str(number).encode(), party.encode())


def statement_of(run: Run, i: int, *, head: str, reward: bytes | None, letter: bytes) -> Statement:
    """What is said to party i.

    Args:
        run: What was computed.
        i: The party's place.
        head: The hash of the run's record in the ledger.
        reward: Its new reward file, before it carries a statement; None: nothing is sent.
        letter: Its letter, before it carries one.
    """
    context = run.preparation.context
    assert context is not None  # a run that is released has one
    result, contribution = run.collaboration, run.contributions[i]
    holds = result.received[i].holds if result.received else result.models[i].value
    measured = result.contributions
    rho, due = float(result.rho), float(result.rewards[i])
    if reward is None:  # with a new model, the file has all digits of both
        rho, due = rho_as_in_letters(rho), as_in_letters(due)
    return Statement(
        collaboration=run.preparation.configuration.name,
        round=context.number,
        party=contribution.id,
        name=contribution.data.name,
        plan=None if context.plan is None else context.plan.digest,
        ledger=head,
        letter=letter_digest(letter),
        rows=len(contribution.data),
        waiting=contribution.assignment.waiting,
        inputs=_inputs(contribution),
        contributions=_contributions(contribution),
        concept=measured.concept.name,
        total=as_in_letters(float(result.game.total)),
        value=float(result.game.alone[i]),
        contribution=as_in_letters(float(measured.values[i])),
        standard_error=as_in_letters(float(measured.standard_errors[i])),
        rho=rho,
        reward=due,
        holds=as_in_letters(float(holds)),
        model=None if reward is None else _sent(run, i, context, reward),
    )


def signed_statement(
    run: Run, i: int, key: SigningKey, *, head: str, reward: bytes | None, letter: bytes
) -> SignedStatement:
    """What is said to party i, signed."""
    statement = statement_of(run, i, head=head, reward=reward, letter=letter)
    return SignedStatement(statement=statement, document=statement.signed(key))


def _sent(run: Run, i: int, context: RoundContext, reward: bytes) -> SentModel:
    model = run.collaboration.models[i]
    salt = salt_of(context.secret, number=context.number, party=run.contributions[i].id)
    return SentModel(
        content=content_digest(reward),
        worth=float(model.value),
        eta=eta_of(model, scale=run.preparation.encoding.target.noise_scale),
        commitment=commit(model.posterior, salt),
    )


def eta_of(model: ModelReward, *, scale: float) -> float | None:
    """The noise variance in squared units of the target; None: nothing of the others' is in it."""
    return model.eta * scale**2 if np.isfinite(model.eta) else None


def _inputs(contribution: Contribution) -> tuple[str, ...]:
    contents = contribution.survey.contents
    return tuple(contents[file].sha256 for file in contribution.survey.source.files)


def _contributions(contribution: Contribution) -> tuple[str, ...]:
    batches = contribution.assignment.batches
    digests = [batches.parts[part].contribution for part in contribution.assignment.part_names]
    return tuple(digest for digest in digests if digest)
