"""Since last time, in words and as a table: whose reward moved, and by what.

The report has everybody's parts. A letter has those of its own party, with all that is due to
others in one number, and to a tenth of a nat (`docs/privacy.md`).
"""

from rich.table import Table
from rich.text import Text

from fairpool.report.held import Held, Standing
from fairpool.report.words import as_percent
from fairpool.rounds import Changes, PartyChange
from fairpool.rounds.factors import JOINERS, LEAVERS, OTHERS_DATA, OWN_DATA, TERMS

TITLES = {
    OWN_DATA: "own data",
    OTHERS_DATA: "others' data",
    JOINERS: "joiners",
    LEAVERS: "leavers",
    TERMS: "terms",
}
"""Each factor as the heading of a column."""

BECAUSE = {
    OWN_DATA: "its own data",
    OTHERS_DATA: "the data of others who were there before",
    JOINERS: "who joined",
    LEAVERS: "who left",
    TERMS: "the terms",
}
"""Each factor as a cause, in the report."""

MEANINGS = {
    OWN_DATA: "its own rows, new, withdrawn or corrected",
    OTHERS_DATA: "the rows of others who take part in both rounds",
    JOINERS: "parties that are new, all together",
    LEAVERS: "parties that are gone, all together",
    TERMS: (
        "ρ as asked for, how contributions are measured, and what is kept where labels harm. A"
        " word such as “stable” is looked up anew in every round: a ρ that moves with the data is"
        " no change of terms"
    ),
}
"""What each factor is."""

RULE = "Rewards as the rule gives them, whatever a party holds already, or wants at most."
"""Of the numbers before and now."""

REPORT_DIGITS = 2
LETTER_DIGITS = 1


def signed(nats: float, digits: int = REPORT_DIGITS) -> str:
    """A difference with its sign.

    >>> signed(1.234), signed(-0.5), signed(-0.001)
    ('+1.23', '−0.50', '0.00')
    """
    rounded = round(nats, digits)
    if rounded == 0:
        return f"{0:.{digits}f}"
    return f"{rounded:+.{digits}f}".replace("-", "−")


def by_reward(changes: Changes) -> tuple[PartyChange, ...]:
    """The parties by their reward now, the largest first; those who left come last."""

    def rank(party: PartyChange) -> tuple[bool, float]:
        reward = party.before if party.after is None else party.after
        return party.after is None, -(reward or 0.0)

    return tuple(sorted(changes.parties, key=rank))


def since_table(changes: Changes) -> Table:
    """One row per party, for a terminal."""
    before, after = changes.before, changes.after
    table = Table(
        caption=RULE,
        title=(
            f"round {before.number} to round {after.number}: v_N {before.total:.2f} to"
            f" {after.total:.2f} nats, rho {before.rho:.4g} to {after.rho:.4g}"
        ),
    )
    table.add_column("party")
    for heading in ("before", "now", "of the\nbest", "moved"):
        table.add_column(heading, justify="right")
    for factor in changes.factors:
        table.add_column(TITLES[factor].replace(" ", "\n"), justify="right")
    keeps = somebody_keeps(changes)
    if keeps:
        table.add_column("new\nmodel", justify="right")
    for party in by_reward(changes):
        cells = cells_of(party, changes.factors)
        if keeps:
            cells.append(sent_in_table(party))
        # Not a string, in which rich would read [brackets] as markup.
        table.add_row(Text(called(party)), *cells)
    return table


def somebody_keeps(changes: Changes) -> bool:
    """Whether some party was sent no new model in the later round."""
    return any(party.sent is False for party in changes.parties)


def sent_in_table(party: PartyChange) -> str:
    """Whether a party was sent a new model in the later round; nothing of one that left."""
    if party.sent is None:
        return "–"
    return "yes" if party.sent else "no"


def called(party: PartyChange) -> str:
    """A party's name, and its former one."""
    if party.former_name is None:
        return party.name
    return f"{party.name} (was {party.former_name})"


def cells_of(party: PartyChange, factors: tuple[str, ...]) -> list[str]:
    """A party's numbers: before, now, the share of the best, moved, and its parts."""
    numbers = [
        "new" if party.before is None else f"{party.before:.2f}",
        "left" if party.after is None else f"{party.after:.2f}",
        _shares(party),
        "–" if party.moved is None else signed(party.moved),
    ]
    return [*numbers, *(_part(party, factor) for factor in factors)]


