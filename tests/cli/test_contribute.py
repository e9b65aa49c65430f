"""`fairpool contribute`: it says what leaves, asks, and writes nothing before the answer."""

import json
import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from fairpool.columns import NumberColumn, Rules
from fairpool.columns.rules import Bounds
from fairpool.exchange.contribution_file import ContributionFile
from fairpool.exchange.home import HOME_VARIABLE
from fairpool.signatures import SigningKey
from tests.support.exchange import OPERATOR, a_plan, signed_plan
from tests.support.home import a_home, rows_of, write_table
from tests.support.projects import COMMAND, fairpool
from tests.support.terminals import lines_of, on_a_terminal

TRUST = OPERATOR.public.fingerprint


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A party's machine: a plan, a table and a home."""
    monkeypatch.setenv(HOME_VARIABLE, str(a_home(tmp_path / "home")))
    (tmp_path / "plan.json").write_bytes(signed_plan(a_plan()).document.content)
    write_table(tmp_path / "mine.csv", rows_of(60))
    return tmp_path


def contribute(place, *options, out="north.contribution", data="mine.csv"):
    return fairpool("contribute", "plan.json", "--data", data, "--out", out, *options, cwd=place)


def test_a_script_says_yes_beforehand(place):
    done = contribute(place, "--yes", "--trust", TRUST.replace(" ", "").upper())
    assert done.returncode == 0, done.stderr
    out = done.stdout
    for piece in (
        "60 row(s), no row",
        "gram: 4 x 4 number(s), 128 bytes",
        "gram[1][1] = ",
        "nonce",
    ):
        assert piece in out
    assert "The operator sees sums over your rows." in out
    assert (place / "north.contribution").exists()
    # Once compared, a key need not be compared again.
    later = contribute(place, "--yes", "--json")
    assert json.loads(later.stdout)["again"]
    # What leaves is shown in the same order, whatever order a file is read in.
    again = contribute(place, "--yes").stdout
    assert re.findall(r"^  (\w+): .*bytes", again, re.M) == ["gram", "moment", "squares"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ([], "never compared.*--trust"),
        (["--trust", TRUST], "no terminal.*--yes"),
        (["--yes"], "never compared"),
        (["--yes", "--trust", "81f3"], "--trust says"),
        (["--trust", TRUST, "--json"], "--yes"),
    ],
)
def test_without_an_answer_nothing_is_written(place, options, why):
    before = sorted(place.rglob("*"))
    done = contribute(place, *options)
    assert done.returncode == 2

    assert re.search(why, done.stderr or done.stdout, re.S)
    # An operator whom nobody knows is the first thing that is said, and not the last of forty.
    assert ("What leaves" in done.stdout) == ("no terminal" in why)
    assert sorted(place.rglob("*")) == before


def test_a_script_agrees_to_new_terms(place):
    assert contribute(place, "--yes", "--trust", TRUST).returncode == 0
    plan = a_plan()
    changed = replace(plan, terms=replace(plan.terms, share_inputs=True), drops=("b",))
    (place / "plan.json").write_bytes(signed_plan(changed).document.content)
    write_table(place / "more.csv", rows_of(90))
    command = {"data": "more.csv", "out": "more.contribution"}
    refused = contribute(place, "--yes", **command)
    assert refused.returncode == 2
    assert "share_inputs: False before, True now" in refused.stderr
    assert "columns without which a row is left out" in refused.stderr
    assert not (place / "more.contribution").exists()
    assert contribute(place, "--yes", "--new-terms", **command).returncode == 0
    # From now on these are the terms that were agreed to.
    assert contribute(place, "--yes", **command).returncode == 0


@pytest.mark.parametrize(
    "noes",
    [
        (b"\n", b"y\n\x04"),
        pytest.param((b"n\n", b"y\nn\n", b"y\n\n", b"\x04"), marks=pytest.mark.soak),
    ],
    ids=["some", "others"],
)
def test_a_person_is_asked_twice(place, monkeypatch, noes):
    """No, nothing, or an end of what is typed, at the first or the second question."""
    monkeypatch.chdir(place)
    command = ("contribute", "plan.json", "--data", "mine.csv", "--out", "x.contribution")
    before = sorted(place.rglob("*"))
    for typed in noes:
        code, output = on_a_terminal(*command, typed=typed)
        assert code == 1
        assert "Nothing was written." in "\n".join(lines_of(output))
        assert sorted(place.rglob("*")) == before
    code, output = on_a_terminal(*command, typed=b"y\ny\n")
    assert code == 0
    assert TRUST in " ".join(" ".join(lines_of(output)).split())
    assert (place / "x.contribution").exists()


