"""Keyed noise for a million rows, against the cipher alone and against numpy's own normals.

The floor is AES over as many blocks as ours encrypts, and nothing else: no normal distribution and
no path. numpy's generator makes normals that nobody can make again for one row alone.
"""

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from bench.measure import Row, interleaved, quick, same
from fairpool.keyed_noise.bridge import steps_to
from fairpool.keyed_noise.identity import coordinate_ids, row_digests, row_ids
from fairpool.keyed_noise.paths import ROWS_AT_ONCE, Paths
from fairpool.keyed_noise.secret import Secret

ROWS, INPUTS, ETA = 1_000_000, 10, 0.7
ETAS = [ETA * 1.3**k for k in range(6)]
BLOCK = 16
SECRET = Secret(bytes(range(32)))
PATHS = Paths(SECRET)
SIZE = "1 million rows"


def bare_aes(ids: np.ndarray, times: int) -> None:
    """Every id encrypted so many times, in pieces that stay in the cache."""
    content = memoryview(ids).cast("B")
    piece = BLOCK * ROWS_AT_ONCE
    room = bytearray(piece + BLOCK - 1)
    for _ in range(times):
        encryptor = Cipher(algorithms.AES(bytes(32)), modes.ECB()).encryptor()
        for begin in range(0, len(content), piece):
            encryptor.update_into(content[begin : begin + piece], room)


def one_eta(repeats: int) -> None:
    """The noise of every row for one recipient."""
    ids = coordinate_ids(SECRET, "bench", ROWS)
    rng = np.random.default_rng(0)
    normals = len(steps_to(ETA))

    def as_many_normals() -> None:
        for _ in range(normals):
            rng.standard_normal(ROWS)

    ways = {
        "ours": lambda: PATHS.at(ids, ETA),
        "floor": lambda: bare_aes(ids, normals),
        "as many": as_many_normals,
        "one each": lambda: rng.standard_normal(ROWS),
    }
    seconds, found = interleaved(ways, repeats)
    # A sample of a million has its variance to 0.14%.
    equal = same(np.var(found["ours"]), ETA, 0.007, "variance")
    ours = seconds["ours"]
    cipher = f"bare AES over as many blocks, {normals} per row"
    peer = f"numpy {np.__version__} standard_normal"
    common = {"row": "keyed noise for one eta", "size": SIZE, "equal": equal}
    Row.timed(
        {"ours": ours, "floor": seconds["floor"]},
        at_most=12,
        against=f"floor: {cipher}",
        **common,
    ).print()
    Row.timed(
        {"ours": ours, "theirs": seconds["as many"]},
        at_most=3,
        against=f"{peer}, as many normals: {normals} per row",
        **common,
    ).print()
    Row.timed(
        {"ours": ours, "theirs": seconds["one each"]},
        against=f"{peer}, one per row",
        note="theirs depends on no row and cannot be made again at another eta",
        **common,
    ).print()


def several_etas(repeats: int) -> None:
    """The noise of every row for several recipients, in one pass and in several."""
    ids = coordinate_ids(SECRET, "bench", ROWS)
    ways = {
        "ours": lambda: PATHS.at_many(ids, ETAS),
        "theirs": lambda: np.array([PATHS.at(ids, eta) for eta in ETAS]),
    }
    seconds, found = interleaved(ways, repeats)
    Row.timed(
        seconds,
        at_least=1.1,
        row=f"keyed noise for {len(ETAS)} etas",
        size=SIZE,
        against="itself, one eta after the other",
        equal=same(found["ours"], found["theirs"], 0.0, "noise"),
    ).print()


def identities(repeats: int) -> None:
    """Which row is which: ten inputs, a label, and the count of equal rows."""
    rng = np.random.default_rng(0)
    columns = {f"x{k}": rng.normal(size=ROWS) for k in range(INPUTS)}
    columns["label"] = rng.normal(size=ROWS)
    ids = coordinate_ids(SECRET, "bench", ROWS)
    blocks = len(columns) + 2
    ways = {
        "ours": lambda: row_ids(SECRET, row_digests(SECRET, "bench", columns)),
        "floor": lambda: bare_aes(ids, blocks),
    }
    seconds, found = interleaved(ways, repeats)
    different = len(np.unique(found["ours"], axis=0))
    Row.timed(
        seconds,
        at_most=40,
        row="identities of rows",
        size=f"{SIZE}, {INPUTS} inputs and a label",
        against=f"floor: bare AES over as many blocks, {blocks} per row",
        equal=same(different, ROWS, 0.0, "different ids"),
    ).print()


if __name__ == "__main__":
    for measure in (one_eta, several_etas, identities):
        measure(1 if quick() else 7)