def _shares(party: PartyChange) -> str:
    """The shares of the best model's information, before and now, as far as there are any."""
    shares = [party.share_before, party.share_after]
    known = [as_percent(share) for share in shares if share is not None]
    return " → ".join(known) or "–"


def _part(party: PartyChange, factor: str) -> str:
    if party.parts is None:
        return "–"
    part = signed(party.parts.by_factor[factor])
    if party.errors is None:
        return part
    error = f"{party.errors.by_factor[factor]:.{REPORT_DIGITS}f}"
    if error == signed(0.0):
        return part
    return f"{part} ± {error}"


def operator_sentence(party: PartyChange) -> str:
    """How one party's reward moved, and by what, for the operator alone."""
    opening = _opening(f"{party.name}'s {_what_moved(party)}", party)
    causes = []
    if party.parts is not None:
        for factor, part in party.parts.by_factor.items():
            causes.append(_cause(part, BECAUSE[factor], digits=REPORT_DIGITS))
    moved = _with_causes(opening, causes)
    if party.sent is not False:
        return moved
    assert party.after is not None
    assert party.holds is not None
    return f"{moved} {_kept(holds=party.holds, share=party.after)}"


def _what_moved(party: PartyChange) -> str:
    """A reward; the share of a party that was sent nothing, and so has received none."""
    return "share" if party.sent is False else "reward"


def _kept(*, holds: float, share: float) -> str:
    """That a party was sent nothing, and why."""
    nothing = "It was sent no new model: what it holds is worth"
    standing = Held(holds=holds, due=share, total=share).standing
    if standing is Standing.MORE:
        return f"{nothing} {holds:.2f} nats already, which is more."
    if standing is Standing.SHARE:
        return f"{nothing} as much already."
    return f"{nothing} {holds:.2f} nats, and none of the others' data were new to it."


def letter_sentences(change: PartyChange) -> tuple[str, ...]:
    """What a party is told of its own reward: what is due to its data, to others, and to terms."""
    if change.before is None:
        return ("You did not take part last time, so there is nothing to compare with.",)
    opening = _opening(f"Your {_what_moved(change)}", change)
    if change.parts is None:
        return (f"{opening}.", "By what it moved cannot be told apart this time.")
    causes = [
        _cause(change.parts.own_data, "your own data", digits=LETTER_DIGITS),
        _cause(change.parts.others, "what changed with the others", digits=LETTER_DIGITS),
        _cause(change.parts.terms, "the terms", digits=LETTER_DIGITS),
    ]
    sentences = [_with_causes(opening, causes)]
    if change.errors is not None:
        sentences.append("These parts are estimates, since there are many parties.")
    return tuple(sentences)


def _cause(part: float, cause: str, *, digits: int) -> str:
    """A part and its cause; empty where it is rounded to nothing."""
    text = signed(part, digits)
    if text == signed(0.0, digits):
        return ""
    return f"{text} because of {cause}"


def _with_causes(opening: str, causes: list[str]) -> str:
    found = [cause for cause in causes if cause]
    if not found:
        return f"{opening}."
    # The unit once: the others follow it.
    first = found[0].replace(" because", " nats because", 1)
    return f"{opening}: {', '.join([first, *found[1:]])}."


def _opening(whose: str, party: PartyChange) -> str:
    """How a reward moved, in nats and as a share of the best model's information."""
    assert party.before is not None
    assert party.after is not None
    nats = f"from {party.before:.2f} to {party.after:.2f} nats"
    verb = _verb(signed(party.after - party.before))
    if party.share_before is None or party.share_after is None:
        return f"{whose} {verb} {nats}"
    old, new = as_percent(party.share_before), as_percent(party.share_after)
    best = "of the best model's information"
    if verb == "stayed":
        if old == new:
            return f"{whose} is what it was, {party.after:.2f} nats and {new} {best}"
        now = f"that is now {new} {best} ({old} before)"
        return f"{whose} is what it was, {party.after:.2f} nats; {now}"
    if old == new:
        return f"{whose} {verb} {nats}, and is {new} {best} as before"
    grew = party.share_after > party.share_before
    if grew == (verb == "rose"):
        return f"{whose} {verb} from {old} to {new} {best} ({nats})"
    other = "grew" if verb == "rose" else "shrank"
    now = f"that is {new} of it ({old} before)"
    return f"{whose} {verb} {nats}; as the best model {other} more, {now}"


def _verb(difference: str) -> str:
    if difference.startswith("+"):
        return "rose"
    if difference.startswith("−"):
        return "fell"
    return "stayed"
