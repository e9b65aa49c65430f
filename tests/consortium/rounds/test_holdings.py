"""Everything that a party holds is worth its reward, to 1e-9, whatever came and went before."""

from itertools import islice

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


@pytest.mark.parametrize(
    ("kind", "covariance"),
    [
        ("blr", "full"),
        ("gp", "hidden"),
        pytest.param("sparse_gp", "hidden", marks=pytest.mark.soak),
        pytest.param("network", "hidden", marks=pytest.mark.soak),
    ],
)
def test_all_that_is_held_is_worth_the_reward(tmp_path, kind, covariance):
    consortium = Consortium(
        folder=tmp_path,
        kind=kind,
        rho=0.6,
        tables={name: numbers(60, i, 0.3 * i) for i, name in enumerate("ABC")},
        rewards=f'covariance = "{covariance}"',
    )
    check_all(consortium, numbers)


@pytest.mark.parametrize("kind", ["blr", pytest.param("gp", marks=pytest.mark.soak)])
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
    # Of an exact process less, which takes longer.
    most = 6 if consortium.kind == "gp" else 8
    for step in islice(steps(consortium, rows), most):
        done = consortium.next_round()
        body = check_round(consortium, done, holdings)
        sent.append(sum(party["file"] is not None for party in body["parties"]))
        consortium.check_ledger()
        assert body["summary"].startswith(f"round {len(sent)}:"), step
    assert sent[0] == 3
    assert sum(sent[3:]) >= 6  # otherwise little was looked at


def test_rows_that_were_sent_to_nobody_since_are_still_held(tmp_path):
    """Rows return with new ones in a round that sends nobody anything, and leave again."""
    tables = {"A": numbers(60, 1), "V": numbers(80, 2, 0.5), "B": numbers(50, 3)}
    consortium = Consortium(folder=tmp_path, tables=tables, rho=0.2)
    holdings = Holdings()
    check_round(consortium, consortium.next_round(), holdings)
    tables["V"] = with_more(without(tables["V"], 3), numbers(12, 5))
    consortium.rho = 0.7
    done = consortium.next_round()
    check_round(consortium, done, holdings)
    assert not any(one.sent for one in done.collaboration.received)
    returned = done.contributions[1].assignment
    assert len(returned.new) == 1
    # A row of that very batch goes.
    parts = [returned.batches.parts[name] for name in returned.part_names]
    member = next(k for k in range(79) if parts[returned.groups[k]].parent is not None)
    tables["V"] = without(tables["V"], member)
    done = consortium.next_round()
    assert done.contributions[1].assignment.gone == 1
    check_round(consortium, done, holdings)
    # And ten of it: it leaves.
    members = [k for k in range(79) if parts[returned.groups[k]].parent is not None]
    others = [k for k in range(78) if k + (k >= member) in members]
    tables["V"] = without(tables["V"], *others[:9])
    done = consortium.next_round()
    assert done.contributions[1].assignment.gone == 0
    assert done.contributions[1].assignment.left == returned.new
    check_round(consortium, done, holdings)
