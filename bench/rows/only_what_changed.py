"""A later round in which one of twelve parties sends other rows, against the same round anew.

Measured is what leads to the values: recognising or reading files, the sample, who rows are, sums
over them, and all 2^12 values. "Anew" is the same round without what was kept of files. Nobody's
reward needs noise in it; the pass that draws noise is measured apart, against the cipher alone.
"""

import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.measure import FOLDER, Row, interleaved, quick, same
from bench.rows.keyed_noise import bare_aes
from fairpool.compute.workers import Workers
from fairpool.consortium.learning import Learning, learn
from fairpool.consortium.preparation import prepare
from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.context import open_context
from fairpool.consortium.rounds.contributing import contribute
from fairpool.consortium.rounds.dominance import dominated_batches
from fairpool.consortium.rounds.part_sums import sum_noise
from fairpool.consortium.rounds.releasing import release
from fairpool.consortium.run import run
from fairpool.keyed_noise.bridge import steps_to
from fairpool.keyed_noise.paths import Paths
from fairpool.values import InformationGain

PARTIES, INPUTS, GROUP = 12, 10, 100_000
ROWS = 50_000 if quick() else 1_000_000
PROJECT = FOLDER / "data" / "rounds"
ASIDE = PROJECT / "aside"
KINDS = {"sparse_gp": "sparse GP of 40 inducing points", "blr": "regression"}
ETAS = [0.5 * 1.05**k for k in range(PARTIES - 1)]
"""Of recipients who are due nearly the same."""


def rows(count: int, seed: int) -> pa.Table:
    """Numbers, of which a linear model explains most."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, INPUTS))
    y = X @ np.arange(1, INPUTS + 1) + rng.normal(size=count)
    columns = {f"x{k}": X[:, k] for k in range(INPUTS)}
    return pa.table({**columns, "y": y})


def first_round(kind: str) -> None:
    """Twelve parties' files, and their first round; then one has a hundredth more rows."""
    shutil.rmtree(PROJECT, ignore_errors=True)
    PROJECT.mkdir(parents=True)
    text = f'target = "y"\n[model]\nkind = "{kind}"\n[rewards]\nrho = 0.0\n'
    for i in range(PARTIES):
        pq.write_table(rows(ROWS, i), PROJECT / f"p{i}.parquet", row_group_size=GROUP)
        text += f'[[parties]]\nname = "Party {i}"\ndata = "p{i}.parquet"\n'
    (PROJECT / "collaboration.toml").write_text(text)
    release(run(RunRequest(configuration=PROJECT)))
    more = pa.concat_tables([rows(ROWS, 0), rows(ROWS // 100, PARTIES)])
    pq.write_table(more, PROJECT / "p0.parquet", row_group_size=GROUP)


def learned() -> Learning:
    """Files, and the model."""
    workers = Workers()
    context = open_context(PROJECT)
    return learn(prepare(RunRequest(configuration=PROJECT), workers, context), workers)


def values() -> np.ndarray:
    """From the files to all values."""
    workers = Workers()
    learning = learned()
    context = learning.preparation.context
    assert context is not None
    contributions = contribute(learning, context, workers)
    game = InformationGain(learning.built.model, [one.data for one in contributions])
    assert not dominated_batches(game, contributions, learning, workers)
    return game.values()


def values_anew() -> np.ndarray:
    """The same, where nothing is kept of files."""
    kept = PROJECT / ".fairpool" / "kept"
    ASIDE.mkdir()
    for path in kept.glob("*.record"):
        path.rename(ASIDE / path.name)
    try:
        return values()
    finally:
        for path in ASIDE.iterdir():
            path.rename(kept / path.name)
        ASIDE.rmdir()


def noise(model: str, repeats: int) -> None:
    """The pass over one party's rows that draws the noise of all recipients."""
    workers = Workers()
    learning = learned()
    context = learning.preparation.context
    assert context is not None
    party = contribute(learning, context, workers)[0]
    wanted = dict.fromkeys(range(len(party.assignment.part_names)), ETAS)
    drawn = {step.position for eta in ETAS for step in steps_to(eta)}
    ids = party.identities.ids

    def drawn_noise() -> object:
        return sum_noise(
            party.survey,
            party.identities,
            party.groups,
            wanted=wanted,
            encoding=learning.preparation.encoding,
            model=learning.built.model,
            paths=Paths(context.secret),
            workers=workers,
        )

    ways = {"ours": drawn_noise, "floor": lambda: bare_aes(ids, len(drawn))}
    seconds, _ = interleaved(ways, repeats)
    Row.timed(
        seconds,
        at_most=12,
        row="noise pass of a round",
        size=f"{model}, {len(ids):,} rows, {len(ETAS)} etas, {INPUTS} inputs, Parquet",
        against=f"floor: bare AES over as many blocks, {len(drawn)} per row",
        note="reading, features and sums with the noise are in it; no part of the row above",
    ).print()


def main() -> None:
    """The round of each model, and its noise."""
    repeats = 1 if quick() else 5
    for kind, model in KINDS.items():
        first_round(kind)
        values()  # the files are in the system's cache for both
        seconds, found = interleaved({"ours": values, "theirs": values_anew}, repeats)
        Row.timed(
            seconds,
            at_most=1 / 6,
            row="a round in which one of 12 parties changed",
            size=f"{model}, 12 x {ROWS:,} rows, {INPUTS} inputs, Parquet; 1% more rows of one",
            against="itself, with nothing kept of files",
            target="at most 1/6",
            equal=same(found["ours"], found["theirs"], 0.0, "values"),
            note="reading, statistics and values; the noise pass is apart",
        ).print()
        noise(model, repeats)


if __name__ == "__main__":
    main()
