"""Whether the model in the file is worth what file, statement and letter say."""

from collections.abc import Iterator

from fairpool.consortium.verification.finding import (
    Finding,
    false,
    same_noise,
    same_number,
    unknown,
    verified,
)
from fairpool.consortium.verification.given import Given
from fairpool.exchange.statement import as_in_letters


def check_worth(given: Given) -> Iterator[Finding]:
    """Compute the worth from the file's own factor, and compare it with all that is said of it."""
    about = "worth of the model"
    posterior = given.reward.posterior
    if not posterior.weight_count:
        yield unknown(
            about, "the model holds rows instead of weights, with noise that nobody can tell apart"
        )
        return
    found = posterior.worth
    yield same_number(
        about, "the worth of the model in the file", said=given.reward.value, found=found
    )
    statement = given.statement
    if statement is None or statement.model is None:
        return
    yield same_number(
        "worth that was signed",
        "the worth of the model in the file",
        said=statement.model.worth,
        found=found,
    )
    yield same_number(
        "reward that was signed",
        "what the file says is due",
        said=statement.reward,
        found=given.reward.target,
    )
    if statement.holds < as_in_letters(found):
        yield false(
            "what you hold",
            f"the file alone is worth {found:.6g}, and {statement.holds:.6g} was said of all that"
            " you hold",
        )
    elif statement.holds == as_in_letters(statement.reward):
        yield verified("what you hold", f"it is worth {statement.holds:.6g}, which is your reward")
    else:
        yield unknown(
            "what you hold",
            f"together with models of earlier rounds it is said to be worth {statement.holds:.6g},"
            f" and your reward of this round is {statement.reward:.6g}: only an auditor can tell",
        )


def check_noise(given: Given) -> Iterator[Finding]:
    """Whether the noise that the file speaks of is what was signed; whether it is so is hidden."""
    about = "noise on the others' labels"
    statement = given.statement
    encoding = given.reward.encoding
    if statement is None or statement.model is None or encoding is None:
        return
    eta = given.reward.eta * encoding.target.noise_scale**2
    said = statement.model.eta
    if said is not None and eta < float("inf"):
        yield same_noise(
            about, "what the file speaks of", said=said, found=eta, target=encoding.target
        )
    yield unknown(
        about,
        "that no more noise is in the model, and no less of the others' data, only an auditor can"
        " tell (fairpool audit); the operator has committed to what the model was trained with",
    )


def check_others(given: Given) -> Iterator[Finding]:
    """What depends on everybody's data."""
    statement = given.statement
    if statement is None:
        return
    yield unknown(
        "contributions",
        f"that yours is {statement.contribution:.2f} nats, that all data are worth"
        f" {statement.total:.2f}, and that your reward follows from it, depends on everybody's"
        " data: only an auditor whom all trust can tell (fairpool audit)",
    )
