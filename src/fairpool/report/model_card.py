"""A model card: what somebody should know who meets a reward file without its letter.

It says what the letter says of the model, with the letter's digits, and nothing of how rewards came
about: whoever is given the model may be given its card.
"""

import re

from fairpool.__about__ import __version__
from fairpool.errors import printable
from fairpool.outcome import Outcome
from fairpool.report.evidence import EvidenceWords
from fairpool.report.letter import Letter
from fairpool.report.noisy_sums import has_noise, own_in_words, rows_in_words
from fairpool.report.prediction import PredictionWords
from fairpool.report.report import templates

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|&~$!])")
"""What Markdown might take for more than a letter."""


def as_markdown(text: str) -> str:
    r"""A text as Markdown shows it, letter by letter.

    >>> print(as_markdown("a|b <i>_c_</i>"))
    a\|b \<i\>\_c\_\</i\>
    """
    return SPECIAL.sub(r"\\\1", printable(text))


def render_card(result: Outcome, party: int, letter: Letter, *, sha256: str) -> str:
    """The card of one party's model, as Markdown.

    Args:
        result: The collaboration.
        party: The party's place.
        letter: What its letter says.
        sha256: Of the reward file; empty in a preview.
    """
    game = result.game
    model = result.models[party]
    prediction = PredictionWords(names=letter.target.comparison)
    scores = []
    if letter.against_alone is not None:
        scores = prediction.sentences(letter.against_alone)
    template = templates().get_template("model-card.md.j2")
    return template.render(
        md=as_markdown,
        name=game.names[party],
        letter=letter,
        sha256=sha256,
        version=__version__,
        rows=rows_in_words(game, party),
        is_one_row=game.rows[party] == 1,
        is_noisy=has_noise(game, party),
        others=game.n - 1,
        alone=float(game.alone[party]),
        worth=model.value,
        total=game.total,
        received=model.mechanism.words.received(
            model.level, letter.target, own=own_in_words(game, party)
        ),
        scores=scores,
        prediction=prediction,
        limits=_limits(letter, prediction),
    )


def _limits(letter: Letter, prediction: PredictionWords) -> list[str]:
    """What the model cannot be relied on for, sentence by sentence."""
    limits = [*letter.notes]
    words = EvidenceWords()
    if letter.evidence is not None and words.accused(letter.evidence):
        limits += words.sentences(letter.evidence)
    if letter.uncheckable is not None and letter.uncheckable.rows:
        limits.append(prediction.taken_on_trust(letter.uncheckable))
    if letter.noise:
        limits.append(f"Labels were taken to be noisy, everybody's alike: {letter.noise}.")
    return limits
