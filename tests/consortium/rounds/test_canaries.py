"""Several rounds on disk: nobody's values in anybody else's files, the secret in one file alone."""

import stat

import numpy as np
import pyarrow as pa
import pytest

from tests.support.consortia import KINDS, Consortium, numbers

CANARIES = (2.1234567, 3.7654321, 21.987654)


def with_canaries(table):
    columns = table.to_pydict()
    for row, (name, value) in enumerate(zip(("x", "z", "y"), CANARIES, strict=True), 3):
        columns[name][row] = value
    return pa.table(columns)


@pytest.fixture(params=["blr", "sparse_gp"])
def three_rounds(request, tmp_path):
    """A party more, a row less, rows more: everything that writes has written."""
    assert request.param in KINDS
    tables = {"A": numbers(60, 1), "B": with_canaries(numbers(60, 2, 0.5))}
    consortium = Consortium(folder=tmp_path, kind=request.param, tables=tables, rho=0.7)
    consortium.next_round()
    consortium.tables["C"] = numbers(60, 3)
    consortium.rho = 0.4
    consortium.next_round()
    consortium.tables["B"] = pa.concat_tables([consortium.tables["B"].slice(1), numbers(40, 4)])
    consortium.rho = 0.2
    done = consortium.next_round()
    return consortium, done


def files_in(folder):
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def test_nobody_elses_folder_nor_the_ledger_has_a_partys_values(three_rounds):
    consortium, done = three_rounds
    folder = consortium.folder
    encoding = done.preparation.encoding
    row = pa.table({"x": [CANARIES[0]], "z": [CANARIES[1]], "y": [CANARIES[2]]})
    encoded = [*encoding.encode(row)[0], encoding.encode_target(row)[0]]
    forbidden = [str(value).encode() for value in CANARIES]
    forbidden += [np.float64(value).tobytes() for value in (*CANARIES, *encoded)]
    of_parties = [path for path in files_in(folder / "rounds") if "parties" in path.parts]
    of_others = [path for path in of_parties if path.parent.name != "B"]
    assert len(of_others) > 6
    looked_at = [folder / "ledger.jsonl", *of_others]
    for path in looked_at:
        content = path.read_bytes()
        for canary in forbidden:
            assert canary not in content, path
    # It could have been found.
    assert any(forbidden[0] in path.read_bytes() for path in files_in(folder))


def test_the_secret_is_in_one_file_alone(three_rounds):
    consortium, _ = three_rounds
    secret = consortium.secret.material
    keys = [secret, secret.hex().encode()]
    for purpose in ("ledger", "kept"):
        subkey = consortium.secret.subkey(purpose)
        keys += [subkey, subkey.hex().encode()]
    found = set()
    for path in files_in(consortium.folder):
        content = path.read_bytes()
        if any(key in content for key in keys):
            found.add(str(path.relative_to(consortium.folder)))
    assert found == {".fairpool/secret.key"}


def test_everything_that_rounds_write_is_for_the_operator_alone(three_rounds):
    consortium, _ = three_rounds
    folder = consortium.folder
    written = [folder / "ledger.jsonl", folder / "latest"]
    for place in ("rounds", ".fairpool"):
        written += [folder / place, *(folder / place).rglob("*")]
    assert len(written) > 40
    for path in written:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path
