"""Collaborations with a column of images, from the configuration to predictions."""

import csv
import json
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import fairpool as fp
from fairpool.consortium import image_files, reading
from fairpool.consortium.learning import learn
from fairpool.consortium.prediction import predict_file
from fairpool.consortium.statistics import summarise_files
from fairpool.consortium.valuation import value
from fairpool.encoders import read_folder
from fairpool.encoders.pictures import MADE_UP
from fairpool.errors import DataError, EncoderError
from tests.support.dialects import workbook
from tests.support.encoders import static_encoder
from tests.support.images import image_bytes, image_encoder, photos, pictured, plain
from tests.support.projects import (
    MODELS,
    fairpool,
    finished_run,
    prepared,
    round_folder,
    written_run,
)

REWARD = "rounds/0001/parties/Party-1/reward.safetensors"


def errors_of(*arguments):
    done = fairpool(*arguments, "--json")
    assert done.returncode == 2, done.stdout
    return json.loads(done.stdout)["errors"]


def cut_short():
    """Half of an image."""
    content = image_bytes(np.random.default_rng(0).integers(0, 256, (20, 20, 3)))
    return content[: len(content) // 2]


def with_photos(table, cells):
    """A table with other images."""
    return table.set_column(table.column_names.index("photo"), "photo", cells)


def test_an_image_goes_from_the_configuration_to_prediction(tmp_path):
    folder = pictured(tmp_path / "p")
    check = fairpool("check", folder)
    assert check.returncode == 0, check.stderr
    run = fairpool("run", folder, "--json")
    assert run.returncode == 0, run.stderr
    tested = json.loads(run.stdout)["test"]["everyone"]
    labels = photos(30, 99)["y"].to_numpy()
    assert tested["rmse"] < 0.2 * labels.std()  # without images, it would be nearly all of that
    sha256 = read_folder(folder / "encoders/mini").sha256
    inspected = json.loads(fairpool("inspect", folder / REWARD, "--json").stdout)
    needed = f'the encoder "mini" with sha256 {sha256}'
    assert inspected["encoders"] == f'"photo" by {needed}, 6 number(s) each'
    assert sha256 in (folder / "rounds/0001/parties/Party-1/letter.html").read_text()
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "red.png").write_bytes(image_bytes(plain(230, 50, 0)))
    (mine / "blue.jpg").write_bytes(image_bytes(plain(0, 50, 230), "JPEG"))
    (mine / "cut.png").write_bytes(cut_short())
    cells = ["red.png", "blue.jpg", "", "cut.png", "none.png", "../p/photos/0-1.png"]
    (mine / "new.csv").write_text("x,photo\n" + "".join(f"0,{cell}\n" for cell in cells))
    done = fairpool("predict", folder / REWARD, "--data", mine / "new.csv", "--encoders", folder)
    assert done.returncode == 0, done.stderr
    red, blue, *others = csv.DictReader(done.stdout.splitlines())
    assert float(red["y"]) > float(blue["y"]) + 8
    reasons = [row["reason"] for row in others]
    assert [row["y"] for row in others] == [""] * 4
    assert reasons[0] == "photo is missing"
    assert reasons[1].startswith("photo: 'cut.png': not a PNG or JPEG image that can be read")
    assert reasons[2].startswith("photo: 'none.png': there is no such file; names are relative")
    assert reasons[3].startswith("photo: '../p/photos/0-1.png': a path that leads out of the")


