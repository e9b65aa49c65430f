"""Files with the noise of parts in released models: they gain entries, and lose and change none."""

import stat

import numpy as np
import pyarrow as pa
import safetensors.numpy

from fairpool.consortium.rounds.kept import NOISE, Kept
from tests.support.consortia import Consortium, numbers

PART, AGREEMENT = "ab" * 16, "cd" * 32


def noise_files(folder):
    """Every noise file: its entries by name, to the last bit, without its seal."""
    found = {}
    for path in sorted(folder.glob(f"*.{NOISE}*")):
        entries = safetensors.numpy.load(path.read_bytes())
        entries.pop("sha256")
        found[path.name] = {eta: noise.tobytes() for eta, noise in entries.items()}
    return found


def test_noise_of_a_part_is_added_to_what_is_kept_of_it(tmp_path):
    kept = Kept(tmp_path / "kept", b"seal")
    first = {0.5: np.array([1.0, 2.0]), 1.5: np.array([3.0, 4.0])}
    kept.write_pins(PART, AGREEMENT, first)
    (path,) = (tmp_path / "kept").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    kept.write_pins(PART, AGREEMENT, {1.5: np.array([3.0, 4.0])})
    assert path.read_bytes() == before  # nothing new
    kept.write_pins(PART, AGREEMENT, {0.25: np.array([5.0, 6.0])})
    assert [*(tmp_path / "kept").iterdir()] == [path]
    pins = kept.pins(PART, AGREEMENT)
    assert {eta: noise.tolist() for eta, noise in pins.items()} == {
        0.5: [1.0, 2.0],
        1.5: [3.0, 4.0],
        0.25: [5.0, 6.0],
    }


def test_over_the_rounds_noise_files_only_ever_gain_entries(tmp_path):
    """The noise of every part in every file that was released stays: with rows gone, nobody could
    compute it anew.
    """
    tables = {"A": numbers(200, 1), "B": numbers(200, 2, 0.5), "C": numbers(200, 3, 1.0)}
    consortium = Consortium(folder=tmp_path, tables=tables)
    before = {}
    gained = 0
    for number, rho in enumerate((0.9, 0.6, 0.6, 0.3), 1):
        consortium.rho = rho
        if number == 3:
            consortium.tables["B"] = pa.concat_tables([tables["B"], numbers(40, 4, 0.5)])
        consortium.next_round()
        now = noise_files(tmp_path / ".fairpool" / "kept")
        for name, entries in before.items():
            assert entries.items() <= now[name].items()
            gained += len(now[name]) > len(entries)
        before = now
    assert gained >= 3  # old files did gain some
    for path in (tmp_path / ".fairpool" / "kept").glob(f"*.{NOISE}*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
