"""What was valued is what was looked at: every reading of a file hashes it."""

import io
import os
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import fairpool as fp
from fairpool.columns import NumberColumn
from fairpool.compute.workers import Workers
from fairpool.consortium import hashing_stream, reading
from fairpool.consortium.contents import Content, contents_of
from fairpool.consortium.faults import Columns
from fairpool.consortium.hashing_stream import HashingStream
from fairpool.consortium.intake import survey
from fairpool.consortium.learning import learn
from fairpool.consortium.prediction import predict_file
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.scrutiny import scrutinise
from fairpool.consortium.statistics import summarise_files
from fairpool.consortium.tables import Source
from fairpool.consortium.valuation import value
from fairpool.encoding import TableEncoding
from fairpool.errors import DataError
from fairpool.targets import NumberLabels, NumberTarget
from tests.support.projects import (
    MODELS,
    finished_run,
    prepared,
    project,
    reward_file,
    sha256,
    table,
    write,
    written_run,
)

CHANGED = r'^party "Party 1": .*p1\.{} was changed while it was read; leave it alone and run again$'


class Swap:
    """Somebody who puts another file in the place of one, and later the old one back.

    To be told about progress; a moment is a text of it, or a text and a count.
    """

    def __init__(self, file, other, *moments):
        self.file, self.other, self.moments = file, other, list(moments)
        self.spare = file.with_name("spare")

    def __call__(self, text, done=0, total=None):
        if self.moments and self.moments[0] in (text, (text, done)):
            self.moments.pop(0)
            self.change()

    def change(self):
        if self.spare.exists():
            os.replace(self.spare, self.file)
        else:
            os.replace(self.file, self.spare)
            self.file.write_bytes(self.other)


class Overwrite(Swap):
    """The same in place: whoever has the file open sees the change."""

    def change(self):
        time.sleep(0.02)  # until the file system's clock has ticked
        if self.spare.exists():
            self.file.write_bytes(self.spare.read_bytes())
        else:
            self.spare.write_bytes(self.file.read_bytes())
            self.file.write_bytes(self.other)


def as_bytes(content, suffix, **options):
    """A table as the content of a file."""
    stream = io.BytesIO()
    if suffix == "csv":
        pa.csv.write_csv(content, stream)
    else:
        pq.write_table(content, stream, **options)
    return stream.getvalue()


def other_rows(suffix, rows=25):
    """As many rows as the second party has, in the same columns."""
    return as_bytes(table(rows, 77, 3.0), suffix)


@pytest.mark.parametrize("change", [Swap, Overwrite])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(
    "moment", ["reading p0", "learning hyperparameters", "valuing, and making the models"]
)
def test_a_file_that_changes_between_two_readings_stops_the_run(tmp_path, moment, suffix, change):
    """One swapped after it was looked at took a contribution from 3.0 to 8.7, unnoticed."""
    folder = project(tmp_path, suffix=f".{suffix}")
    moment = f"{moment}.{suffix}" if "reading" in moment else moment
    swap = change(folder / f"p1.{suffix}", other_rows(suffix), moment)
    with pytest.raises(DataError, match=CHANGED.format(suffix)):
        finished_run(folder, workers=Workers(progress=swap))
    assert swap.moments == []


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_that_is_put_back_in_time_stops_the_run_all_the_same(tmp_path, suffix):
    """It is another one only while the sample is taken, and the old one before that is checked."""
    folder = project(tmp_path, suffix=f".{suffix}")
    moments = (f"reading p0.{suffix}", f"reading p1.{suffix}")
    swap = Swap(folder / f"p1.{suffix}", other_rows(suffix), *moments)
    before = sha256(swap.file)
    with pytest.raises(DataError, match=CHANGED.format(suffix)):
        finished_run(folder, workers=Workers(progress=swap))
    assert sha256(swap.file) == before


READINGS = {
    "recognised": ("learning hyperparameters", ("recognising rows of p1.{}", 25)),
    "summed up": (('summarising party "Party 1"', 0), ('summarising party "Party 1"', 1)),
    "judged": (
        ('summarising party "Party 2"', 1),
        ("looking for rows of Party 1 that stand out", 1),
    ),
    "given noise": ("valuing, and making the models", ('adding noise to party "Party 1"', 1)),
    "looked at": (
        ('adding noise to party "Party 2"', 1),
        ("looking for labels of Party 1 that stand out", 1),
    ),
}
"""When a reading of the second party's only piece begins and ends, as it is told."""


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("while_it_is", READINGS)
def test_a_file_that_is_another_one_only_during_one_reading_stops_the_run(
    tmp_path, suffix, while_it_is
):
    folder = project(tmp_path, suffix=f".{suffix}")
    begins, (text, count) = READINGS[while_it_is]
    swap = Swap(folder / f"p1.{suffix}", other_rows(suffix), begins, (text.format(suffix), count))
    before = sha256(swap.file)
    with pytest.raises(DataError, match=CHANGED.format(suffix)):
        finished_run(folder, workers=Workers(progress=swap))
    assert sha256(swap.file) == before