def test_classes_are_told_by_images(tmp_path):
    folder = pictured(tmp_path)
    for name in ("p0", "p1", "p2", "test"):
        table = pa.csv.read_csv(folder / f"{name}.csv")
        is_red = table["y"].to_numpy() > 26
        labels = pa.array(np.where(is_red, "rot", "blau"))
        pa.csv.write_csv(table.set_column(2, "y", labels), folder / f"{name}.csv")
    file = folder / "collaboration.toml"
    classes = 'target = { column = "y", kind = "classes", levels = ["rot", "blau"] }'
    file.write_text(file.read_text().replace('target = "y"', classes))
    run = fairpool("run", folder, "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["test"]["everyone"]["errors"] < 0.2
    (folder / "new.csv").write_text("x,photo\n0,red.png\n0,blue.png\n")
    (folder / "red.png").write_bytes(image_bytes(plain(230, 50, 0)))
    (folder / "blue.png").write_bytes(image_bytes(plain(0, 50, 230)))
    done = fairpool("predict", folder / REWARD, "--data", folder / "new.csv", "--encoders", folder)
    assert done.returncode == 0, done.stderr
    assert [row["y"] for row in csv.DictReader(done.stdout.splitlines())] == ["rot", "blau"]


@pytest.mark.parametrize("kind", MODELS)
def test_every_kind_of_model_reads_images(tmp_path, kind):
    model, rewards = MODELS[kind]
    run = written_run(pictured(tmp_path, model=model, rewards=rewards))
    table = photos(20, 7).drop_columns(["y"])
    expected = run.collaboration.models[1].predict_table(table)
    loaded = fp.load_reward(tmp_path / REWARD)
    found = loaded.predict_table(table, encoders=tmp_path / "encoders/mini")
    assert np.array(found) == pytest.approx(np.array(expected), rel=1e-9)


def test_a_table_in_memory_has_the_bytes_of_images(tmp_path):
    folder = pictured(tmp_path)
    written_run(folder)
    reward = fp.load_reward(folder / REWARD)
    table = photos(5, 7)
    contents = table["photo"].to_pylist()
    expected = reward.predict_table(table, encoders=folder)
    as_structs = with_photos(table, pa.array([{"bytes": c, "path": "a.png"} for c in contents]))
    assert np.array(reward.predict_table(as_structs, encoders=folder)).tolist() == (
        np.array(expected).tolist()
    )
    names = with_photos(table, pa.array(["a.png"] * 5))
    with pytest.raises(DataError, match=r'"photo" has type string; give the bytes of images'):
        reward.predict_table(names, encoders=folder)
    wrong = with_photos(table, pa.array([*contents[:3], b"no image", contents[4]]))
    with pytest.raises(DataError, match=r'column "photo", row 3 \(counting from 0\): not a PNG'):
        reward.predict_table(wrong, encoders=folder)
    lacking = with_photos(table, pa.array([contents[0], b"", *contents[2:]]))
    with pytest.raises(DataError, match=r"row 1 .*photo is missing"):
        reward.predict_table(lacking, encoders=folder)
    with pytest.raises(
        EncoderError, match=r'column "photo": the encoder "mini" with sha256 .*give'
    ):
        reward.predict_table(table)


# Where images may be


def as_tables(folder, kind):
    """The tables of a project, in another way: p0.csv becomes p0.parquet or p0.xlsx."""
    suffix = "xlsx" if kind == "workbook" else "parquet"
    for name in ("p0", "p1", "p2", "test"):
        table = pa.csv.read_csv(folder / f"{name}.csv")
        names = table["photo"].to_pylist()
        contents = [(folder / name).read_bytes() for name in names]
        if kind == "workbook":
            (folder / f"{name}.xlsx").write_bytes(workbook(table.to_pydict()))
            continue
        cells = {
            "names": pa.array(names),
            "categories": pa.array(names).dictionary_encode(),
            "bytes": pa.array(contents),
            "large": pa.array(contents, pa.large_binary()),
            "structs": pa.array([{"bytes": content, "path": None} for content in contents]),
            "paths": pa.array(
                [{"bytes": None, "path": name} for name in names],
                pa.struct([("bytes", pa.binary()), ("path", pa.string())]),
            ),
        }[kind]
        pa.parquet.write_table(
            with_photos(table, cells), folder / f"{name}.parquet", row_group_size=7
        )
    file = folder / "collaboration.toml"
    file.write_text(file.read_text().replace(".csv", f".{suffix}"))


@pytest.mark.parametrize(
    "kind", ["workbook", "names", "categories", "bytes", "large", "structs", "paths"]
)
def test_every_kind_of_table_gives_the_same(tmp_path, kind):
    folder = pictured(tmp_path)
    expected = finished_run(folder).collaboration
    as_tables(folder, kind)
    found = finished_run(folder)
    assert [model.value for model in found.collaboration.models] == pytest.approx(
        [model.value for model in expected.models], rel=1e-9
    )
    contents = found.preparation.parties[0].contents
    (hashed,) = {bool(content.images) for content in contents.values()}
    assert hashed == (kind in ("workbook", "names", "categories", "paths"))


def test_folders_may_be_separated_as_on_windows_and_links_may_stay_inside(tmp_path):
    folder = pictured(tmp_path)
    expected = prepared(folder).parties[1]
    text = (folder / "p1.csv").read_text()
    (folder / "p1.csv").write_text(text.replace("photos/", "photos\\"))
    os.replace(folder / "photos/1-3.png", folder / "elsewhere.png")
    (folder / "photos/1-3.png").symlink_to(folder / "elsewhere.png")
    assert prepared(folder).parties[1].rows == expected.rows


def pipe(path):
    os.mkfifo(path)


HOSTILE = {
    "absolute": ("/etc/hostname", "'/etc/hostname': a path that leads out of the table's folder"),
    "drive": ("C:\\photos\\a.png", "a path that leads out of the table's folder; name a file"),
    "share": ("\\\\host\\share\\a.png", "a path that leads out of the table's folder"),
    "above": ("photos/../../secret.png", "a path that leads out of the table's folder"),
    "above, as on windows": ("photos\\..\\..\\secret.png", "a path that leads out of the table's"),
    "lacking": ("photos/none.png", "'photos/none.png': there is no such file; names are relative"),
    "folder": ("photos", "'photos': not a plain file; name an image"),
    "the folder itself": (".", "'.': not a plain file; name an image"),
    "too long": ("a" * 300, "cannot be opened; correct the name, or make it readable"),
    "below a file": ("p0.csv/a.png", "'p0.csv/a.png': cannot be opened; correct the name"),
    "escape": ("\x1b[2J.png", r"'\x1b[2J.png': there is no such file"),
    "pipe": ("pipe.png", "'pipe.png': not a plain file; name an image"),
    "link": ("link.png", "'link.png': a link out of the table's folder; put the file itself"),
    "linked folder": ("out/secret.png", "a link out of the table's folder; put the file itself"),
    "circle": ("circle.png", "'circle.png': "),
    "table": ("p0.csv", "'p0.csv': not a PNG or JPEG image that can be read"),
    "empty": ("empty.png", "'empty.png': an empty file; send it again"),
    "cut": ("cut.png", "'cut.png': not a PNG or JPEG image that can be read ("),
    "gif": ("a.gif", "'a.gif': not a PNG or JPEG image that can be read ("),
    "long": ("long.png", "'long.png': more than 9000 bytes; make it smaller, or raise image_bytes"),
    "large": (
        "large.png",
        "'large.png': more than 5000 pixels; make it smaller, or raise image_pi",
    ),
}


def hostile(folder):
    """Files that no image column should name."""
    pipe(folder / "pipe.png")
    secret = folder.parent / "secret.png"
    secret.write_bytes(image_bytes(plain()))
    (folder / "link.png").symlink_to(secret)
    (folder / "out").symlink_to(folder.parent)
    (folder / "circle.png").symlink_to(folder / "circle.png")
    (folder / "empty.png").write_bytes(b"")
    (folder / "cut.png").write_bytes(cut_short())
    (folder / "a.gif").write_bytes(image_bytes(plain(), "GIF"))
    (folder / "long.png").write_bytes(image_bytes(plain()) + bytes(9000))
    (folder / "large.png").write_bytes(image_bytes(plain(height=80, width=80)))


@pytest.fixture(scope="module")
def hostile_project(tmp_path_factory):
    folder = pictured(tmp_path_factory.mktemp("hostile") / "p")
    hostile(folder)
    with (folder / "collaboration.toml").open("a") as file:
        file.write("[limits]\nimage_bytes = 9000\nimage_pixels = 5000\n")
    return folder


@pytest.mark.parametrize("name", HOSTILE)
def test_images_that_cannot_be_used_are_named_with_table_line_and_column(hostile_project, name):
    cell, said = HOSTILE[name]
    folder = hostile_project
    names = photos(40, 1, folder)["photo"].to_pylist()
    names[2] = cell
    pa.csv.write_csv(with_photos(photos(40, 1), pa.array(names)), folder / "p1.csv")
    (error,) = errors_of("check", folder)
    assert error.startswith(f'party "Party 1": {folder / "p1.csv"}, line 4, column "photo": ')
    assert said in error


def test_all_faults_are_told_at_once_and_counted(hostile_project):
    folder = hostile_project
    table = photos(40, 1, folder)
    cells = ["none.png", "cut.png", "photos/1-2.png", "gone.png", *table["photo"].to_pylist()[4:]]
    text = with_photos(table, pa.array(cells)).to_pydict()
    text["x"] = ["much", *text["x"][1:]]
    (folder / "p1.csv").write_text(
        "\n".join(["x,photo,y", *(f"{x},{p},{y}" for x, p, y in zip(*text.values(), strict=True))])
    )
    number, image = sorted(errors_of("check", folder), key=lambda error: "photo" in error)
    assert "line 2, column \"x\": 'much' is not a number" in number
    assert "line 2, column \"photo\": 'none.png': there is no such file" in image
    assert image.endswith("(and 2 more)")


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (lambda c: pa.array([*c[:2], b"no image", *c[3:]]), "an image of 8 bytes: not a PNG or"),
        (
            lambda c: pa.array([{"bytes": b"x", "path": "../a"}] * 2 + [{"bytes": b, "path": ""}
                               for b in c[2:]]),
            "an image of 1 bytes: not a PNG or JPEG",
        ),
        (lambda c: pa.array([1.5] * len(c)), "has type double, not images or their names"),
        (lambda c: pa.array([[b] for b in c]), "has type list<"),
        (lambda c: pa.array([{"data": b} for b in c]), "has type struct<data: binary>, not images"),
        (lambda c: pa.array(["../up.png"] * len(c)), "'../up.png': a path that leads out of"),
    ],
)  # fmt: skip
def test_parquet_files_with_other_things_are_refused(tmp_path, cells, said):
    folder = pictured(tmp_path, suffix=".parquet", named=False)
    table = photos(40, 1)
    column = cells(table["photo"].to_pylist())
    pa.parquet.write_table(with_photos(table, column), folder / "p1.parquet")
    (error,) = errors_of("check", folder)
    assert error.startswith(f'party "Party 1": {folder / "p1.parquet"}')
    assert 'column "photo"' in error
    assert said in error


