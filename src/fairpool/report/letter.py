"""A party's letter.

It says what the party brought, what it receives, why that is fair, how to use the file, and what
the file reveals.
"""

from dataclasses import dataclass

from fairpool.__about__ import __version__
from fairpool.audit import AgainstAlone, PartyEvidence, Uncheckable
from fairpool.outcome import Outcome
from fairpool.report import reasons
from fairpool.report.evidence import EvidenceWords
from fairpool.report.noisy_sums import (
    has_noise,
    meanings_for,
    own_in_words,
    rows_in_words,
)
from fairpool.report.prediction import PredictionWords
from fairpool.report.report import templates
from fairpool.report.rounds import RoundWords
from fairpool.report.share_chart import share_svg
from fairpool.report.since import letter_sentences
from fairpool.report.treatment import Treatment
from fairpool.report.words import ANSWERS
from fairpool.rounds import PartyChange
from fairpool.signatures import PublicKey
from fairpool.targets import Target

SHOWN = ("R2", "R4", "R5", "stable")
"""The verdicts that matter to a single party."""


@dataclass(frozen=True, kw_only=True)
class Letter:
    """What a letter says beyond the numbers.

    Attributes:
        title: The collaboration's name.
        target: What is predicted.
        file: The reward file's name.
        reveals: What the file tells about others, sentence by sentence.
        notes: What every party should know about the model, sentence by sentence.
        copies: What was found of copies among its rows, sentence by sentence.
        treatment: What was done to the party's own table.
        discloses: What sums that it sent show, and to whom, sentence by sentence.
        against_alone: How its reward predicts beside its own data's model.
        uncheckable: What of its data has to be taken on trust.
        evidence: What its labels say.
        round: The round, and what the party holds after it; None: of a single collaboration.
        since: What changed for it since the last round; None where there was none.
        scores: How test rows are predicted, as a sentence; empty: a comparison says enough.
        operator: Who signs it; None: nobody.
        noise: How noisy labels are taken to be, in words; empty: nothing is said of it.
        findings: What was found about its own table, sentence by sentence.
        model: What kind of model it is, in words.
        inputs: The columns that it predicts from.
        date: When it was released, such as "2026-03-01"; empty in a preview.
        contact: Whom to ask; None: nobody is named.
    """

    title: str
    target: Target
    file: str
    reveals: tuple[str, ...]
    notes: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    treatment: Treatment | None = None
    discloses: tuple[str, ...] = ()
    against_alone: AgainstAlone | None = None
    uncheckable: Uncheckable | None = None
    evidence: PartyEvidence | None = None
    round: RoundWords | None = None
    since: PartyChange | None = None
    scores: str = ""
    operator: PublicKey | None = None
    noise: str = ""
    findings: tuple[str, ...] = ()
    model: str = ""
    inputs: tuple[str, ...] = ()
    date: str = ""
    contact: str | None = None


def render_letter(result: Outcome, party: int, letter: Letter) -> str:
    """One party's letter as HTML, with empty places (`fairpool.report.sealed_letter`).

    It shows the party's own v_i, phi_i and r_i, v_N, rho and the verdicts, and nothing of any other
    party's: a witness or the table of all values would tell about others.
    """
    game = result.game
    model = result.models[party]
    alone = float(game.alone[party])
    reward = float(result.rewards[party])
    chart = None
    if game.total > 0:  # shares of nothing cannot be drawn
        keeps = None if letter.round is None else letter.round.keeps
        if keeps is None:
            chart = share_svg(alone, reward, game.total)
        else:
            chart = share_svg(alone, keeps, game.total, received="what you hold")
    since: tuple[str, ...] = ()
    if letter.since is not None:
        since = letter_sentences(letter.since)
    is_noisy = has_noise(game, party)
    meanings = meanings_for(is_noisy=is_noisy)
    verdicts = []
    for condition in SHOWN:
        answer = ANSWERS[result.incentives[condition].holds]
        verdicts.append((meanings[condition], answer))
    template = templates().get_template("letter.html.j2")
    return template.render(
        name=game.names[party],
        letter=letter,
        version=__version__,
        rows=rows_in_words(game, party),
        is_one_row=game.rows[party] == 1,
        has_no_rows=game.rows[party] == 0 and not is_noisy,
        is_noisy=is_noisy,
        can_exchange=model.posterior.others is not None,
        parties=game.n,
        alone=alone,
        contribution=float(result.contributions.values[party]),
        contribution_in_words=result.contributions.concept.words.letter,
        standard_error=float(result.contributions.standard_errors[party]),
        share=float(result.scheme.shares[party]),
        reward=reward,
        worth=model.value,
        total=game.total,
        rho=result.rho,
        received=model.mechanism.words.received(
            model.level, letter.target, own=own_in_words(game, party)
        ),
        verdicts=verdicts,
        open_in_words=_open_in_words(result),
        reasons=reasons.letter_sentences(result, party, letter.noise),
        since=since,
        prediction=PredictionWords(names=letter.target.comparison),
        evidence_words=EvidenceWords(),
        kept=None if result.kept is None else float(result.kept[party]),
        chart=chart,
    )


def _open_in_words(result: Outcome) -> str:
    """What an open verdict means to a party; empty: none of those that a letter shows is open.

    A verdict's own reason may tell about others, so it is not for letters.
    """
    if all(result.incentives[condition].holds is not None for condition in SHOWN):
        return ""
    if result.contributions.exact:
        return "“Open” is what could not be decided."
    return (
        "“Open” is what could not be decided: of so many parties contributions are estimated, and"
        " this is about exact ones, or about more groups than can be looked at."
    )


@dataclass(frozen=True, kw_only=True)
class RefusalLetter:
    """What a party is told whose data were left out.

    Attributes:
        title: The collaboration's name.
        name: The party.
        rows: How many rows it sent.
        target: What is predicted.
        evidence: What was found.
        treatment: What was done to its table.
        contact: Whom to ask; None: nobody is named.
    """

    title: str
    name: str
    rows: int
    target: Target
    evidence: PartyEvidence
    treatment: Treatment | None = None
    contact: str | None = None


def render_refusal(letter: RefusalLetter) -> str:
    """The letter of a party whose data were left out, as HTML."""
    template = templates().get_template("refusal.html.j2")
    return template.render(letter=letter, evidence_words=EvidenceWords())
