"""What a run writes: the operator's folder and one folder per party, all of it at once or none of
it.
"""

import csv
import ctypes
import io
import json
import os
import re
import shutil
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from fairpool import __about__
from fairpool.coalitions import members
from fairpool.consortium.configuration import FILE_NAME
from fairpool.consortium.run import Run
from fairpool.consortium.scrutiny import FEW_ROWS
from fairpool.consortium.tables import sha256
from fairpool.errors import DataError
from fairpool.model_kinds import KINDS, Disclosure
from fairpool.realisation import ModelReward
from fairpool.report.letter import Letter, render_letter
from fairpool.report.report import Context, render_report

REWARD_FILE = "reward.safetensors"
NO_OPTIMUM = (
    "The search for the model's hyperparameters did not end at an optimum, so that another model"
    " may fit the data"
    " better. Everybody's values and rewards depend on them. The operator's report says what"
    " happened."
)
"""What a letter says where learning ended early, or at the end of the range searched."""

AT_FDCWD, RENAME_EXCHANGE = -100, 2
RESERVED = {
    "CON",
    "PRN",
    "AUX",
    "NUL",
    *(f"{kind}{k}" for kind in ("COM", "LPT") for k in range(1, 10)),
}
"""Names that some systems do not allow."""


def refuse_output(out: Path, force: bool) -> None:
    """Refuse a place that cannot be written to, before anything is computed, and to replace
    anything unless told to.

    What is replaced is only what a run of ours wrote.
    """
    above = next(folder for folder in out.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise DataError(
            f"{out}: cannot be written, as {above} is no folder to write in; give another --out"
        )
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not force:
        raise DataError(f"{out} exists already; give another --out, or --force to replace it")
    if not (out / "operator" / "result.json").is_file():
        raise DataError(
            f"{out} exists and is not the output of a run; --force replaces only that; give another"
            " --out"
        )


def write_output(run: Run, out: Path, force: bool) -> None:
    """Write everything to a folder beside `out`, then put it in its place in one step."""
    refuse_output(out, force)
    partial = out.parent / f".{out.name}.partial-{os.getpid()}"
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(out)
        partial.mkdir(mode=0o700)
        _write_operator(run, partial / "operator")
        _write_parties(run, partial / "parties")
        _put_in_place(partial, out)
    except OSError as error:
        raise DataError(
            f"{out}: cannot be written ({error.strerror or error}); give another --out"
        ) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _write_operator(run: Run, folder: Path) -> None:
    folder.mkdir()
    context = Context(
        title=run.preparation.configuration.name,
        origin=run.built.origin,
        settings=run.built.settings,
        residuals=run.residuals,
        scores=run.scores,
        warnings=run.warnings,
        folders=tuple(f"parties/{name}" for name in folder_names(run.collaboration.game.names)),
    )
    (folder / "report.html").write_text(render_report(run.collaboration, context), encoding="utf-8")
    (folder / "result.json").write_text(
        json.dumps(result_of(run), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    )
    (folder / "values.csv").write_text(_values_csv(run), encoding="utf-8")
    (folder / "seed.txt").write_text(f"{run.seed}\n")
    (folder / FILE_NAME).write_text(_configuration_as_used(run), encoding="utf-8")
    home = run.preparation.folder
    files = [file for source in run.preparation.sources for file in source.files]
    lines = [f"{run.preparation.hashes[file]}  {os.path.relpath(file, home)}\n" for file in files]
    (folder / "inputs.sha256").write_text("".join(lines), encoding="utf-8")


def _write_parties(run: Run, folder: Path) -> None:
    result, configuration = run.collaboration, run.preparation.configuration
    for i, name in enumerate(folder_names(result.game.names)):
        own = folder / name
        own.mkdir(parents=True)
        reward = replace(result.models[i], encoding=run.preparation.encoding)
        reward.save(own / REWARD_FILE, share_inputs=configuration.rewards.share_inputs)
        text = Letter(
            title=configuration.name,
            target=configuration.target,
            scale=run.preparation.encoding.scale,
            file=REWARD_FILE,
            sha256=sha256(own / REWARD_FILE),
            reveals=reveals(run, i),
            notes=() if run.built.optimum_reached else (NO_OPTIMUM,),
        )
        (own / "letter.html").write_text(render_letter(result, i, text), encoding="utf-8")


def reveals(run: Run, i: int) -> tuple[str, ...]:
    """What party i's file tells about the others, sentence by sentence; nothing is left out."""
    result, preparation = run.collaboration, run.preparation
    disclosure = KINDS[preparation.configuration.model.kind].disclosure
    sentences = [_contents(result.models[i], disclosure)]
    if any(note.code == FEW_ROWS and note.party == result.game.names[i] for note in run.notes):
        sentences.append(
            "The other parties have few rows for a model of this size, so that it tells much about"
            " them."
        )
    if preparation.public is None:
        sentences.append(
            f"Its {disclosure.learned} were learned from all parties' rows, and are rounded."
        )
        if disclosure.from_labels is not None:
            sentences.append(disclosure.from_labels)
    else:
        sentences.append("Its scaling and hyperparameters come from public data.")
    sentences.append("It names no other party. The seed of the noise stays with the operator.")
    if result.game.n == 2:
        sentences.append(
            "With two parties, the numbers in this letter tell the value of the other's data."
        )
    tells = result.contributions.concept.words.tells
    if tells:
        sentences.append(tells)
    return tuple(sentences)


def _contents(reward: ModelReward, disclosure: Disclosure) -> str:
    """What of the others' data a reward contains."""
    words, level = reward.mechanism.words, reward.level
    if not level.tau:
        return "It is trained on your own rows alone."
    if disclosure.holds_rows:
        return (
            "It contains the inputs of all parties' rows, as all parties agreed, and their labels"
            f" {words.labels(level)}."
        )
    if reward.holds_inputs_of_others:
        return (
            f"It contains sums over all rows{words.sums(level)}, and with them a row of another"
            " party, as all parties agreed."
        )
    return f"It contains no row of another party, but sums over all rows{words.sums(level)}."


def result_of(run: Run) -> dict[str, Any]:
    """The run as plain JSON."""
    found = run.collaboration.to_dict()
    folders = folder_names(run.collaboration.game.names)
    for party, folder, residual in zip(
        found["parties"], folders, run.residuals.tolist(), strict=True
    ):
        party["folder"] = f"parties/{folder}"
        party["label_residual"] = residual if np.isfinite(residual) else None
    return {
        "fairpool": __about__.__version__,
        "name": run.preparation.configuration.name,
        **found,
        "warnings": list(run.warnings),
        "model": {
            "origin": run.built.origin,
            "optimum_reached": run.built.optimum_reached,
            **run.built.settings,
        },
        "test": None if run.scores is None else asdict(run.scores),
    }


def _values_csv(run: Run) -> str:
    game = run.collaboration.game
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*game.names, "value"])
    if game.enumerable:
        coalitions = [members(mask) for mask in range(1 << game.n)]
    else:  # too many to list: each alone, and all together
        coalitions = [*((i,) for i in range(game.n)), tuple(range(game.n))]
    for C in coalitions:
        writer.writerow([*(int(i in C) for i in range(game.n)), repr(game.value(C))])
    return stream.getvalue()


