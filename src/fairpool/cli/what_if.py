"""What `fairpool plan --what-if` shows; its tables fit on a screen of 60 columns."""

from pathlib import Path
from typing import TYPE_CHECKING

from fairpool.cli.screen import MOST_SENTENCES, Screen
from fairpool.errors import PlanError, few, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from fairpool.consortium.planning.simulating import Simulated
    from fairpool.consortium.planning.what_if import WhatIf
    from fairpool.consortium.planning.what_if_refusals import Refusal
    from fairpool.tables.arrays import FloatArray


SHOWN = 8
"""So many parties are named in a cell."""

REFUSED = "*"
"""Before what the rules would refuse."""

NARROWEST = 8
"""A column of names or lists is never narrower, so that its heading is whole."""


def show_what_if(show: Screen, folder: Path, sizes: str | None) -> None:
    """Ask what a plan would give to parties of these sizes, and show it."""
    if sizes is None:
        raise PlanError(
            "--what-if: give --sizes, how many rows each party may have, such as --sizes"
            " 200,80,1200, or --sizes North=200,South=80"
        )
    from fairpool.compute.workers import Workers
    from fairpool.consortium.planning.what_if import what_if
    from fairpool.consortium.planning.what_if_refusals import refusals
    from fairpool.consortium.planning.what_if_words import as_plain, assumptions, noise_and_prior

    with show.progress() as progress:
        found = what_if(folder, sizes, Workers(progress=progress))
    show.give(as_plain(found))
    refused = refusals(found)
    show.describe(
        {
            "model": f"{found.configured.weights} weights",
            **found.settings,
            "noise and prior": noise_and_prior(found),
            "rho": _configured_rho(found),
        }
    )
    show.say("")
    _show_parties(show, found, refused)
    _show_otherwise(show, found)
    _show_weights(show, found)
    _say_noise(show, found)
    texts = [refusal.text for refusal in refused]
    _say_all(show, "Whom the rules would refuse:", texts or ["nobody"])
    if found.discloses:
        _say_all(show, "What a file of sums discloses:", found.discloses)
    _say_all(show, "What these figures rest on:", assumptions(found))
    show.say("Nothing was written, and no party's table was looked for.")


def _configured_rho(found: "WhatIf") -> str:
    """The configured rho, and which number a word stands for."""
    name = next(iter(found.question.rhos))
    number = _number_of(found, name)
    return f"{name} ({number})" if number else name


def _number_of(found: "WhatIf", rho: str) -> str:
    """Which number a word such as "stable" stands for; of numbers nothing."""
    if not isinstance(found.question.rhos[rho], str):
        return ""
    return _of(found.simulated.rhos[rho])


def _show_parties(show: Screen, found: "WhatIf", refused: "Sequence[Refusal]") -> None:
    """What parties' data are worth, and what they receive at several rhos."""
    simulated = found.simulated
    parties = {refusal.party for refusal in refused}
    rhos = {refusal.rho for refusal in refused}
    brought = _table(["party"], ["rows", "alone", "contributes"], [])
    heads = [f"rho =\n{rho}\n{_number_of(found, rho)}" for rho in simulated.rewards]
    received = _table(["party"], heads, [])
    for i, size in enumerate(found.question.sizes):
        name = printable(size.name)
        is_refused = size.name in parties
        brought.add_row(
            name,
            _marked(str(size.rows), is_refused),
            _percent(simulated.alone[:, i]),
            _percent(simulated.contributions[:, i]),
        )
        cells = [
            _marked(_percent(rewards[:, i]), is_refused or rho in rhos)
            for rho, rewards in simulated.rewards.items()
        ]
        received.add_row(name, *cells)
    show.say(
        f"What parties bring, in percent of what all data are worth ({_of(simulated.totals)} nats),"
        f" as the mean ± the standard deviation of {simulated.count} draws:"
    )
    show.say(brought)
    show.say("What they receive at each rho, in percent of the same:")
    show.say(received)
    reasons = []
    if any(parties):
        reasons.append("too few rows")
    if any(rhos):
        reasons.append("a rho at which some party would get less than it has alone")
    if reasons:
        show.say(f"{REFUSED} would be refused: {' or '.join(reasons)}; more about it below")
        show.say("")


def _show_otherwise(show: Screen, found: "WhatIf") -> None:
    """What becomes of the figures if the first round learns otherwise."""
    from fairpool.consortium.planning.what_if_words import change_in_words, words_of_otherwise

    if not found.otherwise:
        return
    drawn = _table([""], ["all data,\nnats"], ["alone,\n%", "receive,\n%"])
    for one in found.otherwise:
        drawn.add_row(
            change_in_words(found, one),
            _of(one.simulated.totals),
            _means(one.simulated.alone),
            _receive(found, one.simulated),
        )
    show.say(f"{words_of_otherwise(found)}; parties in their order, {_at(found)}:")
    show.say(drawn)
    _explain_mark(show, [one.simulated for one in found.otherwise], found)


