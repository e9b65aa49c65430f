"""Files that did not change are not read again, and nothing is different for that."""

import gzip
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from fairpool.compute.workers import Workers
from fairpool.consortium.folders import REWARD_FILE
from fairpool.consortium.output import render
from fairpool.consortium.party_files import Release
from fairpool.consortium.request import RunRequest
from fairpool.consortium.result_json import result_of
from fairpool.consortium.rounds import fingerprint
from fairpool.consortium.rounds.context import open_context
from fairpool.consortium.rounds.erasing import erase_party
from fairpool.consortium.rounds.exchanging import exchange_secret
from fairpool.consortium.rounds.releasing import release
from fairpool.consortium.run import run
from tests.support.shared import built_once

SIZES = (160, 150, 140)
READINGS = ("looking at party", "reading", "recognising rows", "summarising")
"""What is said while a file is looked at, sampled, its rows recognised, and summed up."""

GAPS = '[columns.x]\nmissing = "drop"\n[columns.z]\nmissing = "impute"\n'

KINDS = {
    "csv": {"model": 'kind = "blr"', "suffix": ".csv", "extra": GAPS},
    "gzip": {"model": 'kind = "sparse_gp"\ninducing_points = 6', "suffix": ".csv.gz"},
    "parquet": {"model": 'kind = "sparse_gp"\ninducing_points = 6', "suffix": ".parquet"},
    "excel": {
        "model": 'kind = "network"\nhidden_layers = [4, 3]',
        "suffix": ".xlsx",
        "rewards": "share_labels = true",
    },
    "all rows": {"model": 'kind = "gp"', "suffix": ".csv", "rewards": "share_inputs = true"},
    "classes": {"model": 'kind = "blr"', "suffix": ".parquet", "classes": True},
}


def table(rows, seed, *, gaps=False, classes=False):
    rng = np.random.default_rng(seed)
    x, z = rng.uniform(-1, 1, (2, rows))
    kind = rng.choice(["red", "green"], rows)
    y = 3 * x + 2 * z + (kind == "red") + rng.normal(0, 0.5, rows)
    if gaps:
        x[3] = np.nan
        z[5] = np.nan
    columns = {"x": x, "z": z, "kind": kind, "y": np.where(y > 0.5, "up", "down") if classes else y}
    return pa.Table.from_pydict({k: pa.array(v, from_pandas=True) for k, v in columns.items()})


def write(path, content):
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(content, path, row_group_size=50)
    elif path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in (content.column_names, *zip(*content.to_pydict().values(), strict=True)):
            book.active.append(row)
        book.save(path)
    elif path.suffix == ".gz":
        sink = pa.BufferOutputStream()
        pa.csv.write_csv(content, sink)
        path.write_bytes(gzip.compress(sink.getvalue().to_pybytes(), mtime=0))
    else:
        pa.csv.write_csv(content, path)


