"""What the commands print, and how errors end them.

Results go to standard output, progress and errors to standard error. Names of files, columns and
parties may come from somebody else, so every text is made `printable` here, in which a terminal
finds nothing to obey. Every command loads this module, so what takes time to load (rich, and all
that computes) is imported where it is used.
"""

import json
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from fairpool.errors import FairpoolError, few, is_printable, printable
from fairpool.notes import Note

if TYPE_CHECKING:
    from fairpool.consortium.column_table import ColumnCell, ColumnSummary
    from fairpool.consortium.preparation import Preparation

MOST_SENTENCES = 24
"""Of more parties, the terminal shows the table alone; the report has a sentence for each."""

MOST_COLUMNS = 40
MOST_OWNERS = 24
"""Of more columns or owners, the terminal shows the first ones; --json has all."""

SHOWN_LEVELS = 6
"""So many levels of a column are shown."""

SHOWN_FEATURES = 20
"""So many of the model's inputs that are made of one column are shown."""


@dataclass(frozen=True)
class Screen:
    """Where to print: results to standard output, progress and errors to standard error."""

    quiet: bool
    as_json: bool

    def say(self, thing: Any) -> None:
        """Print a line, or something that rich draws, for a person, unless asked not to."""
        if self.quiet or self.as_json:
            return
        if isinstance(thing, str):
            thing = printable(thing)
        _console().print(thing)

    def say_unbroken(self, line: str) -> None:
        """Print a line that people copy or compare: in one piece, however narrow the screen."""
        if not self.quiet and not self.as_json:
            _console().print(printable(line), soft_wrap=True)

    def describe(self, entries: Mapping[str, Any]) -> None:
        """Print what something is, one entry a line, for a person, unless asked not to."""
        if self.quiet or self.as_json:
            return
        console = _console()
        width = max(len(key) for key in entries) + 2
        lines = {f"{key}:": printable(str(value)) for key, value in entries.items()}
        if not console.is_terminal:
            for key, value in lines.items():
                print(f"{key:{width}}{value}")
            return
        from rich.table import Table
        from rich.text import Text

        # Two columns, since a long value must not go on where a key would stand: it could look like
        # an entry of its own.
        grid = Table.grid()
        grid.add_column(width=width)
        grid.add_column(overflow="fold")
        for key, value in lines.items():
            grid.add_row(key, Text(value))
        console.print(grid)

    def give(self, result: Any) -> None:
        """Print for a program, if asked to."""
        if self.as_json:
            print(_as_json(result))

    def refuse(self, error: FairpoolError, seen: Mapping[str, Any]) -> NoReturn:
        """End the command with an error, and with what was seen, for a program."""
        if self.as_json:
            print(_as_json({"errors": list(error.problems), **seen}))
            raise typer.Exit(2)
        raise error

    @contextmanager
    def progress(self) -> Iterator[Any]:
        """A bar that says what is being done, how much of it is, and for how long."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn()
        if self._hides_progress(console):
            yield _show_nothing
            return
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("starting", total=None)

            def show(text: str, done: int = 0, total: int | None = None) -> None:
                bar.update(task, description=printable(text), completed=done, total=total)

            yield show

    def warn(self, notes: Iterable[Note]) -> None:
        """Print notes to standard error, whatever is asked for on standard output."""
        for note in notes:
            print(f"Warning: {printable(note.text)}", file=sys.stderr)

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
        if self._hides_progress(console):
            yield _show_nothing
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=console) as bar:
            tasks: dict[str, Any] = {}

            def show(figure: str, done: int, total: int) -> None:
                if figure not in tasks:
                    tasks[figure] = bar.add_task(figure, total=total)
                bar.update(tasks[figure], completed=done)

            yield show

    def _hides_progress(self, console: Any) -> bool:
        # In a file or a pipe the bar would leave a line for each of its states.
        return self.quiet or self.as_json or not console.is_terminal


def _show_nothing(*_: Any) -> None:
    """No bar; one that is switched off would leave an empty line, before rich 14.3."""


def _console() -> Any:
    from rich.console import Console

    class Plain(Console):
        """A reader who has gone, as `head` has, is no reason to end without a word."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    # A party may be called [red] or :skull:.
    return Plain(highlight=False, markup=False, emoji=False)


def _as_json(result: Any) -> str:
    """JSON with letters of every script as they are, and escaped what a terminal would obey."""
    text = json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False)
    lines = []
    for line in text.split("\n"):  # JSON's own: one within a text is escaped
        if is_printable(line):
            lines.append(line)
        else:
            lines.append("".join(_json_sign(sign) for sign in line))
    return "\n".join(lines)


def _json_sign(sign: str) -> str:
    return sign if is_printable(sign) else json.dumps(sign)[1:-1]