@pytest.mark.parametrize(
    ("owner", "name", "moment"),
    [
        ("test data", "test.csv", "looking at residuals"),
        ("public data", "public.csv", "learning hyperparameters"),
    ],
)
def test_public_and_test_data_must_not_change_either(tmp_path, owner, name, moment):
    folder = project(tmp_path, extra='public = { data = "public.csv" }')
    write(folder / "public.csv", table(60, 8))
    swap = Swap(folder / name, other_rows("csv", 30), moment)
    with pytest.raises(DataError, match=rf"^{owner}: .*{name} was changed while it was read"):
        finished_run(folder, workers=Workers(progress=swap))


@pytest.mark.parametrize(
    ("kind", "last"),
    [
        ("blr", "looking for labels of Party 2 that stand out"),
        ("gp", ("recognising rows of p2.csv", 30)),
    ],
)
def test_nothing_is_read_a_last_time_for_its_hash(tmp_path, kind, last):
    """After the last reading a change does no harm: an exact Gaussian process needs but three."""
    model, rewards = MODELS[kind]
    folder = project(tmp_path, model=model, rewards=rewards)
    expected = finished_run(folder)
    swap = Swap(folder / "p1.csv", other_rows("csv"), last)
    run = finished_run(folder, workers=Workers(progress=swap))
    assert swap.moments == []
    np.testing.assert_array_equal(run.collaboration.rewards, expected.collaboration.rewards)
    assert run.preparation.surveys[1].contents == expected.preparation.surveys[1].contents


def test_a_file_that_is_gone_stops_the_run(tmp_path):
    preparation = prepared(project(tmp_path))
    (tmp_path / "p1.csv").unlink()
    with pytest.raises(DataError, match=r"p1\.csv"):
        learn(preparation)


def test_a_file_that_was_only_touched_is_the_same(tmp_path):
    preparation = prepared(project(tmp_path, suffix=".parquet"))
    content = (tmp_path / "p1.parquet").read_bytes()
    (tmp_path / "p1.parquet").unlink()
    (tmp_path / "p1.parquet").write_bytes(content)
    assert scrutinise(value(learn(preparation))).collaboration.game.rows == (40, 25, 30)


# Files of several pieces

ENCODING = TableEncoding(
    (NumberColumn("x", 0.0, 1.0), NumberColumn("z", 0.0, 1.0)), NumberTarget("y", 0.0, 1.0)
)
COLUMNS = Columns(number_inputs=("x", "z"), target=NumberLabels("y"))
NAMES = ("x", "z", "y")


@pytest.fixture
def pieces(tmp_path, monkeypatch):
    """A Parquet file of four pieces."""
    monkeypatch.setattr(reading, "PIECE_ROWS", 10)
    source = Source('party "a"', (tmp_path / "a.parquet",))
    source.files[0].write_bytes(as_bytes(table(40, 0), "parquet", row_group_size=10))
    assert [piece.hashes for piece in Piece.of(source.files)] == [True, False, False, False]
    return source


def summarise(source, expected, workers):
    model = fp.BayesianLinearRegression(0.1)
    return summarise_files(
        "a", source, encoding=ENCODING, model=model, expected=expected, workers=workers
    )


@pytest.mark.parametrize("change", [Swap, Overwrite])
@pytest.mark.parametrize("done", [0, 1, 3])
def test_a_file_that_is_another_one_for_one_of_its_pieces_is_noticed(pieces, change, done):
    """Only one piece is read from the other file; before and after, the file is the old one."""
    other = as_bytes(table(40, 5), "parquet", row_group_size=10)
    expected = survey(pieces, COLUMNS, Workers()).contents
    summary = summarise(pieces, expected, Workers())
    moments = ("summarising a", done), ("summarising a", done + 1)
    swap = change(pieces.files[0], other, *moments)
    with pytest.raises(DataError, match=r'party "a": .*a\.parquet was changed while it was read'):
        summarise(pieces, expected, Workers(progress=swap))
    assert swap.moments == []
    again = summarise(pieces, survey(pieces, COLUMNS, Workers()).contents, Workers())
    np.testing.assert_array_equal(again.gram, summary.gram)


@pytest.mark.parametrize("change", [Swap, Overwrite])
def test_a_file_that_changes_while_it_is_looked_at_is_noticed(pieces, change):
    other = as_bytes(table(40, 5), "parquet", row_group_size=10)
    swap = change(pieces.files[0], other, ('looking at party "a"', 2))
    with pytest.raises(DataError, match=r'party "a": .*a\.parquet was changed while it was read'):
        survey(pieces, COLUMNS, Workers(progress=swap))


def test_a_file_of_fewer_pieces_in_its_place_is_refused(pieces):
    expected = survey(pieces, COLUMNS, Workers()).contents
    swap = Swap(pieces.files[0], as_bytes(table(40, 5), "parquet"), ("summarising a", 1))
    with pytest.raises(DataError, match=r"a\.parquet"):
        summarise(pieces, expected, Workers(progress=swap))


