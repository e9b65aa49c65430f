"""`fairpool predict`: what a party does with its reward."""

from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Encoders, Json, Quiet
from fairpool.cli.screen import screen


def predict(
    reward: Annotated[Path, typer.Argument(help="A reward file.", show_default=False)],
    data: Annotated[
        Path,
        typer.Option(
            help="A table with the model's columns, as your own tables for the collaboration had"
            " them: separator, headers, units.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="A CSV file to write. Default: print.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
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
    """Predict with a reward: mean, standard deviation and 95% interval per row.

    The numbers are in the target's own units. A row with a value that is missing or cannot be used
    has no prediction, and a column "reason" says why. Columns that name the rows come first.

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
            predictions = predict_file(
                reward, data, progress, as_agreed=as_agreed, encoders=encoders
            )
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