def made(folder, *, model, suffix, extra="", rewards="", classes=False):
    """A project whose parties have two files each, and its first round."""
    target = 'target = { column = "y", kind = "classes", levels = ["up", "down"] }'
    if not classes:
        target = 'target = "y"'
    parties = ""
    for i, size in enumerate(SIZES):
        whole = table(size, i, gaps=bool(extra), classes=classes)
        write(folder / f"p{i}" / f"p{i}a{suffix}", whole.slice(0, size // 2))
        write(folder / f"p{i}" / f"p{i}b{suffix}", whole.slice(size // 2))
        parties += f'[[parties]]\nname = "Party {i}"\ndata = "p{i}"\n'
    (folder / "collaboration.toml").write_text(
        f'{target}\ncategorical = ["kind"]\n{extra}[model]\n{model}\n'
        f"[rewards]\nrho = 0.5\n{rewards}\n{parties}"
    )
    release(run(RunRequest(configuration=folder)))


def change(folder, kind):
    """Party 1 has more rows, and everybody is due more."""
    path = folder / "collaboration.toml"
    path.write_text(path.read_text().replace("rho = 0.5", "rho = 0.2"))
    how = KINDS[kind]
    more = table(60, 11, gaps="extra" in how, classes=how.get("classes", False))
    write(folder / "p1" / f"p1c{how['suffix']}", more)


def first_round(tmp_path_factory, kind):
    return built_once(
        tmp_path_factory, f"only what changed {kind}", lambda at: made(at, **KINDS[kind])
    )


@pytest.fixture
def folder(tmp_path, tmp_path_factory):
    """A first round of the plainest project."""
    return shutil.copytree(first_round(tmp_path_factory, "csv"), tmp_path / "project")


def records(folder):
    return sorted((folder / ".fairpool/kept").glob("*.record"))


class Computed:
    """A preview: what a round gives, and whose files were read for it."""

    def __init__(self, folder, **request):
        self.said = []
        workers = Workers(progress=lambda text, *_: self.said.append(text))
        self.run = run(RunRequest(configuration=folder, **request), workers)

    @property
    def files(self):
        """All that would be written."""
        files = render(self.run, Release(head="0" * 64)).files
        # Pictures are numbered as they are drawn, over all that a process draws.
        return {name: re.sub(rb"clip\d+", b"clip", text) for name, text in files.items()}

    @property
    def numbers(self):
        """All that is not for people, to the last bit."""
        weights = [model.posterior.weights.tolist() for model in self.run.collaboration.models]
        return json.dumps([result_of(self.run), weights])

    @property
    def read(self):
        """The numbers of parties whose files were read before noise was drawn."""
        found = set()
        for text in self.said:
            for i in range(3):
                if text.startswith(READINGS) and (f"p{i}" in text or f'"Party {i}"' in text):
                    found.add(i)
        return found


def with_and_without(folder, **request):
    """The same round with records, and without."""
    with_records = Computed(folder, **request)
    aside = folder.parent / "aside"
    aside.mkdir()
    for path in records(folder):
        path.rename(aside / path.name)
    without = Computed(folder, **request)
    for path in aside.iterdir():
        path.rename(folder / ".fairpool/kept" / path.name)
    aside.rmdir()
    return with_records, without


@pytest.mark.parametrize("kind", KINDS)
def test_a_round_with_records_is_that_without_them_byte_for_byte(tmp_path, tmp_path_factory, kind):
    folder = shutil.copytree(first_round(tmp_path_factory, kind), tmp_path / "project")
    assert len(records(folder)) == 3
    change(folder, kind)
    with_records, without = with_and_without(folder)
    assert with_records.files == without.files
    assert any(Path(name).name == REWARD_FILE for name in with_records.files)
    assert any(text.startswith("adding noise") for text in with_records.said) == (
        kind != "all rows"
    )
    assert without.read == {0, 1, 2}
    assert with_records.read == {1}


def test_a_second_round_with_nothing_new_reads_nothing(folder):
    before = [path.stat().st_mtime_ns for path in records(folder)]
    with_records, without = with_and_without(folder)
    assert with_records.read == set()
    assert with_records.numbers == without.numbers
    release(run(RunRequest(configuration=folder)))
    assert Computed(folder).read == set()
    assert [path.stat().st_mtime_ns for path in records(folder)] == before


def test_rows_that_wait_are_not_forgotten(folder):
    write(folder / "p1" / "p1c.csv", table(2, 12))  # too few for a batch of their own
    done = run(RunRequest(configuration=folder))
    assert done.contributions[1].assignment.waiting
    release(done)
    with_records, without = with_and_without(folder)
    assert with_records.read == set()
    assert with_records.numbers == without.numbers
    write(folder / "p1" / "p1d.csv", table(60, 13))
    with_records, without = with_and_without(folder)
    assert with_records.numbers == without.numbers


def test_the_same_rows_in_another_order_are_summed_up_anew(folder):
    """Sums are rounded as they are added up: those of the old order are not taken for them."""
    path = folder / "p1" / "p1a.csv"
    head, *lines = path.read_text().splitlines()
    path.write_text("\n".join([head, *reversed(lines)]) + "\n")
    release(run(RunRequest(configuration=folder)))
    with_records, without = with_and_without(folder)
    assert with_records.read == set()
    assert with_records.numbers == without.numbers


def test_a_release_keeps_and_a_preview_does_not(tmp_path, folder):
    change(folder, "csv")
    before = {path.name: path.read_bytes() for path in records(folder)}
    Computed(folder)
    assert {path.name: path.read_bytes() for path in records(folder)} == before
    release(run(RunRequest(configuration=folder)))
    after = {path.name: path.read_bytes() for path in records(folder)}
    assert sum(after[name] != before[name] for name in before) == 1
    for path in records(folder):
        assert path.stat().st_mode & 0o777 == 0o600


def edit_file(folder):
    """One digit of one cell; the size stays."""
    path = folder / "p0" / "p0a.csv"
    text = path.read_text()
    place = text.rindex("1")
    path.write_text(f"{text[:place]}2{text[place + 1 :]}")


def rename_file(folder):
    (folder / "p0" / "p0a.csv").rename(folder / "p0" / "p0z.csv")


def damage_record(folder):
    for path in records(folder):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)


def cut_record(folder):
    for path in records(folder):
        path.write_bytes(path.read_bytes()[:20])


def swap_records(folder):
    first, second, third = records(folder)
    contents = [path.read_bytes() for path in (first, second, third)]
    for path, content in zip((second, third, first), contents, strict=True):
        path.write_bytes(content)


def limit_rows(folder):
    path = folder / "collaboration.toml"
    path.write_text(path.read_text() + "[limits]\nrows = 1000\n")


def say_how_it_comes(folder):
    path = folder / "collaboration.toml"
    text = path.read_text().replace(
        'data = "p0"\n', 'data = "p0"\n[parties.reading]\nmissing = ["-"]\n'
    )
    path.write_text(text)


@pytest.mark.parametrize(
    ("happens", "read"),
    [
        (edit_file, {0}),
        (rename_file, {0}),
        (damage_record, {0, 1, 2}),
        (cut_record, {0, 1, 2}),
        (swap_records, {0, 1, 2}),
        (limit_rows, {0, 1, 2}),
        (say_how_it_comes, {0}),
    ],
)
def test_whatever_is_not_the_same_is_computed_anew(folder, happens, read):
    happens(folder)
    with_records, without = with_and_without(folder)
    assert with_records.read == read
    assert with_records.numbers == without.numbers


def test_another_version_computes_anew(folder, monkeypatch):
    monkeypatch.setattr(fingerprint, "VERSIONS", ("another",))
    assert Computed(folder).read == {0, 1, 2}


def test_what_is_learned_anew_takes_the_looks_but_no_sums(folder):
    with_records, without = with_and_without(folder, learn_anew=True)
    assert with_records.numbers == without.numbers
    assert with_records.read == {0, 1, 2}
    assert not any(text.startswith("looking at party") for text in with_records.said)


def test_a_record_of_another_secret_counts_as_none(folder):
    kept = open_context(folder).kept
    assert kept.record("Party 0") is not None
    assert replace(kept, seal=bytes(32)).record("Party 0") is None
    exchange_secret(folder, is_lost=False)
    assert records(folder) == []


def test_nothing_is_kept_of_the_files_of_whoever_left(folder):
    path = folder / "collaboration.toml"
    head, *parties = path.read_text().split("[[parties]]\n")
    path.write_text("[[parties]]\n".join([head, *parties[:2]]))
    assert len(records(folder)) == 3
    erase_party(folder, "Party 2", names=["Party 0", "Party 1"])
    assert len(records(folder)) == 2
    release(run(RunRequest(configuration=folder)))
    assert len(records(folder)) == 2


def test_a_release_without_a_party_forgets_its_files(folder):
    path = folder / "collaboration.toml"
    head, *parties = path.read_text().split("[[parties]]\n")
    path.write_text("[[parties]]\n".join([head, *parties[:2]]))
    release(run(RunRequest(configuration=folder)))
    assert len(records(folder)) == 2


def test_settings_that_nobody_knows_have_no_fingerprint():
    with pytest.raises(fingerprint.NoFingerprintError, match="object has no fingerprint"):
        fingerprint.fingerprint({"a": object()})