@contextmanager
def screen(quiet: bool, as_json: bool) -> Iterator[Screen]:
    """Turn errors that a user can cause into a message and exit code 2."""
    try:
        yield Screen(quiet, as_json)
    except FairpoolError as error:
        _complain(as_json, *error.problems)
        raise typer.Exit(2) from None
    except BrokenPipeError:
        # The reader has enough, as `head` has. Without this line Python would complain once more,
        # when it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except OSError as error:
        _complain(as_json, f"{error.filename or 'a file'}: {error.strerror or error}")
        raise typer.Exit(2) from None
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        # A fault of ours; but a traceback would not help an operator.
        if os.environ.get("FAIRPOOL_DEBUG"):
            raise
        what = f"{type(error).__name__}: {error}"
        _complain(as_json, f"unexpected: {what}; nothing was written")
        print("(this is a fault of fairpool; set FAIRPOOL_DEBUG=1 to see where)", file=sys.stderr)
        raise typer.Exit(2) from None
    except KeyboardInterrupt as interrupt:
        why = printable(str(interrupt)) or "nothing was written"
        print(f"stopped; {why}", file=sys.stderr)
        raise typer.Exit(130) from None


def _complain(as_json: bool, *problems: str) -> None:
    """Say what went wrong, one line for each problem."""
    texts = [printable(problem) for problem in problems]
    if as_json:
        print(_as_json({"errors": texts}))
        return
    for text in texts:
        print(f"error: {text}", file=sys.stderr)


def show_preparation(
    show: Screen, preparation: "Preparation", rows: dict[str, int], *, noisy: Collection[str]
) -> None:
    """What a run would work on.

    Args:
        show: Where to.
        preparation: All that was found.
        rows: How many each party has.
        noisy: The parties whose number has noise.
    """
    from fairpool.parties.rough_counts import roughly

    for name, count in rows.items():
        show.say(f"{name}: {roughly(name in noisy)}{count} rows")
    # Of a text or an image there are as many as its encoder has dimensions.
    columns = preparation.encoding.columns
    features = ", ".join(few(column.features, SHOWN_FEATURES) for column in columns)
    show.say(f"features: {features}; target: {preparation.encoding.target.name}")
    warnings = preparation.warnings
    for warning in warnings:
        show.say(f"Warning: {warning}")
    if warnings:
        show.say(f"No errors; {len(warnings)} warning(s) above to look at before you run.")
    else:
        show.say("No problem found.")


def show_columns(show: Screen, table: Sequence["ColumnSummary"]) -> None:
    """Every column at every party, one below the other, so that one sees what does not fit."""
    # Where all send sums, there are columns, and nothing is known of them at any party.
    if show.quiet or show.as_json or not any(summary.cells for summary in table):
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    drawn = Table(title="Columns by party", box=SIMPLE_HEAD, pad_edge=False)
    drawn.add_column("column", overflow="fold")
    drawn.add_column("party", overflow="fold")
    drawn.add_column("median", justify="right", no_wrap=True)
    drawn.add_column("middle half, or levels")
    drawn.add_column("missing", justify="right", no_wrap=True)
    asks = any(summary.suspicions for summary in table)
    if asks:
        drawn.add_column("unit?")
    for summary in table[:MOST_COLUMNS]:
        _draw_column(drawn, summary, asks=asks)
    show.say(drawn)
    more = len(table) - MOST_COLUMNS
    if more > 0:
        show.say(f"and {more} more column(s); --json lists all")


def _draw_column(drawn: Any, summary: "ColumnSummary", *, asks: bool) -> None:
    """A row for each owner, with the column's name in the first and its kind in the second."""
    from rich.text import Text

    cells = summary.cells[:MOST_OWNERS]
    labels = [summary.name, f"  {summary.kind}", *[""] * len(cells)]
    if len(cells) == 1:
        labels[0] += f" ({summary.kind})"
    for number, cell in enumerate(cells):
        texts = [labels[number], cell.owner, *_cell_texts(cell, summary)]
        if asks:
            texts.append(cell.question)
        drawn.add_row(
            *(Text(printable(text)) for text in texts),
            style="bold" if cell.question else None,
            end_section=number == len(cells) - 1,
        )
    more = len(summary.cells) - len(cells)
    if more > 0:
        drawn.add_row("", Text(f"and {more} more"), end_section=True)


def _cell_texts(cell: "ColumnCell", summary: "ColumnSummary") -> list[str]:
    """Median, middle half or levels, and the share of missing values."""
    median = ""
    levels = [f"{level} {count}" for level, count in cell.levels]
    values = few(levels, SHOWN_LEVELS)
    if cell.quartiles is not None:
        median = summary.shown(cell.quartiles.median)
        values = f"{summary.shown(cell.quartiles.low)} to {summary.shown(cell.quartiles.high)}"
    missing = ""
    if cell.missing:
        missing = "under 1%" if cell.missing < 0.01 else f"{cell.missing:.0%}"
    return [median, values, missing]
