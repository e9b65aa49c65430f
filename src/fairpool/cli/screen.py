"""What the commands print, and how errors end them.

Results go to standard output, progress and errors to standard error. Every command loads this
module, so what takes time to load (rich, and all that computes) is imported where it is used.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fairpool.errors import FairpoolError
from fairpool.notes import Note

if TYPE_CHECKING:
    from fairpool.consortium.preparation import Preparation
    from fairpool.consortium.run import Run

MOST_SENTENCES = 24
"""Of more parties, the terminal shows the table alone; the report has a sentence for each."""


@dataclass(frozen=True)
class Screen:
    """Where to print: results to standard output, progress and errors to standard error."""

    quiet: bool
    as_json: bool

    def say(self, *things: Any) -> None:
        """Print for a person, unless asked not to."""
        if not self.quiet and not self.as_json:
            from rich.console import Console

            # A party may be called [red].
            Console(highlight=False, markup=False).print(*things)

    def give(self, result: Any) -> None:
        """Print for a program, if asked to."""
        if self.as_json:
            print(json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False))

    @contextmanager
    def progress(self) -> Iterator[Any]:
        """A bar that says what is being done, how much of it is, and for how long."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn()
        hidden = self._hides_progress(console)
        with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
            task = bar.add_task("starting", total=None)

            def show(text: str, done: int = 0, total: int | None = None) -> None:
                bar.update(task, description=text, completed=done, total=total)

            yield show

    def warn(self, notes: Iterable[Note]) -> None:
        """Print notes to standard error, whatever is asked for on standard output."""
        for note in notes:
            print(f"Warning: {note.text}", file=sys.stderr)

    @contextmanager
    def figures(self) -> Iterator[Any]:
        """A bar per figure."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        console = Console(stderr=True)
        hidden = self._hides_progress(console)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=console, disable=hidden) as bar:
            tasks: dict[str, Any] = {}

            def show(figure: str, done: int, total: int) -> None:
                if figure not in tasks:
                    tasks[figure] = bar.add_task(figure, total=total)
                bar.update(tasks[figure], completed=done)

            yield show

    def _hides_progress(self, console: Any) -> bool:
        # In a file or a pipe the bar would leave a line for each of its states.
        return self.quiet or self.as_json or not console.is_terminal


@contextmanager
def screen(quiet: bool, as_json: bool) -> Iterator[Screen]:
    """Turn errors that a user can cause into a message and exit code 2."""
    try:
        yield Screen(quiet, as_json)
    except FairpoolError as error:
        if as_json:
            print(json.dumps({"errors": list(error.problems)}, indent=1, ensure_ascii=False))
        else:
            for problem in error.problems:
                print(f"error: {problem}", file=sys.stderr)
        raise typer.Exit(2) from None
    except BrokenPipeError:
        # The reader has enough, as `head` has. Without this line Python would complain once more,
        # when it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except OSError as error:
        print(f"error: {error.filename or 'a file'}: {error.strerror or error}", file=sys.stderr)
        raise typer.Exit(2) from None
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        # A fault of ours; but a traceback would not help an operator.
        if os.environ.get("FAIRPOOL_DEBUG"):
            raise
        print(
            f"error: unexpected: {type(error).__name__}: {error}; nothing was written",
            file=sys.stderr,
        )
        print("(this is a fault of fairpool; set FAIRPOOL_DEBUG=1 to see where)", file=sys.stderr)
        raise typer.Exit(2) from None
    except KeyboardInterrupt as interrupt:
        print(f"stopped; {str(interrupt) or 'nothing was written'}", file=sys.stderr)
        raise typer.Exit(130) from None


def show_run(show: Screen, done: "Run", out: Path) -> None:
    """What a run found, and where it is."""
    from fairpool.consortium.output import folder_names

    result = done.collaboration
    show.say(result.table())
    if result.game.n <= MOST_SENTENCES:
        for sentence in result.explain():
            show.say(sentence)
    for warning in done.warnings:
        show.say(f"Warning: {warning}")
    show.say(f"\nReport: {out / 'operator' / 'report.html'}  (for the operator alone)")
    show.say(f"For each party, a model and a letter to hand out: {out / 'parties'}")
    for name, folder in zip(result.game.names, folder_names(result.game.names), strict=True):
        if folder != name.replace(" ", "-"):  # it was changed, and cannot be guessed
            show.say(f"  {name}: {folder}")


def show_preparation(show: Screen, preparation: "Preparation", rows: dict[str, int]) -> None:
    """What a run would work on."""
    for name, count in rows.items():
        show.say(f"{name}: {count} rows")
    features = ", ".join(preparation.encoding.features)
    show.say(f"features: {features}; target: {preparation.encoding.target.name}")
    for warning in preparation.warnings:
        show.say(f"Warning: {warning}")
    show.say("No problem found.")
