"""Everything that a party holds is worth its reward, to 1e-9, whatever came and went before."""

import pyarrow as pa
import pytest

from tests.support.consortia import CLASSES, Consortium, classes, numbers
from tests.support.holdings_oracle import Holdings, check_round

CLASS_TARGET = f'target = {{ column = "y", kind = "classes", levels = {list(CLASSES)} }}'


def without(table, *rows):
    return table.take([k for k in range(table.num_rows) if k not in rows])


def with_more(table, more):
    return pa.concat_tables([table, more])


def corrected(table, row):
    """A row's label is another now."""
    labels = table["y"].to_pylist()
    if isinstance(labels[row], str):
        labels[row] = CLASSES[1 - CLASSES.index(labels[row])]
    else:
        labels[row] += 0.5
    return table.set_column(table.schema.get_field_index("y"), "y", pa.array(labels))


def steps(consortium, rows):
    """Joins, leaves, withdrawals, returns and corrections, one round after the other."""
    tables = consortium.tables
    yield "three parties"
    tables["B"] = with_more(tables["B"], rows(40, 11))
    yield "B has more rows"
    a = tables["A"]
    tables["A"] = without(a, 3)
    c = tables.pop("C")
    tables["D"] = rows(60, 4, 1.0)
    yield "A withdraws a row, C leaves, D joins"
    tables["A"] = a
    tables["C"] = c
    consortium.rho = 0.4
    yield "A's row and C return, rho is lower"
    b = with_more(tables["B"], rows(40, 12))
    tables["B"] = corrected(b, 5)
    tables["A"] = with_more(without(a, 7), rows(45, 13))
    consortium.rho = 0.3
    yield "B corrects a label, A withdraws a row, and both have new ones"
    tables["A"] = with_more(without(with_more(a, rows(45, 13)), 60), rows(50, 14))
    consortium.rho = 0.2
    yield "A's row returns, another goes, more come"
    d = tables.pop("D")
    tables["B"] = without(tables["B"], 1, 2, 80)
    consortium.rho = 0.1
    yield "D leaves, B withdraws three rows"
    tables["D"] = with_more(d, rows(50, 15, 1.0))
    tables["C"] = without(c, *range(20))
    consortium.rho = 0.05
    yield "D returns with more, C withdraws twenty"


@pytest.mark.parametrize("covariance", ["hidden", "full"])
@pytest.mark.parametrize("kind", ["blr", "sparse_gp", "network", "gp"])
def test_all_that_is_held_is_worth_the_reward(tmp_path, kind, covariance):
    if kind == "gp" and covariance == "full":
        pytest.skip("an exact process has no covariance of weights")
    consortium = Consortium(
        folder=tmp_path,
        kind=kind,
        rho=0.6,
        tables={name: numbers(60, i, 0.3 * i) for i, name in enumerate("ABC")},
        rewards=f'covariance = "{covariance}"',
    )
    check_all(consortium, numbers)


@pytest.mark.parametrize("kind", ["blr", "gp"])
def test_all_that_is_held_is_worth_the_reward_with_classes(tmp_path, kind):
    tables = {name: classes(60, i, 0.3 * i) for i, name in enumerate("ABC")}
    consortium = Consortium(
        folder=tmp_path,
        kind=kind,
        rho=0.6,
        tables=tables,
        extra=CLASS_TARGET,
        rewards="share_labels = true" if kind == "gp" else "",
    )
    check_all(consortium, classes)


def check_all(consortium, rows):
    holdings = Holdings()
    sent = []
    for step in steps(consortium, rows):
        done = consortium.next_round()
        body = check_round(consortium, done, holdings)
        sent.append(sum(party["file"] is not None for party in body["parties"]))
        consortium.check_ledger()
        assert body["summary"].startswith(f"round {len(sent)}:"), step
    assert sent[0] == 3
    assert sum(sent[3:]) >= 6  # otherwise little was looked at
