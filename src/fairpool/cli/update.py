"""`fairpool update`: a party brings its reward up to date with rows of its own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairpool.cli.options import Encoders, Json, Quiet
from fairpool.cli.screen import Screen, screen
from fairpool.errors import DataError

if TYPE_CHECKING:
    from fairpool.consortium.updating import UpdatedReward


def update(
    reward: Annotated[Path, typer.Argument(help="Your reward file.", show_default=False)],
    data: Annotated[
        Path,
        typer.Option(
            help="A CSV or Parquet table of *all* your rows, old and new, with the model's columns"
            " and the target.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="The reward file to write. Default: reward-updated.safetensors beside"
            " reward.safetensors.",
            show_default=False,
        ),
    ] = None,
    add: Annotated[
        bool,
        typer.Option(
            "--add", help="The table has new rows alone: add them. Added twice, they count twice."
        ),
    ] = False,
    corrected: Annotated[
        bool,
        typer.Option(
            "--corrected", help="Old rows were corrected or left out: do not look for them."
        ),
    ] = False,
    as_agreed: Annotated[
        bool,
        typer.Option(
            "--as-agreed",
            help="The table has the collaboration's column names and units, as a plain CSV or"
            " Parquet file.",
        ),
    ] = False,
    encoders: Encoders = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Bring a reward up to date with new rows of your own, without asking the operator.

    Your rows in the reward are replaced by those of the table; what stands for the other parties'
    data stays as it is, and nothing new of them is needed. Start from the file that the operator
    gave you: however often that is done, no row counts twice.

    Example: `fairpool update reward.safetensors --data mine.csv --out reward-may.safetensors`
    """
    with screen(quiet, as_json) as show:
        from fairpool.consortium.updating import update_file
        from fairpool.realisation.reward_file import save_reward

        place = _place(reward, data, out=out, force=force)
        if add and corrected:
            raise DataError(
                "--add keeps old rows as they are, and --corrected replaces them; give one of them"
            )
        with show.progress() as progress:
            done = update_file(
                reward,
                data,
                add=add,
                corrected=corrected,
                as_agreed=as_agreed,
                encoders=encoders,
                progress=progress,
            )
        # Whatever the file held of others, its owner had it before.
        save_reward(done.reward, place, share_inputs=done.before.holds_inputs_of_others)
        _tell(show, done, place, added=add)


def _place(reward: Path, data: Path, *, out: Path | None, force: bool) -> Path:
    """Where the new file goes; refused where something is there already."""
    from fairpool.consortium.prediction import refuse_own_files
    from fairpool.consortium.updating import updated_name

    place = updated_name(reward) if out is None else out
    if place.exists() and not force:
        raise DataError(f"{place} exists already; give another --out, or --force to replace it")
    refuse_own_files(place, reward, data)
    return place


def _tell(show: Screen, done: "UpdatedReward", place: Path, *, added: bool) -> None:
    """What was written, and what it is worth."""
    show.warn(done.notes)
    worth = {"worth_before": done.before.value, "worth": done.reward.value}
    show.give({"rows": done.rows, "out": str(place), **worth})
    what = "more rows" if added else "rows"
    show.say(f"Wrote {place}")
    show.say(
        f"With {done.rows} {what} of your own it is worth {done.reward.value:.6g} nats;"
        f" before, {done.before.value:.6g}"
    )
