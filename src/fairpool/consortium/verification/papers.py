"""Who signed what, and whether file, letter and plan say the same."""

import hashlib
from collections.abc import Iterator

from fairpool.consortium.verification.finding import (
    Finding,
    false,
    same_number,
    same_text,
    unknown,
    verified,
)
from fairpool.consortium.verification.given import Given, Paper
from fairpool.consortium.verification.same_model import is_same_model
from fairpool.errors import shown
from fairpool.exchange.plan import Plan, SignedPlan
from fairpool.exchange.statement import SignedStatement, Statement
from fairpool.models import Classifier, WeightModel
from fairpool.parties.rough_counts import roughly
from fairpool.realisation.carried import content_digest
from fairpool.realisation.encoding_codec import encode_encoding
from fairpool.report.sealed_letter import SealedLetter
from fairpool.signatures import PublicKey

KNOWN_RHO = {"fair": 1.0, "welfare": 0.0}
"""Words of a plan that stand for a number; the others depend on everybody's data."""

NO_STATEMENT = "the file carries no statement of the operator; ask for one made by a later fairpool"


def check_signature(given: Given) -> Iterator[Finding]:
    """Whether the operator has signed what the file carries."""
    about = "operator's signature"
    if given.paper.problem:
        yield false(about, given.paper.problem)
        return
    if given.paper.signed is None:
        yield unknown(about, NO_STATEMENT)
        return
    signed = given.paper.signed
    expected = given.operator if given.plan is None else given.plan.operator
    if given.operator is None and _is_known_otherwise(signed, given.known):
        yield _known_otherwise(about, signed, given.known)
    elif expected is None:
        yield _whether_known(about, signed, given.known)
    else:
        yield same_text(
            about,
            "the key that signed the file's statement",
            said=expected.fingerprint,
            found=signed.operator.fingerprint,
        )


def _is_known_otherwise(signed: SignedStatement, known: dict[PublicKey, str]) -> bool:
    """Whether the recipient has compared another key for this collaboration."""
    name = signed.statement.collaboration
    return name in known.values() and known.get(signed.operator) != name


def _known_otherwise(about: str, signed: SignedStatement, known: dict[PublicKey, str]) -> Finding:
    name = signed.statement.collaboration
    keys = [key.fingerprint for key, of_name in known.items() if of_name == name]
    return false(
        about,
        f"the key that signed the file's statement is {signed.operator.fingerprint}, and you"
        f" compared {', '.join(keys)} when you contributed to {shown(name)}",
    )


def _whether_known(about: str, signed: SignedStatement, known: dict[PublicKey, str]) -> Finding:
    """Whether the recipient has compared this key, for this collaboration and no other."""
    name = shown(signed.statement.collaboration)
    whose = known.get(signed.operator)
    if whose == signed.statement.collaboration:
        return verified(about, f"it is the key that you compared when you contributed to {name}")
    who = "somebody" if whose is None else f"the operator of {shown(whose)}"
    return unknown(
        about,
        f"{who} with the key {signed.operator.fingerprint} signed for {name}; compare that with"
        " the operator over the telephone, then give the key (--operator) or the plan (--plan)",
    )


def check_content(given: Given) -> Iterator[Finding]:
    """Whether the statement is about this file: this model, this party, this round."""
    about = "statement and file"
    statement = given.statement
    if statement is None:
        return
    if statement.model is None:
        yield false(about, "the statement says that no model was sent, and this is one")
        return
    yield same_text(
        about,
        "the digest of the model in the file",
        said=statement.model.content,
        found=content_digest(given.content),
    )
    reward = given.reward
    yield same_text(about, "the party in the file", said=statement.name, found=reward.party)
    mark = reward.ledger
    if mark is None:
        yield false(about, f"the file is of no round, and round {statement.round} was said")
        return
    said = f"{statement.round}, ledger {statement.ledger}"
    yield same_text(
        about, "the round of the file", said=said, found=f"{mark.round}, ledger {mark.head}"
    )


def check_letter(given: Given) -> Iterator[Finding]:
    """Whether the letter says what the file says, in its words and in what it carries."""
    about = "letter"
    paper = given.letter_paper
    if paper is None:
        yield unknown(about, "give it (--letter letter.html)")
        return
    if paper.problem:
        yield false(about, paper.problem)
        return
    if paper.signed is None:
        yield unknown(about, "it carries no statement of the operator; ask for it again")
        return
    if given.paper.signed is not None:
        yield from _compared(given.paper, paper)
    assert given.letter is not None  # a statement was found in it
    statement = paper.signed.statement
    is_of_file = given.statement is None or given.statement.round == statement.round
    yield from _words(given, given.letter, statement, is_of_file=is_of_file)


def _compared(of_file: Paper, of_letter: Paper) -> Iterator[Finding]:
    """Whether file and letter carry the same statement, where they are of the same round."""
    assert of_file.signed is not None
    assert of_letter.signed is not None
    file, letter = of_file.signed.statement, of_letter.signed.statement
    if of_file.signed.operator != of_letter.signed.operator:
        yield same_text(
            "letter",
            "the key that signed the letter's statement",
            said=of_file.signed.operator.fingerprint,
            found=of_letter.signed.operator.fingerprint,
        )
    if letter.party == file.party and letter.round > file.round and letter.model is None:
        yield unknown(
            "letter",
            f"it is of round {letter.round}, in which no model was sent, and the file is of round"
            f" {file.round}; give the letter that came with the file",
        )
        return
    same_hands = (letter.party, of_letter.signed.operator) == (file.party, of_file.signed.operator)
    if same_hands and letter.round != file.round:
        yield unknown(
            "letter",
            f"it is of round {letter.round}, and the file of round {file.round}; give the letter"
            " that came with the file",
        )
        return
    yield same_text(
        "letter",
        "the statement that the letter carries",
        said=of_file.signed.digest,
        found=of_letter.signed.digest,
    )