def test_a_limit_cannot_be_raised_beyond_what_is_ever_opened(tmp_path):
    folder = pictured(tmp_path)
    with (folder / "collaboration.toml").open("a") as file:
        file.write("[limits]\nimage_pixels = 1_000_000_000\n")
    (error,) = errors_of("check", folder)
    assert "image_pixels" in error
    assert "134217728" in error


# What was valued is what was looked at


@pytest.mark.parametrize("kind", ["csv", "names", "bytes"])
def test_an_image_that_changes_between_readings_stops_the_run(tmp_path, kind):
    folder = pictured(tmp_path)
    if kind != "csv":
        as_tables(folder, kind)
    preparation = prepared(folder)
    (folder / "photos/1-3.png").write_bytes(image_bytes(plain(1, 2, 3)))
    if kind == "bytes":
        learn(preparation)  # which names no file
        return
    with pytest.raises(DataError, match=r'"Party 1": an image that .*p1\.\w+ names was changed'):
        learn(preparation)


def test_an_image_that_changes_late_is_noticed_too(tmp_path):
    folder = pictured(tmp_path)
    learned = learn(prepared(folder))
    (folder / "photos/2-3.png").unlink()
    with pytest.raises(DataError, match=r"p2.csv, line 5, column \"photo\": .*no such file"):
        value(learned)
    (folder / "photos/2-3.png").write_bytes(image_bytes(plain(1, 2, 3)))
    with pytest.raises(DataError, match=r"an image that .*p2\.csv names was changed while"):
        value(learned)