def _configuration_as_used(run: Run) -> str:
    """The operator's file as it was read, with what the command line changed at the top."""
    text = run.preparation.text
    asked = tomllib.loads(text).get("rewards", {}).get("rho", "stable")
    return f"# As used by this run: rho = {run.collaboration.rho!r} (asked for: {asked!r} in this file)\n{text}"


def folder_names(names: Sequence[str]) -> list[str]:
    """A folder name for every party: safe on any system, distinct, and recognisable.

    >>> folder_names(["Hospital A", "../x", "hospital a"])
    ['Hospital-A', 'x', 'hospital-a-2']
    """
    found: list[str] = []
    for name in names:
        plain = unicodedata.normalize("NFKC", name)
        slug = re.sub(r"[^\w.-]+", "-", plain).strip("-._")[:80] or "party"
        slug = f"party-{slug}" if slug.split(".")[0].upper() in RESERVED else slug
        taken, number = {f.casefold() for f in found}, 2
        unique = slug
        while unique.casefold() in taken:
            unique, number = f"{slug}-{number}", number + 1
        found.append(unique)
    return found


def _put_in_place(partial: Path, out: Path) -> None:
    """Move `partial` to `out`; an output that is there is swapped for the new one in one step where the system can."""
    if not out.exists():
        os.rename(partial, out)
        return
    if not any(out.iterdir()):
        out.rmdir()
        os.rename(partial, out)
        return
    if not _exchange(partial, out):
        old = out.parent / f".{out.name}.old-{os.getpid()}"
        os.rename(out, old)
        os.rename(partial, out)
        shutil.rmtree(old, ignore_errors=True)


def _remove_leftovers(out: Path) -> None:
    """Remove what killed runs left beside `out`: folders that name a process which is no more."""
    for leftover in out.parent.glob(f".{out.name}.partial-*"):
        process = leftover.name.rpartition("-")[2]
        if process.isdigit() and not _is_running(int(process)):
            shutil.rmtree(leftover, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return process != os.getpid()


def _exchange(a: Path, b: Path) -> bool:
    """Swap two folders atomically (Linux's renameat2); False where that cannot be done."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return bool(rename(AT_FDCWD, os.fsencode(a), AT_FDCWD, os.fsencode(b), RENAME_EXCHANGE) == 0)