def _words(
    given: Given, letter: SealedLetter, statement: Statement, *, is_of_file: bool
) -> Iterator[Finding]:
    """Whether a letter is the page that the operator has signed, and which numbers are.

    Args:
        given: What is to be checked.
        letter: The page.
        statement: What it carries.
        is_of_file: Whether it is of the file's round, so that it names the file.
    """
    about = "words of the letter"
    if letter.digest == statement.letter:
        yield verified(about, "they are those that the operator signed, byte for byte")
    else:
        yield false(
            about,
            f"the page has the SHA-256 {letter.digest}, and {statement.letter} was signed: it was"
            " edited, or a browser or mail program saved it anew; ask for the file itself",
        )
    sent = ""
    if statement.model is not None:
        sent = hashlib.sha256(given.content).hexdigest()
    if is_of_file and letter.file != sent:
        yield false(
            about,
            f"they say that the file has the SHA-256 {letter.file or 'none'}, and it is"
            f" {sent or 'none'}",
        )
    said = _said(statement, is_rough=given.reward.own_noise)
    yield unknown("numbers in the letter", f"compare them with what was signed: {said}")


def _said(statement: Statement, *, is_rough: bool) -> str:
    """The numbers of a statement, as letters write them; that of rows may be a rough one."""
    model = ""
    if statement.model is not None:
        model = f"the model is worth {statement.model.worth:.2f} nats, "
    return (
        f"{roughly(is_rough)}{statement.rows:,} of your rows took part, worth"
        f" {statement.value:.2f} nats by themselves; all data are worth {statement.total:.2f};"
        f" your contribution is {statement.contribution:.2f}; with rho = {statement.rho:.4g}"
        f" your reward is {statement.reward:.2f}; {model}and all that you hold"
        f" {statement.holds:.2f}"
    )


def check_plan(given: Given) -> Iterator[Finding]:
    """Whether the reward was made as was agreed."""
    about = "plan"
    statement = given.statement
    if given.plan is None:
        if statement is not None and statement.plan is not None:
            yield unknown(about, "give it (--plan plan.json)")
        return
    if given.operator is not None:
        yield same_text(
            about,
            "the key that signed the plan",
            said=given.operator.fingerprint,
            found=given.plan.operator.fingerprint,
        )
    if statement is None:
        yield unknown(about, NO_STATEMENT)
        return
    if statement.plan == given.plan.digest:
        yield verified(about, f"the reward was made under it: {statement.plan}")
    elif given.own is not None and statement.plan in given.own.plans:
        # Of another month: terms may have changed since, and all agreed to that.
        yield unknown(
            about,
            f"round {statement.round} was under the plan {statement.plan}, under which you made"
            f" your contribution, and the one given is {given.plan.digest}; give the plan of that"
            " time",
        )
        return
    else:
        yield false(
            about,
            f"round {statement.round} was under the plan {statement.plan or 'none'}, and the one"
            f" given is {given.plan.digest}; if you agreed to the former, give that, and your"
            " contribution",
        )
    yield from _terms(given, given.plan, statement)


def _terms(given: Given, plan: SignedPlan, statement: Statement) -> Iterator[Finding]:
    about = "terms of the plan"
    agreed = plan.plan
    rho = agreed.terms.rho
    number = KNOWN_RHO.get(rho) if isinstance(rho, str) else rho
    if number is None:
        yield unknown(
            about,
            f'rho = "{rho}" depends on everybody\'s data ({statement.rho:.6g} was used): only an'
            " auditor can tell",
        )
    else:
        yield same_number(about, "the rho that was used", said=number, found=statement.rho)
    yield same_text(
        about,
        "the way in which contributions are measured",
        said=agreed.terms.contributions,
        found=statement.concept,
    )
    covariance = "full" if given.reward.posterior.others is None else "hidden"
    yield same_text(about, "the covariance", said=agreed.terms.covariance, found=covariance)
    encoding = given.reward.encoding
    if encoding is None or encode_encoding(encoding) != encode_encoding(agreed.encoding):
        yield false(about, "the file reads tables in another way than was agreed")
    else:
        yield verified(about, "the file reads tables as was agreed")
    yield _model(given, agreed)


def _model(given: Given, agreed: Plan) -> Finding:
    """Whether the model is the plan's, before it has seen any data."""
    about = "model of the plan"
    if agreed.learned_from_sums:
        return unknown(
            about, "its noise and prior are learned from everybody's sums: only an auditor can tell"
        )
    model = given.reward.posterior.model
    if not isinstance(model, WeightModel | Classifier):
        return false(about, "the file has another model: one without weights")
    if is_same_model(agreed.model, model, agreed.inputs):
        return verified(about, "features, prior and the labels' noise are as was agreed")
    target = agreed.encoding.target
    return false(
        about,
        f"labels are taken to have noise of {target.noise_in_words(model.noise_variance, 6)}, and"
        f" {target.noise_in_words(agreed.model.noise_variance, 6)} was agreed; or the features"
        " differ",
    )
