"""`fairpool verify`: a recipient checks its reward, without having to believe the operator."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairpool.cli.options import Encoders, Json, Quiet
from fairpool.cli.screen import Screen, screen

if TYPE_CHECKING:
    from fairpool.consortium.verification.finding import Findings


def verify(
    reward: Annotated[Path, typer.Argument(help="Your reward file.", show_default=False)],
    data: Annotated[
        Path | None,
        typer.Option(help="Your own table, as the reward was made from it.", show_default=False),
    ] = None,
    contribution: Annotated[
        list[Path] | None,
        typer.Option(
            help="What you sent instead of rows; give it for each file, and --plan with it.",
            show_default=False,
        ),
    ] = None,
    letter: Annotated[
        Path | None, typer.Option(help="The letter that came with it.", show_default=False)
    ] = None,
    plan: Annotated[
        Path | None, typer.Option(help="The plan that you agreed to.", show_default=False)
    ] = None,
    operator: Annotated[
        str | None,
        typer.Option(
            help="The operator's public key, as you know it. Default: one that you compared when"
            " you contributed, or the one that signed the plan.",
            metavar="ed25519:...",
            show_default=False,
        ),
    ] = None,
    as_agreed: Annotated[
        bool,
        typer.Option(
            "--as-agreed",
            help="The table has the collaboration's column names and units, as a plain CSV or"
            " Parquet file.",
        ),
    ] = False,
    encoders: Encoders = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Check a reward: what it is worth, what of yours is in it, who signed it.

    Every line is "verified", "cannot be verified" with the reason, or "FALSE" with what was said
    and what was found. Nothing leaves your machine. The exit code is 0 where nothing is FALSE, 1
    where something is, and 2 where a file cannot be used.

    Examples: `fairpool verify reward.safetensors --data mine.csv --letter letter.html`, `fairpool
    verify reward.safetensors --contribution north.contribution --plan plan.json --letter
    letter.html`
    """
    with screen(quiet, as_json) as show:
        from fairpool.consortium.verification.given import Asked, read_given
        from fairpool.consortium.verification.verify import verify as check
        from fairpool.exchange.home import home_folder
        from fairpool.signatures import PublicKey

        asked = Asked(
            reward=reward,
            data=data,
            contributions=tuple(contribution or ()),
            letter=letter,
            plan=plan,
            operator=None if operator is None else PublicKey.of_text(operator),
            as_agreed=as_agreed,
            encoders=encoders,
            home=home_folder(),
        )
        with show.progress() as progress:
            found = check(read_given(asked, progress))
        show_findings(show, found)
        show.give(found.to_dict())
        if not found.ok:
            raise typer.Exit(1)


def show_findings(show: Screen, found: "Findings") -> None:
    """Print one line for each finding, and a sentence at the end."""
    for line in found.lines:
        show.say(f"{line.answer}: {line.about}: {line.text}")
    show.say("")
    count = len(found.false)
    if count:
        show.say(f"{count} line(s) are FALSE. Ask the operator, and show the lines to an auditor.")
    else:
        show.say("Nothing is FALSE. What cannot be verified above has to be taken on trust.")
