"""`fairpool predict`: what a party does with its reward."""

from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Json, Quiet
from fairpool.cli.screen import screen


def predict(
    reward: Annotated[Path, typer.Argument(help="A reward file.", show_default=False)],
    data: Annotated[
        Path,
        typer.Option(help="A CSV or Parquet table with the model's columns.", show_default=False),
    ],
    out: Annotated[
        Path | None, typer.Option(help="A CSV file to write. Default: print.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Predict with a reward: mean, standard deviation and 95% interval per row.

    The numbers are in the target's own units. A level of a category that the model does not know is
    treated as none of the known ones; standard error says so.

    Example: `fairpool predict reward.safetensors --data patients.csv --out predictions.csv`
    """
    with screen(quiet, as_json) as show:
        from fairpool.compute.files import READABLE, write_atomically
        from fairpool.consortium.prediction import as_csv, predict_file, refuse_own_files
        from fairpool.errors import DataError

        if out is not None:
            if out.exists() and not force:
                raise DataError(
                    f"{out} exists already; give another --out, or --force to replace it"
                )
            refuse_own_files(out, reward, data)
        with show.progress() as progress:
            predictions = predict_file(reward, data, progress)
        if out is not None:
            write_atomically(out, as_csv(predictions).encode(), mode=READABLE)
        show.warn(predictions.notes)
        count = len(predictions.rows)
        if out is not None:
            show.give({"rows": count, "out": str(out)})
            show.say(f"Wrote {count} predictions to {out}")
            return
        show.give([dict(zip(predictions.names, row, strict=True)) for row in predictions.rows])
        if not quiet and not as_json:
            print(as_csv(predictions), end="")