def test_two_images_that_change_places_are_noticed(tmp_path):
    folder = pictured(tmp_path)
    preparation = prepared(folder)
    first, second = folder / "photos/1-3.png", folder / "photos/1-4.png"
    contents = first.read_bytes(), second.read_bytes()
    second.write_bytes(contents[0])
    first.write_bytes(contents[1])
    with pytest.raises(DataError, match=r"an image that .* names was changed"):
        learn(preparation)


def test_the_hashes_of_inputs_tell_of_images(tmp_path):
    folder = pictured(tmp_path)
    written_run(folder)
    (folder / "photos/1-3.png").write_bytes(image_bytes(plain(1, 2, 3)))
    written_run(folder)
    before, after = (
        (round_folder(folder, number) / "operator/inputs.sha256").read_text().splitlines()
        for number in (1, 2)
    )
    (k,) = [k for k, line in enumerate(before) if after[k] != line]
    assert before[k].startswith("# ")
    assert before[k].endswith(" of the images that p1.csv names")


# The same numbers for everybody


def test_batches_and_workers_give_the_same_numbers(tmp_path, monkeypatch):
    folder = pictured(tmp_path, suffix=".parquet", named=False)
    run = finished_run(folder)
    encoding = run.preparation.encoding
    table = photos(40, 0)
    whole = encoding.encode(table)
    parts = [encoding.encode(table.slice(start, 7)) for start in range(0, 40, 7)]
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    expected = run.built.model.whitened_features(whole)
    for module, name in ((image_files, "IMAGE_ROWS"), (reading, "IMAGE_ROWS")):
        monkeypatch.setattr(module, name, 3)
    source = run.preparation.parties[0].source
    summary = summarise_files("Party 0", source, encoding=encoding, model=run.built.model)
    assert summary.gram == pytest.approx(expected.T @ expected, rel=1e-9, abs=1e-9)


