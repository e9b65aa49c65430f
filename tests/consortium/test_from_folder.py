"""`fairpool init --from`: a configuration that fits a folder, and nothing lost or overwritten."""

import json
import tomllib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

from fairpool.consortium.configuration_file import load_configuration
from fairpool.consortium.from_folder import configure_folder
from fairpool.errors import FairpoolError
from tests.support.farm import write_farm
from tests.support.projects import fairpool, table, write


def settings_of(folder):
    return tomllib.loads((folder / "collaboration.toml").read_text(encoding="utf-8"))


def party(settings, name):
    (own,) = [party for party in settings["parties"] if party["name"] == name]
    return own


def plain_folder(folder):
    folder.mkdir()
    for k, name in enumerate(("Ash", "Elm", "Oak")):
        write(folder / f"{name}.csv", table(40, k))
    return folder


def test_the_farm_s_folder(tmp_path):
    folder = write_farm(tmp_path / "farm")
    written = configure_folder(folder)
    settings = settings_of(folder)
    assert settings["target"] == "yield"
    assert [party["name"] for party in settings["parties"]] == ["Ash", "Elm", "Fir", "Oak", "Yew"]
    assert party(settings, "Elm")["reading"] == {
        "separator": ";",
        "decimal": ",",
        "missing": ["k.A."],
    }
    assert party(settings, "Fir")["reading"] == {"missing": ["-"]}
    assert party(settings, "Yew")["data"] == "Yew"
    kinds = {name: column["kind"] for name, column in settings["columns"].items()}
    assert kinds == {
        "plot_id": "id",
        "sown": "date",
        "rain_mm": "number",
        "temp_c": "number",
        "soil": "category",
        "irrigated": "category",
        "remark": "text",
    }
    assert settings["columns"]["soil"]["levels"] == ["clay", "loam", "sand"]
    # What would change numbers, or join columns of different names, is a question.
    assert "columns" not in party(settings, "Fir")
    text = (folder / "collaboration.toml").read_text()
    assert (
        "# ? 'Niederschlag' looks like rain_mm: same place, 0.042 times as large: inches?" in text
    )
    assert '# columns.rain_mm.named = "Niederschlag"\n# columns.rain_mm.from = "inch"' in text
    assert '# columns.temp_c.from = "fahrenheit"' in text
    assert len(written.questions) == 4


def test_what_it_writes_is_a_configuration(tmp_path):
    folder = plain_folder(tmp_path / "tables")
    configure_folder(folder, target="y")
    configuration = load_configuration(folder)
    assert configuration.target.column == "y"
    assert [party.name for party in configuration.parties] == ["Ash", "Elm", "Oak"]


def test_it_can_be_checked_as_it_is(tmp_path):
    folder = plain_folder(tmp_path / "tables")
    assert fairpool("init", "--from", folder, "--target", "y").returncode == 0
    checked = fairpool("check", folder, "--json")
    assert checked.returncode == 0, checked.stdout
    assert json.loads(checked.stdout)["features"]


def test_into_another_folder_paths_lead_back(tmp_path):
    folder = plain_folder(tmp_path / "tables")
    out = tmp_path / "deep" / "project"
    done = fairpool("init", "--from", folder, out, "--target", "y")
    assert done.returncode == 0
    assert party(settings_of(out), "Ash")["data"] == "../../tables/Ash.csv"
    assert sorted(file.name for file in folder.iterdir()) == ["Ash.csv", "Elm.csv", "Oak.csv"]
    assert fairpool("check", out).returncode == 0


def test_nothing_is_overwritten(tmp_path):
    folder = plain_folder(tmp_path / "tables")
    (folder / "collaboration.toml").write_text("mine")
    done = fairpool("init", "--from", folder)
    assert done.returncode == 2
    assert "there is one already, and it is kept; move it, or name another folder" in done.stderr
    assert (folder / "collaboration.toml").read_text() == "mine"


def test_test_and_public_files_are_no_parties(tmp_path):
    folder = plain_folder(tmp_path / "tables")
    write(folder / "test_2024.csv", table(20, 8))
    write(folder / "Public.csv", table(20, 9))
    write(folder / "testimony.csv", table(20, 10))
    configure_folder(folder, target="y")
    settings = settings_of(folder)
    assert settings["test"]["data"] == "test_2024.csv"
    assert settings["public"]["data"] == "Public.csv"
    assert [party["name"] for party in settings["parties"]] == ["Ash", "Elm", "Oak", "testimony"]


def test_the_target_is_guessed_and_asked_about(tmp_path):
    folder = plain_folder(tmp_path / "tables")
    written = configure_folder(folder)
    assert written.target == "y"
    assert written.questions[0].startswith("target: by its name")


def test_a_target_that_nobody_has_is_refused(tmp_path):
    folder = plain_folder(tmp_path / "tables")
    done = fairpool("init", "--from", folder, "--target", "harvest")
    assert done.returncode == 2
    assert "'harvest' is no column of these tables; there are 'x', 'z', 'kind', 'y'" in done.stderr
    assert not (folder / "collaboration.toml").exists()