def test_hashes_come_back_from_every_kind_of_worker(pieces, tmp_path):
    write(tmp_path / "b.csv", table(7, 1))
    source = Source("a", (*pieces.files, tmp_path / "b.csv"))
    expected = {
        source.files[0]: Content(sha256=sha256(source.files[0]), rows=40),
        source.files[1]: Content(sha256=sha256(source.files[1]), rows=7),
    }
    assert survey(source, COLUMNS, Workers()).contents == expected
    for pool in (ThreadPoolExecutor(3), ProcessPoolExecutor(2)):
        with pool:
            assert survey(source, COLUMNS, Workers(pool)).contents == expected
            summarise(source, expected, Workers(pool))
            another = expected | {source.files[1]: Content(sha256="", rows=7)}
            with pytest.raises(DataError, match=r"a: .*b\.csv was changed while it was read"):
                summarise(source, another, Workers(pool))


def test_a_copy_of_another_machine_is_not_taken_for_a_change(pieces):
    """Its files have other numbers, and other times."""
    readings = [Reading(piece=piece, numbers=NAMES, texts=()) for piece in Piece.of(pieces.files)]
    passages = []
    for number, one in enumerate(readings):
        assert sum(batch.columns.num_rows for batch in one) == 10
        states = {
            state._replace(machine=f"m{number}", inode=number) for state in one.passage.states
        }
        passages.append(replace(one.passage, states=frozenset(states)))
    contents = contents_of("a", passages)
    assert contents == {pieces.files[0]: Content(sha256=sha256(pieces.files[0]), rows=40)}
    moved = replace(passages[1], states=passages[1].states | passages[2].states)
    one_more = {state._replace(inode=99) for state in passages[2].states}
    changed = replace(passages[2], states=passages[2].states | one_more)
    assert contents_of("a", [passages[0], moved, passages[2]])
    with pytest.raises(DataError, match="was changed while it was read"):
        contents_of("a", [passages[0], passages[1], changed])


# CSV files


@pytest.mark.parametrize("threads", [True, False])
@pytest.mark.parametrize("block", [300, 5000, 1 << 22])
def test_a_hashed_csv_file_gives_the_batches_that_arrow_reads_from_it(
    tmp_path, monkeypatch, block, threads
):
    monkeypatch.setattr(reading, "CSV_BLOCK", block)
    file = tmp_path / "a.csv"
    write(file, table(3000, 0))
    hashed = Reading(piece=Piece(file=file), numbers=NAMES, texts=("kind",), threads=threads)
    with pa.csv.open_csv(
        file,
        read_options=pa.csv.ReadOptions(block_size=block),
        parse_options=pa.csv.ParseOptions(newlines_in_values=True),
    ) as own:
        for batch, expected in zip(hashed, own, strict=True):
            assert batch.columns.select([*NAMES, "kind"]).equals(
                pa.Table.from_batches([expected]).select([*NAMES, "kind"])
            )
    assert hashed.passage.sha256 == sha256(file)
    assert hashed.passage.rows == 3000


@pytest.mark.parametrize("small", [1 << 24, 0])
def test_a_stream_is_released_before_its_reading_ends(tmp_path, monkeypatch, small):
    """If Arrow's threads held it longer, a program that ends now would abort now and then."""
    monkeypatch.setattr(hashing_stream, "SMALL_FILE", small)
    streams = []

    class Watched(HashingStream):
        def __init__(self, file):
            super().__init__(file)
            streams.append(self)

    monkeypatch.setattr(reading, "HashingStream", Watched)
    file = tmp_path / "a.csv"
    write(file, table(3000, 0))
    whole = Reading(piece=Piece(file=file), numbers=NAMES, texts=("kind",))
    assert sum(batch.columns.num_rows for batch in whole) == 3000
    assert whole.passage.sha256 == sha256(file)
    given_up = iter(Reading(piece=Piece(file=file), numbers=NAMES, texts=("kind",)))
    next(given_up)
    given_up.close()
    assert [stream._released.is_set() for stream in streams] == [True, True]


def test_what_the_reader_leaves_of_a_file_is_hashed_too(tmp_path):
    (tmp_path / "a.csv").write_bytes(bytes(range(256)) * 1000)
    stream = HashingStream(tmp_path / "a.csv")
    assert stream.read(3) == b"\x00\x01\x02"
    assert stream.drained() == sha256(tmp_path / "a.csv")


def test_data_that_change_while_they_are_predicted_are_refused(tmp_path):
    folder = project(tmp_path / "p", sizes=(20, 20))
    written_run(folder)
    reward = reward_file(folder, "Party-0")
    write(tmp_path / "new.csv", table(9, 3))
    swap = Swap(tmp_path / "new.csv", other_rows("csv", 9), ("looking at data to predict", 1))
    with pytest.raises(DataError, match=r"^data to predict: .*new\.csv was changed while"):
        predict_file(reward, tmp_path / "new.csv", swap)
