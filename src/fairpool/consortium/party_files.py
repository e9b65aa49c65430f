"""What a party is handed: a letter, and a model where there is a new one."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fairpool.consortium.folders import CARD_FILE, REWARD_FILE
from fairpool.consortium.judging import LeftOut
from fairpool.consortium.revealing import reveals
from fairpool.consortium.rounds.stating import signed_statement
from fairpool.consortium.scrutiny import Run
from fairpool.consortium.treatment import treatment_of
from fairpool.exchange.statement import SignedStatement
from fairpool.model_kinds import KINDS
from fairpool.realisation.carried import with_statement
from fairpool.realisation.model_reward import LedgerMark
from fairpool.realisation.reward_file import reward_bytes
from fairpool.report.letter import Letter, RefusalLetter, render_letter, render_refusal
from fairpool.report.model_card import render_card
from fairpool.report.noisy_sums import counted_in_words
from fairpool.report.rounds import RoundWords
from fairpool.report.scores import class_sentence
from fairpool.report.sealed_letter import sealed
from fairpool.rounds import PartyChange
from fairpool.signatures import SigningKey

NO_OPTIMUM = (
    "The search for the model's hyperparameters did not end at an optimum, so that another model"
    " may fit the data better. Everybody's values and rewards depend on them. The operator's report"
    " says what happened."
)
"""What a letter says where learning ended early, or at the end of the range searched."""


@dataclass(frozen=True, kw_only=True)
class Release:
    """What files carry of the release that they are of.

    Attributes:
        head: The hash of the run's record in the ledger; None: it is a preview, without models.
        date: When it was, such as "2026-03-01"; empty in a preview.
        key: The operator's, who signs what is handed out; None: nothing is signed.
    """

    head: str | None = None
    date: str = ""
    key: SigningKey | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class HandedOut:
    """What a party is handed.

    Attributes:
        files: By name: a letter, and a new model with its card; without one, a letter alone.
        statement: What the operator has signed for the party, which letter and model carry; None:
            nothing.
    """

    files: dict[str, bytes]
    statement: SignedStatement | None


def new_reward(run: Run, i: int, head: str | None) -> bytes | None:
    """Party i's new model as a file that carries no statement yet; None: there is no new one."""
    return _reward(run, i, head) if _round_words(run, i, head).is_sent else None


def party_files(run: Run, i: int, release: Release) -> HandedOut:
    """What is handed out to party i."""
    head, key = release.head, release.key
    # Also for a preview, which is to be refused as the release would be.
    reward = new_reward(run, i, head)
    letter = _letter(run, i, release)
    page = render_letter(run.collaboration, i, letter).encode()
    signed = None
    if key is not None and head is not None:
        signed = signed_statement(run, i, key, head=head, reward=reward, letter=page)
        if reward is not None:
            reward = with_statement(reward, signed.document.content)
    files = {}
    sha256 = ""
    if reward is not None and head is not None:
        files[REWARD_FILE] = reward
        sha256 = hashlib.sha256(reward).hexdigest()
    said = None if signed is None else signed.document.content
    files["letter.html"] = sealed(page, statement=said, file=sha256)
    if reward is not None:
        files[CARD_FILE] = render_card(run.collaboration, i, letter, sha256=sha256).encode()
    return HandedOut(files=files, statement=signed)


def _letter(run: Run, i: int, release: Release) -> Letter:
    """What party i's letter says beyond the numbers."""
    configuration = run.preparation.configuration
    encoding = run.preparation.encoding
    return Letter(
        title=configuration.name,
        target=encoding.target,
        file=REWARD_FILE,
        round=_round_words(run, i, release.head),
        reveals=reveals(run, i),
        notes=() if run.built.optimum_reached else (NO_OPTIMUM,),
        copies=tuple(run.copies.told(i)),
        treatment=run.preparation.treatments[i],
        discloses=_discloses(run, i),
        against_alone=run.against_alone[i],
        uncheckable=run.uncheckable[i],
        evidence=run.evidence.parties[i],
        since=_change_of(run, i),
        scores=_about_test_rows(run, i),
        operator=None if release.key is None else release.key.public,
        noise=run.built.settings["noise"],
        findings=tuple(_findings(run, i)),
        model=KINDS[configuration.model.kind].title,
        inputs=tuple(column.name for column in encoding.columns),
        date=release.date,
        contact=configuration.contact,
    )


FINDINGS = {
    "outlier": (
        "Some values of your table lie far from all others. Ask the operator where they stand, and"
        " correct those that are errors."
    ),
    "label stands out": (
        "A label of yours lies far from all others, so that it shows in models of other parties."
        " Ask the operator where it stands, and look whether it is right."
    ),
}
"""What a party is told of its own table: that there is something, and not how others differ."""


def _findings(run: Run, i: int) -> Iterator[str]:
    """What was found about party i's own table, each kind of it once."""
    name = run.collaboration.game.names[i]
    codes = {note.code for note in run.notes if note.party == name}
    for code, text in FINDINGS.items():
        if code in codes:
            yield text


def _discloses(run: Run, i: int) -> tuple[str, ...]:
    """What the sums show that party i sent, as all agreed; nothing of one that sent rows."""
    context = run.preparation.context
    if context is None or context.plan is None or not run.contributions[i].survey.arrived:
        return ()
    return context.plan.plan.discloses


def refuse_release(run: Run) -> None:
    """Refuse a run whose models may not be handed out, before anything of it is written."""
    for i in range(run.collaboration.game.n):
        if _round_words(run, i, None).is_sent:
            _reward(run, i, None)


def _reward(run: Run, i: int, head: str | None) -> bytes:
    """Party i's new model as a file; refused where the file would tell what nobody agreed to."""
    rewards = run.preparation.configuration.rewards
    mark = None
    if head is not None:
        mark = LedgerMark(round=_round_words(run, i, head).number, head=head)
    return reward_bytes(
        replace(run.collaboration.models[i], ledger=mark),
        share_inputs=rewards.share_inputs,
        share_labels=rewards.share_labels,
    )


def _round_words(run: Run, i: int, head: str | None) -> RoundWords:
    """The round, as party i's letter tells it."""
    context = run.preparation.context
    return RoundWords(
        number=1 if context is None else context.number,
        head=head or "",
        received=run.collaboration.received[i] if run.collaboration.received else None,
        total=run.collaboration.game.total,
        waiting=run.contributions[i].assignment.waiting,
        gone=run.contributions[i].assignment.gone,
        fewest=run.contributions[i].assignment.fewest,
        spent=run.contributions[i].spent_rows,
        noisy=run.contributions[i].is_noisy,
        own=counted_in_words(run.collaboration.game, i),
    )


def _change_of(run: Run, i: int) -> PartyChange | None:
    """What changed for party i since the last round, where that can be told."""
    if run.since is None or run.since.changes is None:
        return None
    change = run.since.changes.of(run.contributions[i].id)
    return change if change is not None and change.before is not None else None


def _about_test_rows(run: Run, i: int) -> str:
    """What party i's letter says of test rows that are classes; nothing of numbers."""
    if run.scores is None or run.scores.classes is None:
        return ""
    return class_sentence(run.scores, i)


def refusal_letter(run: Run, one: LeftOut) -> str:
    """The letter of a party whose data were left out."""
    encoding = run.preparation.encoding
    return render_refusal(
        RefusalLetter(
            title=run.preparation.configuration.name,
            name=one.evidence.party,
            rows=one.rows,
            target=encoding.target,
            evidence=one.evidence,
            treatment=treatment_of(encoding, one.survey, one.evidence.party),
            contact=run.preparation.configuration.contact,
        )
    )