def test_jobs_make_no_difference(tmp_path):
    folder = pictured(tmp_path)
    as_tables(folder, "names")
    results = []
    for jobs in (1, 2):
        done = fairpool("run", folder, "--jobs", jobs, "--out", folder / f"out{jobs}", "--json")
        assert done.returncode == 0, done.stderr
        results.append(json.loads(done.stdout)["total"])
    # Each preview has a secret of its own, and so other batches: sums differ by rounding.
    assert results[0] == pytest.approx(results[1], rel=1e-12)


def test_predictions_of_names_are_those_of_bytes(tmp_path):
    folder = pictured(tmp_path)
    written_run(folder)
    found = predict_file(folder / REWARD, folder / "test.csv", encoders=folder)
    mean, _ = fp.load_reward(folder / REWARD).predict_table(photos(30, 99), encoders=folder)
    assert [row[0] for row in found.rows] == pytest.approx(mean.tolist(), rel=1e-9)


def test_a_bad_image_does_not_change_the_predictions_of_other_rows(tmp_path):
    folder = pictured(tmp_path)
    written_run(folder)
    whole = predict_file(folder / REWARD, folder / "test.csv", encoders=folder)
    (folder / "photos/99-4.png").write_bytes(b"no image")
    found = predict_file(folder / REWARD, folder / "test.csv", encoders=folder)
    assert found.rows[4][0] is None
    del found.rows[4], whole.rows[4]
    assert [row[0] for row in found.rows] == pytest.approx([row[0] for row in whole.rows])


def test_a_bad_image_of_a_parquet_file_has_a_reason(tmp_path):
    folder = pictured(tmp_path)
    written_run(folder)
    table = photos(12, 7)
    contents = table["photo"].to_pylist()
    contents[9] = b"no image"
    contents[10] = None
    data = folder / "new.parquet"
    pa.parquet.write_table(with_photos(table, pa.array(contents)), data)
    found = predict_file(folder / REWARD, data, encoders=folder)
    reasons = [row[-1] for row in found.rows]
    assert reasons[:9] == [None] * 9
    assert reasons[9].startswith("photo: an image of 8 bytes: not a PNG or JPEG image")
    assert reasons[10:] == ["photo is missing", None]


