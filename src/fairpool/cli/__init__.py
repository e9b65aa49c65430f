"""The command `fairpool`: one file per command, thin over the library.

Only what every command needs is imported here. Each command imports the rest itself, so that help,
the version and wrong usage are answered at once, and a party that only predicts does not wait for
charts.
"""

import sys
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fairpool.__about__ import __version__
from fairpool.cli import (
    agreement,
    audit,
    check,
    compare,
    contribute,
    demo,
    erase,
    export,
    init,
    inspect,
    key,
    keys,
    ledger,
    plan,
    predict,
    receipts,
    reproduce,
    rounds,
    run,
    serve,
    server,
    update,
    verify,
    worker,
)
from fairpool.errors import printable


class Commands(TyperGroup):
    """The commands; what typer says about wrong usage quotes arguments as `printable` shows them.

    A shell puts the names of files there, for which somebody else may have chosen them.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            # Wrong usage, whose class lies at another place in every version of typer.
            message = getattr(error, "message", None)
            if isinstance(message, str):
                error.message = printable(message)  # type: ignore[attr-defined]
            raise


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Pool data, be paid back in models, fairly.\n\n"
    "Start with `fairpool demo`, or with `fairpool init my-project` and `fairpool run my-project"
    " --preview`.",
)

app.command()(demo.demo)
app.command()(init.init)
app.command()(check.check)
app.command()(agreement.agreement)
app.command()(plan.plan)
app.command()(run.run)
app.command()(receipts.receipts)
app.command()(rounds.rounds)
app.command()(compare.compare)
app.add_typer(ledger.app, name="ledger")
app.add_typer(key.app, name="key")
app.add_typer(keys.app, name="keys")
app.command()(erase.erase)
app.command()(contribute.contribute)
app.command()(predict.predict)
app.command()(export.export)
app.command()(inspect.inspect)
app.command()(update.update)
app.command()(verify.verify)
app.command()(audit.audit)
app.command()(worker.worker)
app.add_typer(server.app, name="server")
app.command()(serve.serve)
app.command("reproduce")(reproduce.reproduce_figures)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"fairpool {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Pool data, be paid back in models, fairly."""


def entry() -> None:
    """The installed command.

    Typer ends it: wrong usage with exit code 2, Ctrl-C with 130, neither with a traceback.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character, as many of Windows do, is shown its number instead.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    app()
