"""`fairpool keys`: a person's own key, by which others know what it sends."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairpool.cli.options import Json, Quiet
from fairpool.cli.screen import Screen, screen

if TYPE_CHECKING:
    from fairpool.signatures import PublicKey

app = typer.Typer(
    no_args_is_help=True,
    help="Your own key, which signs the contributions that you send. Each person has one.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def new(
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where the key goes. Default: signing.key in your own folder, which is"
            " $FAIRPOOL_HOME or where the system keeps such things.",
            show_default=False,
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Make your key, once. The file is for you alone; what you send the operator is printed.

    Keep a copy of the file. Nothing overwrites it: whoever knows your key would take another one
    for somebody else's.

    Example: `fairpool keys new`

    Example: `fairpool keys new --out /media/stick/north.key`
    """
    with screen(quiet, as_json) as show:
        from fairpool.exchange.home import key_path, make_key

        path = key_path() if out is None else out
        key = make_key(path)
        show.say_unbroken(f"Wrote {path}: your key. Show it to nobody, and keep a copy.")
        _tell(show, path, key.public)


@app.command("show")
def show_key(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="The key's file. Default: the one in your own folder.", show_default=False
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Print the line to send to the operator, and the fingerprint to compare.

    Example: `fairpool keys show`
    """
    with screen(quiet, as_json) as show:
        from fairpool.exchange.home import key_path, read_key

        path = key_path() if file is None else file
        _tell(show, path, read_key(path).public)


def _tell(show: Screen, path: Path, public: "PublicKey") -> None:
    """The public half, as a line for the operator's configuration and for the telephone."""
    show.say("Send the operator this line, which goes below your name in collaboration.toml:")
    show.say_unbroken(f'  key = "{public}"')
    show.say_unbroken(f"Read its fingerprint out to the operator: {public.fingerprint}")
    show.give({"file": str(path), "key": str(public), "fingerprint": public.fingerprint})
