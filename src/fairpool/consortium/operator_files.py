"""What the operator alone may see of a run: report, values, result, configuration, hashes."""

import json
import os
import tomllib

from fairpool.coalitions import members
from fairpool.consortium.configuration import FILE_NAME
from fairpool.consortium.folders import folder_names
from fairpool.consortium.model_building import BuiltModel
from fairpool.consortium.result_json import result_of
from fairpool.consortium.rounds.context import PLAN_FILE
from fairpool.consortium.scrutiny import Run
from fairpool.consortium.spreadsheet import csv_text
from fairpool.report.report import Context, render_report
from fairpool.tables.arrays import FloatArray


def operator_files(run: Run, *, released: bool = False) -> dict[str, bytes]:
    """What the operator alone may see, by name.

    Args:
        run: What was computed.
        released: Whether it is released with these files; otherwise it is a preview.
    """
    folders = folder_names(run.collaboration.game.names)
    context = Context(
        title=run.preparation.configuration.name,
        origin=_origin(run.built),
        settings=run.built.settings,
        residuals=run.residuals,
        scores=run.scores,
        target=run.preparation.encoding.target,
        notes=run.notes,
        folders=tuple(f"parties/{folder}" for folder in folders),
        treatments=run.preparation.treatments,
        against_alone=run.against_alone,
        uncheckable=run.uncheckable,
        evidence=run.evidence,
        left_out=tuple(one.evidence for one in run.left_out),
        shares=_shares(run),
        since=None if run.since is None else run.since.changes,
        released=released,
    )
    result = json.dumps(result_of(run), indent=1, ensure_ascii=False, allow_nan=False)
    texts = {
        "report.html": render_report(run.collaboration, context),
        "result.json": result + "\n",
        "values.csv": _values_csv(run),
        FILE_NAME: _configuration_as_used(run),
        "inputs.sha256": _hashes_of_inputs(run),
    }
    files = {name: text.encode() for name, text in texts.items()}
    agreed = run.preparation.context
    if agreed is not None and agreed.plan is not None:
        # The one beside the configuration may be another by the time that an auditor comes.
        files[PLAN_FILE] = agreed.plan.document.content
    return files


def _shares(run: Run) -> dict[str, FloatArray]:
    """Contributions by each way to measure them."""
    shares = {"information": run.shares.information, "evidence": run.shares.evidence}
    if run.shares.validation is not None:
        shares["validation"] = run.shares.validation
    return shares


def _origin(built: BuiltModel) -> str:
    """Where hyperparameters and scaling come from, as a sentence of the report."""
    if built.learned:
        return f"They, and the scaling, come from {built.rows}."
    return f"They were given; the scaling comes from {built.rows}."


def _values_csv(run: Run) -> str:
    game = run.collaboration.game
    everybody = tuple(range(game.n))
    if game.enumerable:
        coalitions = [members(mask) for mask in range(1 << game.n)]
    else:  # too many to list: each alone, and all together
        coalitions = [*((i,) for i in everybody), everybody]
    rows = []
    for C in coalitions:
        is_member = [int(i in C) for i in everybody]
        rows.append([*is_member, repr(game.value(C))])
    return csv_text([*game.names, "value"], rows)


def _configuration_as_used(run: Run) -> str:
    """The operator's file as it was read, with what the command line changed at the top."""
    text = run.preparation.text
    in_file = tomllib.loads(text).get("rewards", {}).get("rho", "stable")
    rho = run.collaboration.rho
    return f"# As used by this run: rho = {rho!r} (asked for: {in_file!r} in this file)\n{text}"


def _hashes_of_inputs(run: Run) -> str:
    """The SHA-256 of every table that was looked at, in the format of sha256sum.

    Of the images that a table names there is one hash together, in a line that sha256sum skips.
    """
    # No name has a line break, which would begin a line of its own: see `Source.find`.
    lines = []
    for survey in (*run.preparation.surveys, *(one.survey for one in run.left_out)):
        for file in survey.source.files:
            path = os.path.relpath(file, run.preparation.folder)
            content = survey.contents[file]
            lines.append(f"{content.sha256}  {path}\n")
            if content.images:
                lines.append(f"# {content.images} of the images that {path} names\n")
    return "".join(lines)
