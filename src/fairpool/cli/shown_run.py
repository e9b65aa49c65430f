"""A run on the screen: the table, its sentences, what was noticed, and where the files are."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fairpool.cli.screen import MOST_SENTENCES, Screen
from fairpool.notes import Note

if TYPE_CHECKING:
    from fairpool.consortium.run import Run


def show_run(show: Screen, done: "Run", out: Path | None, *, released: bool) -> None:
    """What a run found, and where it is.

    Args:
        show: Where to print.
        done: The run.
        out: Where its files are; None: nowhere.
        released: Whether there are models among them; otherwise it was a preview.
    """
    from fairpool.consortium.folders import folder_names

    result = done.collaboration
    show.say(result.table())
    if result.game.n <= MOST_SENTENCES:
        for sentence in result.explain():
            show.say(sentence)
    for left_out in done.left_out:
        show.say(f"{left_out.evidence.party} is left out, and receives a letter but no model.")
    show_notes(show, done.notes, released=released)
    show.say("")
    if not released:
        show.say("This is a preview: nothing was released, and no model was written.")
    if out is None:
        return
    show.say(f"Report: {out / 'operator' / 'report.html'}  (for the operator alone)")
    if not released:
        show.say(f"For each party, a letter as it would be: {out / 'parties'}")
        return
    if result.received and not any(received.sent for received in result.received):
        show.say(f"For each party, a letter to hand out; all keep their models: {out / 'parties'}")
        return
    show.say(f"For each party, a model and a letter to hand out: {out / 'parties'}")
    for received in result.received:
        if not received.sent:
            show.say(f"  {received.model.party}: a letter alone; it keeps the model that it has")
    for name, folder in zip(result.game.names, folder_names(result.game.names), strict=True):
        if folder != name.replace(" ", "-"):  # it was changed, and cannot be guessed
            show.say(f"  {name}: {folder}")


def show_notes(show: Screen, notes: Sequence[Note], *, released: bool) -> None:
    """What was noticed, the gravest first, under the headings of the report.

    Args:
        show: Where to.
        notes: All of it.
        released: Whether the round was released; otherwise it was a preview.
    """
    from fairpool.report.gravity import by_gravity

    for group in by_gravity(notes, released=released):
        show.say("")
        show.say(f"{group.title} ({len(group)}):")
        if group.advice:
            show.say(group.advice)
        for kind in group.kinds:
            for text in kind.first:
                show.say(f"- {text}")
            if kind.folded:
                show.say(f"- and {len(kind.folded)} more of this kind; --json has all")