def _show_weights(show: Screen, found: "WhatIf") -> None:
    """Over the number of weights: who may take part, and what all data are worth."""
    from fairpool.consortium.planning.what_if_words import words_of_weights

    drawn = _table(
        ["weights"],
        ["rows, at\nleast", "rows for\nsums", "all data,\nnats"],
        ["refused", "receive,\n%"],
    )
    for outlook in found.outlooks:
        simulated = outlook.simulated
        total, receive = "-", "would take too long"
        if simulated is not None:
            total = f"{simulated.totals.mean():.3g}"
            receive = _receive(found, simulated)
        drawn.add_row(
            str(outlook.weights),
            str(outlook.rows_needed),
            str(outlook.sums_needed) if found.sums_are_possible else "-",
            total,
            printable(few(outlook.refused(found.question.sizes), SHOWN)) or "nobody",
            receive,
        )
    show.say(f"{words_of_weights(found)}; parties in their order, {_at(found)}:")
    show.say(drawn)
    _explain_mark(show, [outlook.simulated for outlook in found.outlooks], found)


def _at(found: "WhatIf") -> str:
    return f"at rho = {next(iter(found.question.rhos))}"


def _receive(found: "WhatIf", simulated: "Simulated") -> str:
    """Everybody's rewards at the configured rho, marked where a run would refuse it."""
    rho = next(iter(found.question.rhos))
    return _marked(_means(simulated.rewards[rho]), _is_refused(found, simulated))


def _is_refused(found: "WhatIf", simulated: "Simulated") -> bool:
    return bool(simulated.below_own[next(iter(found.question.rhos))].any())


def _explain_mark(show: Screen, rows: "Sequence[Simulated | None]", found: "WhatIf") -> None:
    """What the mark means, if it stands before any rewards of a table."""
    if any(simulated is not None and _is_refused(found, simulated) for simulated in rows):
        show.say(f"{REFUSED} some party would get less than it has alone: a run would be refused")
        show.say("")


def _say_noise(show: Screen, found: "WhatIf") -> None:
    from fairpool.consortium.planning.what_if_words import noise_in_words

    sentences = []
    for i, size in enumerate(found.question.sizes):
        sentences.append(f"{size.name}: {noise_in_words(found, i)}")
    title = f"Noise on the others' labels {_at(found)}, the median of all draws:"
    _say_all(show, title, sentences)


def _say_all(show: Screen, title: str, sentences: "Sequence[str]") -> None:
    """Sentences below a title; of very many, the first ones."""
    show.say(title)
    for sentence in sentences[:MOST_SENTENCES]:
        show.say(f"- {sentence}")
    more = len(sentences) - MOST_SENTENCES
    if more > 0:
        show.say(f"- and {more} more; --json has all")
    show.say("")


def _table(left: "Sequence[str]", right: "Sequence[str]", last: "Sequence[str]") -> "Table":
    """A table of names or words, then numbers, which are never cut, then lists.

    Args:
        left: The headings of names or words.
        right: Those of numbers.
        last: Those of lists.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    drawn = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for head in left:
        drawn.add_column(head, overflow="fold", min_width=NARROWEST)
    for head in right:
        drawn.add_column(head.rstrip(), justify="right", no_wrap=True)
    for head in last:
        drawn.add_column(head, overflow="fold", min_width=NARROWEST)
    return drawn


def _marked(cell: str, is_refused: bool) -> str:
    return f"{REFUSED}{cell}" if is_refused else cell


def _percent(shares: "FloatArray") -> str:
    mean = f"{100 * shares.mean():.1f}"
    deviation = f"{100 * shares.std(ddof=1):.1f}"
    return mean if deviation == "0.0" else f"{mean} ± {deviation}"


def _means(shares: "FloatArray") -> str:
    """The mean share of each party, in percent."""
    return few([f"{100 * mean:.0f}" for mean in shares.mean(axis=0)], SHOWN)


def _of(numbers: "FloatArray") -> str:
    """A mean to three digits, and how far single draws are from it, if they are."""
    mean = f"{numbers.mean():.3g}"
    deviation = numbers.std(ddof=1)
    # Equal numbers differ from their mean by rounding.
    return mean if deviation <= 1e-9 * abs(numbers.mean()) else f"{mean} ± {deviation:.1g}"
