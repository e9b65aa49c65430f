"""The screen of `fairpool plan --what-if`: whole headings, numbers beside words, reasons, marks."""

import re

import pytest

from tests.consortium.planning.test_plan import CLASSES, WITHOUT_Y, public_table, with_public
from tests.support.exchange import NAMES
from tests.support.planned import SPREAD, planned_project
from tests.support.projects import fairpool

LONG = "The university hospital of the capital"
NETWORK = 'kind = "network"\nhidden_layers = [6, 3]\n'


@pytest.fixture(autouse=True)
def a_screen(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def screen(folder, sizes="60,20,300"):
    done = fairpool("plan", folder, "--what-if", "--sizes", sizes)
    assert done.returncode == 0, done.stderr
    return done.stdout


def row_of(text, party, table):
    """A party's cells in the first table below some words."""
    below = text[text.index(table) :].splitlines()
    line = next(line for line in below if line.startswith(f" {party} "))
    return re.split(r"\s{2,}", line.strip())


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("rho", ['"stable"', "0.4"])
def test_headings_and_numbers_are_whole_on_any_screen(tmp_path, monkeypatch, width, rho):
    monkeypatch.setenv("COLUMNS", str(width))
    planned_project(tmp_path, rewards=f"rho = {rho}")
    text = screen(tmp_path, f"{LONG}=60,South=20,West=30000")
    tables = [line for line in text.splitlines() if line.startswith(" ")]
    assert max(len(line.rstrip()) for line in tables) <= width
    assert "…" not in text
    words = " ".join(tables).split()
    for head in ("party", "rows", "alone", "contributes", "stable", "weights", "least", "sums"):
        assert head in words
    for head in ("nats", "refused", "alone,", "receive,", "%"):
        assert head in words
    # Every number with a spread is in one piece: the sign is never at the end of a line.
    assert not [line for line in tables if line.rstrip().endswith("±")]
    assert len([line for line in tables if re.match(r" West +\*?30000 ", line)]) == 1


def test_which_number_stable_is_stands_beside_the_word(tmp_path):
    text = screen(planned_project(tmp_path))
    (number,) = re.findall(r"^rho: +stable \((0\.\d+ ± 0\.\d+)\)$", text, re.M)
    heads = text[text.index("What they receive") : text.index("─", text.index("What they receive"))]
    assert number in heads
    given = screen(planned_project(tmp_path / "b", rewards="rho = 0.4"))
    assert re.search(r"^rho: +0.4$", given, re.M)
    assert re.search(r"rho = +\n +rho = +rho = +stable", given)


def test_a_word_that_is_the_same_number_in_all_draws_has_no_spread(tmp_path):
    text = screen(planned_project(tmp_path, rewards='rho = "fair"'))
    assert re.search(r"^rho: +fair \(1\)$", text, re.M)


def test_what_would_be_refused_is_marked_and_the_mark_explained(tmp_path):
    planned_project(tmp_path, rewards="rho = 1.0")
    text = screen(tmp_path, "60,5,300")
    brought, received = "What parties bring", "What they receive"
    assert row_of(text, NAMES[0], brought)[1] == "60"
    assert row_of(text, NAMES[1], brought)[1] == "*5"
    # At rho = 1 all would be refused, and with so few rows one party at any rho.
    at_1, at_0, stable = row_of(text, NAMES[0], received)[1:]
    assert [cell[0] == "*" for cell in (at_1, at_0, stable)] == [True, False, False]
    assert all(cell[0] == "*" for cell in row_of(text, NAMES[1], received)[1:])
    legend = " ".join(text.split())
    assert "* would be refused: too few rows or a rho at which some party" in legend
    assert "* some party would get less than it has alone: a run would be refused" in legend
    unmarked = screen(planned_project(tmp_path / "b", rewards="rho = 0.0"), "300,300,300")
    assert "*" not in unmarked.replace("1**2 * RBF", "").replace("rho = 1", "").split("Whom")[0]


def test_where_there_is_no_figure_the_reason_stands_beside_it(tmp_path):
    text = " ".join(screen(planned_project(tmp_path, rewards="rho = 1.0")).split())
    for name in NAMES:
        assert f"- {name}: no figure: in all 10 draws some party would be due less" in text
    assert "no figure" not in screen(planned_project(tmp_path / "b"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"model": SPREAD},
            "By the number of weights: 8 weights as configured, by [model] inducing_points;",
        ),
        (
            {"model": 'kind = "fourier"\nfeatures = 8\n'},
            "By the number of weights: 8 weights as configured, by [model] features;",
        ),
        (
            {"model": 'kind = "blr"\n'},
            'By the 7 weights that a model of kind = "blr" has here, one for each of the 6 numbers'
            " that inputs become, and one more;",
        ),
        (
            {"target": CLASSES, "columns": WITHOUT_Y},
            "By the number of weights: 8 weights of each class as configured, by [model]"
            " inducing_points;",
        ),
    ],
    ids=["sparse_gp", "fourier", "blr", "classes"],
)
def test_what_is_said_of_weights_suits_the_model(tmp_path, settings, words):
    text = " ".join(screen(planned_project(tmp_path, **settings), "300,300,300").split())
    assert words in text
    of_classes = "target" in settings
    assert ("learns another scale of the prior" in text) is of_classes
    assert ("finds labels more noisy" in text) is not of_classes


def test_what_is_said_of_weights_suits_a_network(tmp_path):
    text = " ".join(screen(with_public(tmp_path, model=NETWORK)).split())
    assert (
        'By the 4 weights that a model of kind = "network" has here, one for each unit of the last'
        " of its hidden_layers, and one more;"
    ) in text
    assert f"dealt out of {len(public_table())} public ones" in text or "drawn from" in text
    assert "a round uses the same" in text


def test_an_exact_process_is_refused_with_what_to_use(tmp_path):
    done = fairpool(
        "plan", planned_project(tmp_path, model='kind = "gp"\n'), "--what-if", "--sizes", "5,6,7"
    )
    assert done.returncode == 2
    assert 'kind = "gp": it has no weights' in done.stderr
    assert 'use kind = "sparse_gp"' in done.stderr


def test_help_says_of_which_project_each_example_is():
    text = " ".join(fairpool("plan", "--help").stdout.split())
    assert "Example, with [public] data or all declared: fairpool plan my-project" in text
    assert "as fairpool init writes them: fairpool plan my-project --what-if" in text