def test_what_is_common_to_all_stands_once(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.csv").write_text("x;y\n" + "1,5;2,5\n" * 9)
    configure_folder(folder)
    settings = settings_of(folder)
    assert settings["reading"] == {"separator": ";", "decimal": ","}
    assert all("reading" not in party for party in settings["parties"])


def test_levels_of_large_tables_are_not_declared(tmp_path):
    folder = tmp_path / "tables"
    for k in range(2):
        write(folder / f"p{k}.csv", table(30_000, k))
    configure_folder(folder, target="y")
    text = (folder / "collaboration.toml").read_text()
    assert '# levels = ["green", "red"]' in text
    assert "levels" not in settings_of(folder)["columns"]["kind"]


def test_broken_files_stay_parties_and_are_asked_about(tmp_path):
    folder = plain_folder(tmp_path / "tables")
    (folder / "broken.csv").write_bytes(bytes(range(256)) * 4)
    (folder / "empty.csv").write_text("")
    written = configure_folder(folder, target="y")
    assert "broken" in written.parties
    asked = " ".join(written.questions)
    assert "broken.csv: not a text file" in asked
    assert "empty.csv: the file is empty" in asked
    checked = fairpool("check", folder)
    assert checked.returncode == 2
    assert "Traceback" not in checked.stderr


@pytest.mark.parametrize(
    ("files", "match"),
    [
        ({}, "no table of a party"),
        ({"notes.docx": b"x"}, "no table of a party"),
        ({"test.csv": b"a,b\n1,2\n"}, "no table of a party"),
        ({"a.csv": b"", "b.csv": b"\0\0"}, "the file is empty"),
    ],
)
def test_folders_without_tables_are_refused(tmp_path, files, match):
    folder = tmp_path / "tables"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with pytest.raises(FairpoolError, match=match):
        configure_folder(folder)
    assert not (folder / "collaboration.toml").exists()


def test_no_folder_and_no_meaning(tmp_path):
    for arguments, text in [
        (
            ["--from", tmp_path / "nowhere"],
            "give a folder that has one file or subfolder per party",
        ),
        ([tmp_path / "new", "--target", "y"], "has a meaning only with --from"),
        ([], "give a new or empty folder for the example"),
    ]:
        done = fairpool("init", *arguments)
        assert done.returncode == 2
        assert text in done.stderr


def test_hostile_names_stay_names(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    names = ['a "quoted"', "back\\slash", "# ? no", "ümlaut", "a]b.c", "= 1", "y"]
    for k in range(3):
        rng = np.random.default_rng(k)
        columns = {name: rng.normal(600, 50, 20) for name in names}
        columns["kind\x1b[2J"] = ["red", "green"] * 10
        columns["levels"] = ['a"b', "c\\d"] * 10
        pq.write_table(pa.table(columns), folder / f"p {k}.parquet")
    configure_folder(folder, target="y")
    settings = settings_of(folder)
    assert {*names} - {"y"} <= {*settings["columns"]}
    assert settings["columns"]["levels"]["levels"] == ['a"b', "c\\d"]
    assert "\x1b" not in (folder / "collaboration.toml").read_text()


def test_ten_thousand_columns(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    names = ",".join(f"column_{k}" for k in range(10_000))
    row = ",".join(["1.5"] * 10_000)
    for k in range(2):
        (folder / f"p{k}.csv").write_text(f"{names}\n{row}\n{row}\n")
    configure_folder(folder)
    assert settings_of(folder)["target"] == "column_9999"


def test_json_for_a_program(tmp_path):
    folder = write_farm(tmp_path / "farm")
    done = fairpool("init", "--from", folder, "--json")
    told = json.loads(done.stdout)
    assert told["file"] == str(folder / "collaboration.toml")
    assert told["target"] == "yield"
    assert len(told["questions"]) == 4


def test_what_does_not_fit_between_parties_is_asked(tmp_path):
    folder = plain_folder(tmp_path / "tables")
    content = table(40, 5)
    other_words = pa.array([f"{kind}ish" for kind in content["kind"].to_pylist()])
    signed = pa.array([f"{value:.1f}%" for value in content["x"].to_pylist()])
    content = content.set_column(2, "kind", other_words).set_column(0, "x", signed)
    write(folder / "Yew.csv", content.append_column("note", pa.nulls(40, pa.string())))
    for k, name in enumerate(("Ash", "Elm", "Oak")):
        write(folder / f"{name}.csv", table(40, k).append_column("note", pa.array(["a", "b"] * 20)))
    first, *others = (folder / "Ash.csv").read_text().splitlines()
    lines = [f"{first},y", *(f"{line},1" for line in others)]
    (folder / "Twice.csv").write_text("\n".join(lines))
    asked = configure_folder(folder, target="y").questions
    assert any(question.startswith("x seems to be number at Ash") for question in asked)
    assert any(
        "text at Yew ('" in question or "category at Yew ('" in question for question in asked
    )
    assert any("kind at Yew has greenish, redish, which nobody else" in text for text in asked)
    assert any("note: no value at Yew; shall nobody's be used?" in text for text in asked)
    assert any("two columns are named 'y'; rename or remove one" in text for text in asked)


def test_words_of_which_none_stands_twice_are_kept_through_predictions(tmp_path):
    folder = tmp_path / "tables"
    for k in range(2):
        content = table(40, k).add_column(0, "patient", [[f"{k}-{row}" for row in range(40)]])
        write(folder / f"p{k}.csv", content)
    configure_folder(folder, target="y")
    assert settings_of(folder)["columns"]["patient"]["kind"] == "id"


def test_a_title_and_truth_values_in_a_workbook(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    for name in ("a", "b"):
        book = Workbook()
        book.active.append(["The clinic's patients"])
        book.active.append([])
        book.active.append(["age", "smokes", "stay"])
        for row in range(30):
            book.active.append([20 + row, row % 3 == 0, 2.5 + row / 7])
        book.save(folder / f"{name}.xlsx")
    configure_folder(folder, target="stay")
    settings = settings_of(folder)
    assert settings["reading"] == {"header": 3}
    assert settings["columns"]["smokes"]["levels"] == ["FALSE", "TRUE"]
    checked = fairpool("check", folder, "--json")
    assert checked.returncode == 0, checked.stdout
