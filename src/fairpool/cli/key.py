"""`fairpool key`: exchange the secret that noise is made of, or say that it is lost."""

from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Folder, Json, Quiet
from fairpool.cli.screen import Screen, screen

app = typer.Typer(
    no_args_is_help=True,
    help="The collaboration's secret, .fairpool/secret.key: exchange it, or say that it is lost.",
    context_settings={"help_option_names": ["-h", "--help"]},
)

COST = (
    "Rows that were released so far cannot be recognised with a new secret. Released again, they"
    " get new noise, and the two noises average out: so that counts as a second look at them, which"
    " a party must agree to (second_look), and everybody receives less that is new."
)

Yes = Annotated[bool, typer.Option("--yes", help="Do it: what it costs is known.")]


@app.command()
def rotate(folder: Folder, yes: Yes = False, quiet: Quiet = False, as_json: Json = False) -> None:
    """Exchange the secret, where somebody else may know it. Without --yes: say what that costs.

    Examples: `fairpool key rotate my-project`, `fairpool key rotate my-project --yes`
    """
    with screen(quiet, as_json) as show:
        _exchange(show, folder, yes=yes, is_lost=False)


@app.command()
def lost(folder: Folder, yes: Yes = False, quiet: Quiet = False, as_json: Json = False) -> None:
    """Begin a new ledger where the secret is lost. Without --yes: say what that costs.

    The old ledger is then believed as its chain stands, since nobody can check its seals.

    Examples: `fairpool key lost my-project`, `fairpool key lost my-project --yes`
    """
    with screen(quiet, as_json) as show:
        _exchange(show, folder, yes=yes, is_lost=True)


def _exchange(show: Screen, folder: Path, *, yes: bool, is_lost: bool) -> None:
    from fairpool.consortium.rounds.context import home_of

    home_of(folder)  # which must be there
    show.say(COST)
    if not yes:
        show.say("Nothing was changed; add --yes to do it.")
        show.give({"changed": False})
        return
    from fairpool.consortium.rounds.exchanging import exchange_secret

    secret = exchange_secret(folder, is_lost=is_lost)
    show.say(f"There is a new secret (fingerprint {secret.fingerprint}), and a new ledger.")
    show.say("The old ledger lies beside it: letters of earlier rounds carry hashes that it has.")
    show.give({"changed": True, "fingerprint": secret.fingerprint})
