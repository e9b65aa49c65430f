"""What a party received, in the words of its page."""

import shlex

from fairpool.__about__ import __version__
from fairpool.exchange.statement import Statement
from fairpool.report.words import as_percent
from fairpool.server.web.pages.here import Here
from fairpool.server.web.pages.received import Received
from fairpool.server.web.pages.result_views import Download, ResultCard, ResultLine
from fairpool.server.web.pages.terms_cards import plan_address
from fairpool.server.web.routing import API


def result_line(here: Here, one: Received) -> ResultLine:
    """A round among the others."""
    return ResultLine(
        number=one.number,
        address=f"{here.address}/results/{one.number}",
        share="left out" if one.signed is None else share_of(one.share),
    )


def result_card(here: Here, one: Received) -> ResultCard:
    """What was received in a round."""
    papers = f"{API}{here.address}/rounds/{one.number}"
    return ResultCard(
        number=one.number,
        released=one.released,
        share=share_of(one.share),
        alone=share_of(one.alone),
        why=_why(one),
        files=_files(here, one, papers),
        commands=commands_for(one),
        fingerprint="" if one.signed is None else one.signed.operator.fingerprint,
        letter=f"{papers}/letter",
        sums=one.sums,
    )


def share_of(share: float | None) -> str:
    """A share of the best model's information."""
    return "–" if share is None else as_percent(share)


def _why(one: Received) -> tuple[str, ...]:
    if one.signed is None:
        return ("Your data were left out of this round. The letter says why.",)
    said = one.signed.statement
    return (*_of_rows(said), *_of_contribution(said), *_of_model(one, said))


def _of_rows(said: Statement) -> list[str]:
    rows = f"{said.rows:,} of your rows took part."
    if said.waiting:
        rows += f" {said.waiting:,} wait for a round in which there are enough with them."
    return [rows]


def _of_contribution(said: Statement) -> list[str]:
    return [
        f"What you added to the others' data counts {said.contribution:.2f} nats, a unit of"
        f" information, and rewards follow contributions with ρ = {said.rho:.4g}: 1 is purely"
        " proportional, 0 would give everybody the best model."
    ]


def _of_model(one: Received, said: Statement) -> list[str]:
    if one.papers.reward is None:
        return ["No new model was sent: what you hold already is worth your reward."]
    return [f"Your new model is worth {said.holds:.2f} of {said.total:.2f} nats."]


def _files(here: Here, one: Received, papers: str) -> tuple[Download, ...]:
    files = []
    if one.papers.reward is not None:
        files.append(Download(text="Your model", address=f"{papers}/reward"))
    files.append(Download(text="Your letter", address=f"{papers}/letter.html"))
    if one.papers.card is not None:
        files.append(Download(text="Its model card", address=f"{papers}/model-card"))
    if one.signed is not None:
        files.append(Download(text="The signed statement", address=f"{papers}/statement"))
    plan = plan_address(here, one.terms)
    if one.sums and plan is not None:
        files.append(Download(text="The plan", address=plan))
    return tuple(files)


def commands_for(one: Received) -> tuple[str, ...]:
    """What checks the files, on the machine of whoever received them."""
    if one.papers.reward is None or one.signed is None:
        return ()
    command = (
        f"fairpool verify round-{one.number}-{one.papers.reward.name}"
        f" --letter round-{one.number}-{one.papers.letter.name}"
    )
    if one.sums:
        command += "".join(f" --contribution {shlex.quote(name)}" for name in one.files)
        command += " --plan plan.json"
    elif len(one.files) == 1:
        command += f" --data {shlex.quote(one.files[0])}"
    return (f'pip install "fairpool>={__version__}"', command)