def test_a_stop_in_the_middle_of_writing_does_not_say_that_nothing_is_there(place, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("fairpool.consortium.home.journal.os.replace", stopped)
        done = contribute(place, "--yes", "--trust", TRUST)
    assert done.returncode == 130
    assert done.stderr == (
        "stopped; if it was begun, the next fairpool contribute finishes it: run this again\n"
    )
    again = contribute(place, "--yes", "--trust", TRUST)
    assert again.returncode == 0, again.stderr
    assert (place / "north.contribution").exists()


def test_who_reads_nothing_agrees_to_nothing(place):
    """As in `fairpool contribute ... --yes | head -1`."""
    before = sorted(place.rglob("*"))
    command = [COMMAND, "contribute", "plan.json", "--data", "mine.csv", "--out", "x.contribution"]
    process = subprocess.Popen(
        [*command, "--yes", "--trust", TRUST],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    assert "could not be shown to the end" in process.stderr.read()
    process.stderr.close()
    assert process.wait() == 2
    assert sorted(place.rglob("*")) == before


def test_a_wrong_unit_can_be_seen_before_the_answer(place):
    """The smallest, the median and the largest value of each column, as the plan reads them."""
    a = NumberColumn("a", 1.0, 2.0, rules=Rules(bounds=Bounds(-90.0, 90.0)))
    plan = a_plan(units={"a": "mm"})
    encoding = replace(plan.encoding, columns=(a, *plan.encoding.columns[1:]))
    plan = replace(plan, encoding=encoding)
    (place / "plan.json").write_bytes(signed_plan(plan).document.content)
    values = np.array([row[0] for row in rows_of(60)])
    said = contribute(place, "--yes", "--trust", TRUST).stdout
    ends = f"{values.min():.6g} to {values.max():.6g}, half of them below {np.median(values):.6g}"
    assert re.search(rf"  a: +{re.escape(ends)} \(the plan has -90 .. 90 mm\)", said)
    assert re.search(r"  c: +'x' 30, 'y' 30\n", said)
    assert said.index("  a: ") < said.index("What leaves")
    # In a wrong unit it is another table, but not another range.
    write_table(place / "inches.csv", [(a / 25.4, b, c, y) for a, b, c, y in rows_of(60)])
    options = ["--yes", "--replace", "--rows-may-be-seen"]
    said = contribute(place, *options, data="inches.csv", out="2.contribution").stdout
    assert f"{values.min() / 25.4:.6g} to {values.max() / 25.4:.6g}" in said


def test_a_table_that_is_written_otherwise(place):
    rows = rows_of(60)
    lines = ["Alpha;b;c;y"]
    for a, b, c, y in rows:
        lines.append(";".join(str(value).replace(".", ",") for value in (a, b, c, y)))
    (place / "own.csv").write_text("\n".join(lines) + "\n")
    (place / "own.toml").write_text(
        '[reading]\nseparator = ";"\ndecimal = ","\n[columns.a]\nnamed = "Alpha"\n'
    )
    assert contribute(place, "--yes", "--trust", TRUST).returncode == 0
    done = contribute(place, "--yes", "--reading", "own.toml", "--json", data="own.csv")
    # The rows are recognised, however they are written.
    assert json.loads(done.stdout)["again"]


def test_a_table_in_another_unit(place):
    plan = signed_plan(a_plan(units={"a": "mm"})).document.content
    (place / "plan.json").write_bytes(plan)
    inches = [(a / 25.4, b, c, y) for a, b, c, y in rows_of(60)]
    write_table(place / "inches.csv", inches)
    (place / "own.toml").write_text('[columns.a]\nfrom = "inch"\n')
    options = ["--yes", "--trust", TRUST, "--rows-may-be-seen"]
    assert contribute(place, *options, out="1.contribution").returncode == 0
    again = ["--replace", "--reading", "own.toml"]
    done = contribute(place, *options, *again, out="2.contribution", data="inches.csv")
    assert done.returncode == 0, done.stderr
    files = [place / name for name in ("1.contribution", "2.contribution")]
    contents = [ContributionFile.of_bytes(file.read_bytes(), file.name) for file in files]
    np.testing.assert_allclose(*(one.arrays["gram"] for one in contents), rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("reading = 3", "reading"),
        ("[reading]\nseperator = ';'", "seperator"),
        ("[columns.z]\nnamed = 'Z'", "no such column"),
        ("[model]\nkind = 'gp'", r"\[reading\] and \[columns.NAME\] alone"),
        ("[reading", "not valid TOML"),
    ],
)
def test_a_wrong_reading_is_refused(place, text, why):

    (place / "own.toml").write_text(text)
    done = contribute(place, "--yes", "--trust", TRUST, "--reading", "own.toml")
    assert done.returncode == 2
    assert re.search(why, done.stderr)


def test_a_name_that_the_operator_would_not_know_is_refused(place):
    done = contribute(place, "--yes", out="north.safetensors")
    assert done.returncode == 2
    assert "such as north.contribution" in done.stderr


def test_what_is_lacking_is_said_with_its_remedy(place, tmp_path):
    (place / "home" / "signing.key").unlink()
    assert "fairpool keys new" in contribute(place).stderr
    SigningKey.fresh().write(place / "other.key")
    assert "no party with your key" in contribute(place, "--key", "other.key").stderr
    (place / "plan.json").write_text("{}")
    done = contribute(place, "--key", "other.key")
    assert done.returncode == 2
    assert "plan.json: no signed plan" in done.stderr
    (place / "plan.json").unlink()
    assert "cannot be read" in contribute(place).stderr


def test_the_operators_own_words_are_set_apart(place):
    says = "Nothing: a contribution tells nobody anything of any row."
    plan = signed_plan(a_plan(discloses=(says,))).document.content
    (place / "plan.json").write_bytes(plan)
    out = " ".join(contribute(place, "--yes", "--trust", TRUST).stdout.split())
    told, besides = out.split("What the operator writes besides, which cannot be checked here:")
    assert "15 sums over them: 10 of products of two features" in told
    assert says not in told
    assert says in besides
    assert "Beside you the plan has South (key " in besides
