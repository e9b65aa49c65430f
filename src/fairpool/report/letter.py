"""A party's letter.

It says what the party brought, what it receives, why that is fair, how to use the file, and what
the file reveals.
"""

from dataclasses import dataclass

from fairpool.audit import AgainstAlone, PartyEvidence, Uncheckable
from fairpool.outcome import Outcome
from fairpool.report import charts
from fairpool.report.evidence import EvidenceWords
from fairpool.report.prediction import PredictionWords
from fairpool.report.report import templates
from fairpool.report.rounds import RoundWords
from fairpool.report.since import letter_sentences
from fairpool.report.treatment import Treatment
from fairpool.report.words import ANSWERS, MEANINGS
from fairpool.rounds import PartyChange
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
        sha256: The reward file's fingerprint.
        reveals: What the file tells about others, sentence by sentence.
        notes: What every party should know about the model, sentence by sentence.
        copies: What was found of copies among its rows, sentence by sentence.
        treatment: What was done to the party's own table.
        against_alone: How its reward predicts beside its own data's model.
        uncheckable: What of its data has to be taken on trust.
        evidence: What its labels say.
        round: The round, and what the party holds after it; None: of a single collaboration.
        since: What changed for it since the last round; None where there was none.
        scores: How test rows are predicted, as a sentence; empty: a comparison says enough.
    """

    title: str
    target: Target
    file: str
    sha256: str
    reveals: tuple[str, ...]
    notes: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    treatment: Treatment | None = None
    against_alone: AgainstAlone | None = None
    uncheckable: Uncheckable | None = None
    evidence: PartyEvidence | None = None
    round: RoundWords | None = None
    since: PartyChange | None = None
    scores: str = ""


def render_letter(result: Outcome, party: int, letter: Letter) -> str:
    """One party's letter as HTML.

    It shows the party's own v_i, phi_i and r_i, v_N, rho and the verdicts, and nothing of any other
    party's: a witness or the table of all values would tell about others.
    """
    game = result.game
    model = result.models[party]
    alone = float(game.alone[party])
    reward = float(result.rewards[party])
    chart = None
    if game.total > 0:  # shares of nothing cannot be drawn
        shares = charts.share_chart(alone, reward, game.total)
        if letter.round is not None and letter.round.keeps is not None:
            shares = charts.share_chart(
                alone, letter.round.keeps, game.total, received="what you hold"
            )
        chart = charts.as_svg(shares)
    since: tuple[str, ...] = ()
    if letter.since is not None:
        since = letter_sentences(letter.since)
    verdicts = []
    for condition in SHOWN:
        answer = ANSWERS[result.incentives[condition].holds]
        verdicts.append((MEANINGS[condition], answer))
    template = templates().get_template("letter.html.j2")
    return template.render(
        name=game.names[party],
        letter=letter,
        rows=game.rows[party],
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
        received=model.mechanism.words.received(model.level, letter.target),
        verdicts=verdicts,
        since=since,
        prediction=PredictionWords(names=letter.target.comparison),
        evidence_words=EvidenceWords(),
        kept=None if result.kept is None else float(result.kept[party]),
        chart=chart,
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
    """

    title: str
    name: str
    rows: int
    target: Target
    evidence: PartyEvidence
    treatment: Treatment | None = None


def render_refusal(letter: RefusalLetter) -> str:
    """The letter of a party whose data were left out, as HTML."""
    template = templates().get_template("refusal.html.j2")
    return template.render(letter=letter, evidence_words=EvidenceWords())
