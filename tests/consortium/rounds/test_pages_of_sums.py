"""What letters, report and result say of parties who send sums; and that no row is in any file."""

import json

import numpy as np
import pyarrow as pa
import pytest

from tests.support.projects import round_folder
from tests.support.sums import MODELS, NAMES, Case, classes, numbers

CANARIES = {"x": 2.1234567, "z": 3.7654321, "y": 41.987654}
"""Values of one row of North's."""


def with_canaries(table):
    columns = table.to_pydict()
    for name, value in CANARIES.items():
        if isinstance(columns[name][5], float):
            columns[name][5] = value
    return pa.table(columns)


def case_in(folder, kind="blr", *, of_classes=False, **more):
    make = classes if of_classes else numbers
    tables = {name: make(160, seed, 0.4 * seed) for seed, name in enumerate(NAMES)}
    tables["North"] = with_canaries(tables["North"])
    more.setdefault("by_sums", NAMES[:2])
    case = Case(folder=folder, tables=tables, kind=kind, classes=of_classes, **more)
    case.planned()
    return case


@pytest.fixture(scope="module")
def one_round(tmp_path_factory):
    case = case_in(tmp_path_factory.mktemp("pages"))
    return case, case.next_round()


def words(path):
    return " ".join(path.read_text().split())


def test_a_letter_says_that_the_table_stayed_and_what_the_sums_show(one_round):
    case, _ = one_round
    parties = round_folder(case.folder) / "parties"
    (sent,) = case.sent["North"].values()
    letter = words(parties / "North" / "letter.html")
    came = f"which stayed with you: sums over them came instead (contribution {sent.digest[:16]})"
    assert came in letter
    assert "The operator sees sums over your rows." in letter
    of_rows = words(parties / "West" / "letter.html")
    assert "160 rows of data, used as they came" in of_rows
    assert "sums over your rows" not in of_rows


def test_the_report_and_the_result_name_contributions(one_round):
    case, _ = one_round
    operator = round_folder(case.folder) / "operator"
    assert words(operator / "report.html").count("came as sums; its table stayed with it") == 2
    result = json.loads((operator / "result.json").read_text())
    tables = {party["name"]: party["table"] for party in result["parties"]}
    for name in NAMES[:2]:
        sent = [file.digest for file in case.sent[name].values()]
        assert tables[name]["contributions"] == sent
        assert tables[name]["rows_read"] == 160
    assert tables["West"]["contributions"] == []


def test_letters_say_what_was_learned_from_sums(tmp_path):
    case = case_in(tmp_path, learned_from_sums=True, by_sums=NAMES)
    case.next_round()
    letter = words(round_folder(case.folder) / "parties" / "North" / "letter.html")
    assert "Its hyperparameters were learned from all parties' sums alone" in letter.replace(
        "&#39;", "'"
    )


def traces(table, encoding):
    """What a row's values look like in a file, as texts and as numbers, raw and encoded."""
    row = table.slice(5, 1)
    values = [value for value in (row[name][0].as_py() for name in CANARIES) if value != "red"]
    values = [value for value in values if isinstance(value, float)]
    encoded = [*encoding.encode(row)[0], *encoding.encode_target(row)]
    encoded = [value for value in encoded if abs(value) > 1e-6 and abs(value) != 1]
    found = [str(value).encode() for value in values]
    return found + [np.float64(value).tobytes() for value in (*values, *encoded)]


@pytest.mark.parametrize("of_classes", [False, True], ids=["numbers", "classes"])
@pytest.mark.parametrize("kind", MODELS)
def test_no_value_of_a_partys_rows_is_in_its_contribution_or_in_anything_made_of_it(
    kind, of_classes, tmp_path
):
    case = case_in(tmp_path, kind, of_classes=of_classes)
    done = case.next_round()
    (tmp_path / "North.csv").unlink(missing_ok=True)
    forbidden = traces(case.tables["North"], done.preparation.encoding)
    files = [path for path in sorted(tmp_path.rglob("*")) if path.is_file()]
    contribution = tmp_path / "North-0.contribution"
    assert contribution in files
    assert sum("parties" in path.parts for path in files) >= 5
    for path in files:
        content = path.read_bytes()
        for trace in forbidden:
            assert trace not in content, path
    # They could have been found: where rows are kept, they are.
    case.by_sums = ()
    case.configure(())
    assert forbidden[0] in (tmp_path / "North.csv").read_bytes()
