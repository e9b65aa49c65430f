"""The same person under other names: another party of the plan, another operator."""

from dataclasses import replace

import numpy as np
import pytest

from fairpool.errors import ContributionError
from fairpool.exchange.plan import PlannedParty
from fairpool.signatures import SigningKey
from tests.support.exchange import KEYS, NAMES, a_plan, signed_plan
from tests.support.home import a_home, contributed, prepared, rows_of, write_table

PLAN = signed_plan(a_plan())
ROWS = rows_of(301)
ELSEWHERE = SigningKey(bytes([99] * 32))


def known_as(*ids, keys=NAMES):
    """The plan, with other identities."""
    parties = [
        PlannedParty(id=one, name=name, key=KEYS[key].public)
        for one, name, key in zip(ids, NAMES, keys, strict=True)
    ]
    return signed_plan(a_plan(parties=tuple(parties)))


OTHER_OPERATOR = signed_plan(a_plan(name="Other"), ELSEWHERE)


@pytest.fixture
def home(tmp_path):
    home = a_home(tmp_path / "home")
    contributed(PLAN, table_of(tmp_path, ROWS[:300]), home, tmp_path / "1.contribution")
    return home


def table_of(folder, rows):
    return write_table(folder / "mine.csv", rows)


def last_row(first, second):
    """What two contributions tell of the row that makes the difference: its rank, its label."""
    gram = second.file.arrays["gram"] - first.file.arrays["gram"]
    squares = second.file.arrays["squares"] - first.file.arrays["squares"]
    rank = int((np.linalg.eigvalsh(gram) > 1e-9).sum())
    return rank, float(np.sqrt(squares))


def test_another_identity_for_the_same_key_is_refused(home, tmp_path):
    renamed = known_as("north-2", "South", "West")
    with pytest.raises(ContributionError, match=r"as that of the party 'north-2'.*'North'"):
        prepared(renamed, table_of(tmp_path, ROWS), home)


@pytest.mark.parametrize("who", ["another key", "another operator"])
def test_a_row_is_not_read_from_the_difference_to_what_others_have(who, home, tmp_path):
    settings = {"plan": OTHER_OPERATOR}
    if who == "another key":
        settings = {"plan": known_as("north-2", "South", "West", keys=("South", "North", "West"))}
        settings["party"] = "South"
    table = table_of(tmp_path, ROWS)
    with pytest.raises(ContributionError, match=r"differs by 1 row\(s\)"):
        prepared(table=table, home=home, **settings)
    # That it is no false alarm: the label of the last row.
    first = prepared(PLAN, table_of(tmp_path, ROWS[:300]), a_home(tmp_path / "fresh"))
    both = prepared(table=table_of(tmp_path, ROWS), home=home, rows_may_be_seen=True, **settings)
    rank, label = last_row(first, both)
    assert rank == 1
    assert label == pytest.approx(abs(ROWS[300][3] - 10) / 5)
    # The very same rows tell nothing new.
    same = prepared(table=table_of(tmp_path, ROWS[:300]), home=home, **settings)
    assert same.file.manifest.rows == 300


def test_several_contributions_to_different_operators_are_put_together(home, tmp_path):
    more = [*ROWS[:300], *rows_of(40, seed=3)]
    contributed(PLAN, table_of(tmp_path, more), home, tmp_path / "2.contribution")
    one_more = [*more, *rows_of(1, seed=4)]
    with pytest.raises(ContributionError, match=r"group of 1 row\(s\)"):
        prepared(OTHER_OPERATOR, table_of(tmp_path, one_more), home)
    made = prepared(OTHER_OPERATOR, table_of(tmp_path, more), home)
    assert made.file.manifest.rows == 340


def test_rows_of_another_kind_may_be_few_beside_those_that_others_have(home, tmp_path):
    others = rows_of(PLAN.plan.fewest_rows, seed=9)
    made = prepared(OTHER_OPERATOR, table_of(tmp_path, others), home)
    assert made.file.manifest.rows == PLAN.plan.fewest_rows


def test_new_keys_names_and_origins_are_told(home, tmp_path):
    pretended = SigningKey(bytes([101] * 32)).public
    parties = (
        PLAN.plan.parties[0],
        replace(PLAN.plan.parties[1], key=pretended, name="Southern"),
        replace(PLAN.plan.parties[2], key=None),
    )
    plan = signed_plan(a_plan(parties=parties, origin="other words"))
    made = prepared(plan, table_of(tmp_path, rows_of(700)), home)
    assert made.standing.changes(plan) == (
        "South is called Southern now",
        f"another key of Southern: {KEYS['South'].public.fingerprint} before,"
        f" {pretended.fingerprint} now",
        f"another key of West: {KEYS['West'].public.fingerprint} before, none now",
        "where scaling and features come from: 'declared ranges' before, 'other words' now",
    )