def test_more_rows_of_ones_own_are_added_with_the_encoder(tmp_path):
    folder = pictured(tmp_path)
    written_run(folder)
    more = pa.concat_tables([photos(40, 1, folder), photos(30, 5, folder)])
    pa.csv.write_csv(more, folder / "more.csv")
    arguments = ("update", folder / REWARD, "--data", folder / "more.csv", "--encoders", folder)
    done = fairpool(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    updated = json.loads(done.stdout)
    assert updated["worth"] > updated["worth_before"]
    (folder / "photos/5-3.png").unlink()
    (error,) = errors_of(*arguments, "--force")
    assert "line 45, column \"photo\": 'photos/5-3.png': there is no such file" in error


# Pins, kinds and extras


def test_an_encoder_of_texts_reads_no_images(tmp_path):
    folder = pictured(tmp_path)
    static_encoder(folder / "encoders/texts")
    file = folder / "collaboration.toml"
    text = file.read_text()
    file.write_text(text.replace('"encoders/mini"', '"encoders/texts"'))
    (error,) = errors_of("check", folder)
    assert 'an encoder of texts; say kind = "text", or name one of images' in error
    file.write_text(text.replace('kind = "image"', 'kind = "text"'))
    (error,) = errors_of("check", folder)
    assert 'an encoder of images; say kind = "image", or name one of texts' in error


def test_an_encoder_must_be_pinned_and_be_the_one(tmp_path):
    (error,) = errors_of("check", pictured(tmp_path / "a", pinned=False))
    sha256 = read_folder(tmp_path / "a/encoders/mini").sha256
    assert error.startswith("[columns.photo]: encoder_sha256 is missing; if ")
    assert error.endswith(f'add the line encoder_sha256 = "{sha256}"')
    folder = pictured(tmp_path / "b")
    image_encoder(folder / "encoders/mini", resample=3)
    (error,) = errors_of("check", folder)
    assert f"but encoder_sha256 says {sha256}; put the encoder" in error


def test_an_image_without_an_encoder_is_no_input(tmp_path):
    folder = pictured(tmp_path)
    file = folder / "collaboration.toml"
    before, _, _ = file.read_text().partition("[columns.photo]")
    file.write_text(f'{before}[columns.photo]\nkind = "image"\n')
    assert prepared(folder).encoding.features == ("x",)
    file.write_text(f'features = ["x", "photo"]\n{file.read_text()}')
    assert any("never an input without an encoder" in error for error in errors_of("check", folder))


def test_a_plain_install_says_which_extra_is_needed(tmp_path, monkeypatch):
    folder = pictured(tmp_path)
    monkeypatch.setitem(sys.modules, "PIL", None)
    (error,) = errors_of("check", folder)
    assert error.startswith("[columns.photo]: the encoder ")
    assert error.endswith("needs pillow; install it: pip install 'fairpool[encoders]'")


def test_the_file_holds_the_hash_and_no_weights_or_images(tmp_path):
    folder = pictured(tmp_path)
    run = written_run(folder)
    content = (folder / REWARD).read_bytes()
    assert read_folder(folder / "encoders/mini").sha256.encode() in content
    for part in (b"\x89PNG", b"photos/", str(tmp_path).encode()):
        assert part not in content
    assert fp.load_reward(folder / REWARD).encoding == run.preparation.encoding


# Missing images, copies, made-up rows


def test_missing_images_are_refused_dropped_or_imputed(tmp_path):
    (error, *_) = errors_of("check", pictured(tmp_path / "a", gaps=0.2))
    assert "missing value(s) (photo" in error
    dropped = prepared(pictured(tmp_path / "b", 'missing = "drop"', gaps=0.2))
    lacking = sum(photos(40, i, gaps=0.2)["photo"].null_count for i in range(3))
    assert sum(survey.dropped for survey in dropped.parties) == lacking > 0
    folder = pictured(tmp_path / "c", 'missing = "impute"', gaps=0.2)
    run = written_run(folder)
    encoding = run.preparation.encoding
    assert encoding.features[-1] == "photo is missing"
    told = [note.text for note in run.notes if note.code == "imputed values"]
    assert any("are taken to be an image in which nothing is seen" in text for text in told)
    X = encoding.encode(pa.table({"x": [0.0, 0.0], "photo": [image_bytes(plain()), None]}))
    assert (X[:, -1].tolist(), X[1, 1:-1].any()) == ([0, 1], False)
    letter = (folder / "rounds/0001/parties/Party-1/letter.html").read_text()
    assert "It tells that somebody lacks images of" in letter


def test_missing_images_in_every_way_of_parquet_files(tmp_path):
    folder = pictured(tmp_path, 'missing = "drop"', suffix=".parquet", named=False)
    table = photos(40, 1)
    contents = table["photo"].to_pylist()
    contents[3] = None
    contents[5] = b""
    pa.parquet.write_table(with_photos(table, pa.array(contents)), folder / "p1.parquet")
    cells = [{"bytes": content, "path": ""} for content in photos(40, 2)["photo"].to_pylist()]
    cells[3] = None
    cells[5] = {"bytes": None, "path": None}
    cells[7] = {"bytes": None, "path": " "}
    pa.parquet.write_table(with_photos(photos(40, 2), pa.array(cells)), folder / "p2.parquet")
    assert [survey.dropped for survey in prepared(folder).parties] == [0, 2, 3]


def test_rows_with_the_same_images_are_found_as_copies(tmp_path):
    folder = pictured(tmp_path)
    mine = pa.csv.read_csv(folder / "p0.csv")
    theirs = pa.csv.read_csv(folder / "p1.csv")
    os.makedirs(folder / "copied")
    copies = mine.slice(0, 30).to_pydict()
    for k, name in enumerate(copies["photo"]):
        copies["photo"][k] = f"copied/{k}.png"
        os.link(folder / name, folder / copies["photo"][k])
    pa.csv.write_csv(pa.concat_tables([theirs, pa.table(copies)]), folder / "p1.csv")
    run = finished_run(folder)
    (text,) = [note.text for note in run.notes if "30 " in note.text and "Party 1" in note.text]
    assert "Party 0" in text


def test_made_up_rows_have_made_up_images(tmp_path):
    encoding = prepared(pictured(tmp_path, "[columns.x]\nrange = [-5, 5]\n")).encoding
    made_up = encoding.made_up()
    images = {row.tobytes() for row in made_up[:, 1:]}
    assert len(images) == MADE_UP
    assert np.square(made_up[:, 1:]).mean(axis=1) == pytest.approx(1)
