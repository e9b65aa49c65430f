"""A party's contribution, made at home: the sums of a run, and nothing else."""

import os
import stat
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from fairpool.columns import NumberColumn, Rules
from fairpool.columns.rules import Bounds
from fairpool.consortium.home.contributing import contribute_table
from fairpool.consortium.home.journal import FOLDER, SECRET_FILE
from fairpool.consortium.home.making import Choices
from fairpool.consortium.home.own_table import OWNER
from fairpool.consortium.tables import Source
from fairpool.errors import ContributionError, DataError, PlanError, SecretError
from fairpool.exchange.arrival import Sender, arrive
from fairpool.exchange.contribution_file import ContributionFile
from fairpool.exchange.plan import PlannedParty
from fairpool.signatures import SigningKey
from fairpool.tables.arrays import as_numeric
from tests.support.exchange import KEYS, NAMES, OPERATOR, a_plan, signed_plan
from tests.support.home import a_home, contributed, prepared, rows_of, write_table

PLAN = signed_plan(a_plan())
CLASSES = signed_plan(a_plan(classes=True))
NORTH = Sender(id="North", name="North", key=KEYS["North"].public)


@pytest.fixture
def home(tmp_path):
    return a_home(tmp_path / "home")


def table_of(folder, rows, name="mine.csv"):
    return write_table(folder / name, rows)


def encoded(rows, plan):
    columns = dict(zip("abcy", zip(*rows, strict=True), strict=True))
    table = pa.table({name: list(values) for name, values in columns.items()})
    encoding = plan.plan.encoding
    return encoding.encode(table), encoding.encode_target(table)


@pytest.mark.parametrize("plan", [PLAN, CLASSES], ids=["numbers", "classes"])
def test_what_arrives_is_the_sums_of_the_rows(plan, home, tmp_path):
    rows = rows_of(90, classes=plan is CLASSES)
    out = tmp_path / "north.contribution"
    contributed(plan, table_of(tmp_path, rows), home, out)
    arrived = arrive(out.read_bytes(), str(out), plan=plan, sender=NORTH)
    assert len(arrived) == 90
    expected = plan.plan.model.moments(*encoded(rows, plan))
    for name, array in expected._asdict().items():
        np.testing.assert_allclose(arrived.file.arrays[name], as_numeric(array, name), rtol=1e-12)


def test_nothing_is_written_before_the_answer(home, tmp_path):
    table = table_of(tmp_path, rows_of(50))
    before = sorted(tmp_path.rglob("*"))
    prepared(PLAN, table, home)
    assert sorted(tmp_path.rglob("*")) == before


def test_what_is_kept_at_home_is_for_its_owner_alone(home, tmp_path):
    contributed(PLAN, table_of(tmp_path, rows_of(50)), home, tmp_path / "one.contribution")
    for path in home.rglob("*"):
        mode = stat.S_IMODE(os.stat(path).st_mode)
        assert not mode & 0o077, path
    assert (home / SECRET_FILE).exists()
    assert len(list((home / FOLDER).iterdir())) == 1


def test_a_later_contribution_has_new_rows_alone(home, tmp_path):
    rows = rows_of(120)
    first = contributed(PLAN, table_of(tmp_path, rows[:70]), home, tmp_path / "1.contribution")
    # Another order, and some rows are gone.
    table = table_of(tmp_path, rows[:4:-1], "later.csv")
    second = contributed(PLAN, table, home, tmp_path / "2.contribution")
    assert second.file.manifest.rows == 50
    assert second.file.manifest.left_out == second.left_out == 65
    assert second.vanished == 5
    assert second.file.manifest.earlier == (first.file.digest,)
    expected = PLAN.plan.model.moments(*encoded(rows[70:], PLAN))
    np.testing.assert_allclose(second.file.arrays["gram"], expected.gram, rtol=1e-12)


def test_a_person_may_contribute_for_two_parties(home, tmp_path):
    table = table_of(tmp_path, rows_of(50))
    contributed(PLAN, table, home, tmp_path / "north.contribution")
    made = contributed(PLAN, table, home, tmp_path / "south.contribution", party="South")
    assert (made.file.manifest.party, made.file.manifest.rows, made.vanished) == ("South", 50, 0)
    assert not made.file.manifest.earlier


def test_equal_rows_are_as_many_as_there_are(home, tmp_path):
    rows = rows_of(60)
    some = table_of(tmp_path, [*rows[:30], *rows[:10]])
    made = contributed(PLAN, some, home, tmp_path / "1.contribution")
    assert made.file.manifest.rows == 40
    more = table_of(tmp_path, [*rows[:2], *rows, *rows[:10]])
    assert prepared(PLAN, more, home).file.manifest.rows == 32


def test_the_same_rows_once_more_give_the_same_file(home, tmp_path):
    table = table_of(tmp_path, rows_of(50))
    first, second = tmp_path / "1.contribution", tmp_path / "2.contribution"
    contributed(PLAN, table, home, first)
    assert contributed(PLAN, table, home, first).again
    assert contributed(PLAN, table, home, second).again
    assert second.read_bytes() == first.read_bytes()


@pytest.mark.parametrize(
    "written",
    [
        lambda a, b, c, y: (round(a, 3), round(b, 3), c, round(y, 3)),
        lambda a, b, c, y: (a, b, c, round(y, 2)),
        lambda a, b, c, y: (a, b + 0.01, c, y),
        lambda a, b, c, y: (a, b, c, y + 5),
    ],
    ids=["rounded", "label rounded", "shifted", "label shifted"],
)
def test_rows_that_come_again_written_otherwise_are_refused(written, home, tmp_path):
    rows = rows_of(150)
    contributed(PLAN, table_of(tmp_path, rows[:100]), home, tmp_path / "1.contribution")
    new = [*rows[100:], *(written(*row) for row in rows[:60])]
    with pytest.raises(ContributionError, match=r"about 6\d of 110 .* written otherwise"):
        prepared(PLAN, table_of(tmp_path, new), home)
    assert prepared(PLAN, table_of(tmp_path, rows[:50:-1]), home).file.manifest.rows == 50


def test_rows_that_were_pasted_in_twice_are_called_that(home, tmp_path):
    rows = rows_of(120)
    contributed(PLAN, table_of(tmp_path, rows[:80]), home, tmp_path / "1.contribution")
    twice = table_of(tmp_path, [*rows[:80], *rows[:80], *rows[80:]])
    with pytest.raises(ContributionError, match=r"about 80 of 120 .*line 82.* pasted in twice\?"):
        prepared(PLAN, twice, home)


def test_all_rows_anew_stand_in_place_of_all_before(home, tmp_path):
    rows = rows_of(120)
    first = contributed(PLAN, table_of(tmp_path, rows[:40]), home, tmp_path / "1.contribution")
    second = contributed(PLAN, table_of(tmp_path, rows[:80]), home, tmp_path / "2.contribution")
    table = table_of(tmp_path, rows)
    third = contributed(PLAN, table, home, tmp_path / "3.contribution", replace=True)
    assert third.file.manifest.rows == 120
    assert third.file.manifest.replaces == (first.file.digest, second.file.digest)
    assert not third.file.manifest.earlier


def test_a_difference_of_few_rows_is_refused(home, tmp_path):
    rows = rows_of(120)
    contributed(PLAN, table_of(tmp_path, rows[:80]), home, tmp_path / "1.contribution")
    for others in (rows[:83], rows[:78], [*rows[3:80], *rows[80:]]):
        with pytest.raises(ContributionError, match=r"differs by [23] row"):
            prepared(PLAN, table_of(tmp_path, others), home, replace=True)
    seen = table_of(tmp_path, rows[:83])
    made = prepared(PLAN, seen, home, replace=True, rows_may_be_seen=True)
    assert made.file.manifest.rows_may_be_seen


def test_a_difference_of_several_contributions_is_refused(home, tmp_path):
    rows = rows_of(120)
    contributed(PLAN, table_of(tmp_path, rows[:40]), home, tmp_path / "1.contribution")
    contributed(PLAN, table_of(tmp_path, rows[:80]), home, tmp_path / "2.contribution")
    with pytest.raises(ContributionError, match=r"group of 3 row"):
        prepared(PLAN, table_of(tmp_path, rows[:83]), home, replace=True)


def test_rows_of_replaced_contributions_do_not_count_any_longer(home, tmp_path):
    rows = rows_of(120)
    contributed(PLAN, table_of(tmp_path, rows), home, tmp_path / "1.contribution")
    anew = table_of(tmp_path, rows[:100])
    made = contributed(PLAN, anew, home, tmp_path / "2.contribution", replace=True)
    assert made.vanished == 20
    more = [*rows[:95], *rows_of(30, seed=5)]
    later = contributed(PLAN, table_of(tmp_path, more), home, tmp_path / "3.contribution")
    assert (later.vanished, later.left_out, later.file.manifest.rows) == (5, 95, 30)
    assert len(later.file.manifest.earlier) == 2
    back = prepared(PLAN, table_of(tmp_path, [*rows, *rows_of(30, seed=6)]), home)
    assert back.file.manifest.rows == 30
    assert back.notes[0].startswith("20 row(s) are left out that are in none")


def test_the_operator_alone_cannot_say_that_rows_may_be_seen(home, tmp_path):
    shared = signed_plan(a_plan(terms=replace(PLAN.plan.terms, share_inputs=True)))
    with pytest.raises(ContributionError, match="5 row"):
        prepared(shared, table_of(tmp_path, rows_of(5)), home)


def test_few_rows_are_refused(home, tmp_path):
    few = PLAN.plan.fewest_rows - 1
    table = table_of(tmp_path, rows_of(few))
    with pytest.raises(ContributionError, match=f"{few} row.*needs {few + 1}"):
        prepared(PLAN, table, home)
    made = prepared(PLAN, table, home, rows_may_be_seen=True)
    assert made.file.manifest.rows == few


def test_rows_with_the_same_inputs_are_as_few_as_their_inputs(home, tmp_path):
    """Of sixty rows with one input, the Gram matrix is sixty times its products."""
    labels = [row[3] for row in rows_of(60)]
    for inputs, is_made in ((1, False), (PLAN.plan.fewest_rows - 1, False), (30, True)):
        rows = rows_of(inputs, seed=5) * 60
        table = table_of(
            tmp_path, [(*row[:3], y) for row, y in zip(rows, labels, strict=False)], f"{inputs}.csv"
        )
        if is_made:
            assert prepared(PLAN, table, home).file.manifest.rows == 60
            continue
        with pytest.raises(ContributionError, match=f"60 row.s. with {inputs} different inputs"):
            prepared(PLAN, table, home)
        shown = prepared(PLAN, table, home, rows_may_be_seen=True).file.arrays["gram"]
        if inputs == 1:
            assert np.linalg.matrix_rank(shown) == 1


def test_few_new_rows_wait(home, tmp_path):
    rows = rows_of(80)
    contributed(PLAN, table_of(tmp_path, rows[:77]), home, tmp_path / "1.contribution")
    with pytest.raises(ContributionError, match=r"3 new row.*beside 77 .*wait"):
        prepared(PLAN, table_of(tmp_path, rows), home)


def test_few_rows_of_a_class_or_level_are_refused(home, tmp_path):
    rows = rows_of(90, classes=True)
    rows[0] = (1.0, 0.0, "x", "red")
    reds = [row for row in rows if row[3] == "red"][:9]
    others = [row for row in rows if row[3] != "red"]
    with pytest.raises(ContributionError, match=r"9 row.*'red'.*needs 10"):
        prepared(CLASSES, table_of(tmp_path, [*others, *reds]), home)
    assert prepared(CLASSES, table_of(tmp_path, others), home).file.manifest.counts[0] == 0
    numbers = [(a, b, "x", y) for a, b, _, y in rows_of(50)]
    numbers[7] = (*numbers[7][:2], "y", numbers[7][3])
    with pytest.raises(ContributionError, match=r"1 row.*'y' in column .c.*needs 3"):
        prepared(PLAN, table_of(tmp_path, numbers), home)


def test_levels_are_counted_among_the_new_rows(home, tmp_path):
    rows = rows_of(60)
    contributed(PLAN, table_of(tmp_path, rows[:30]), home, tmp_path / "1.contribution")
    new = [(a, b, "x", y) for a, b, _, y in rows[30:]]
    new[0] = rows[31]
    with pytest.raises(ContributionError, match=r"1 row.*'y'"):
        prepared(PLAN, table_of(tmp_path, [*rows[:30], *new]), home)


def test_two_parties_are_too_few(home, tmp_path):
    parties = tuple(PlannedParty(id=n, name=n, key=KEYS[n].public) for n in NAMES[:2])
    with pytest.raises(ContributionError, match=r"2 parties, and needs 3"):
        prepared(signed_plan(a_plan(parties=parties)), table_of(tmp_path, rows_of(50)), home)


def test_a_key_that_the_plan_lacks_is_refused(home, tmp_path):
    parties = tuple(PlannedParty(id=n, name=n, key=None) for n in NAMES)
    with pytest.raises(ContributionError, match=r"no party with your key"):
        prepared(signed_plan(a_plan(parties=parties)), table_of(tmp_path, rows_of(50)), home)


def test_everything_wrong_with_a_table_is_told_at_once(home, tmp_path):
    rows = rows_of(50)
    rows[3] = ("many", rows[3][1], "z", rows[3][3])
    rows[5] = (1.0, "", "x", 10.0)
    with pytest.raises(DataError, match=r"'many' is not a number") as refused:
        prepared(PLAN, table_of(tmp_path, rows), home)
    for piece in ("line 5", "'z'", "plan's levels", "missing value"):
        assert piece in str(refused.value)
    lacking = write_table(tmp_path / "lacking.csv", [(1, 2)], header=("a", "y"))
    with pytest.raises(DataError, match=r"no columns"):
        prepared(PLAN, lacking, home)


def test_nobody_is_asked_to_falsify_a_value_out_of_range(home, tmp_path):
    a = NumberColumn("a", 1.0, 2.0, rules=Rules(bounds=Bounds(-9.0, 9.0)))
    columns = (a, *PLAN.plan.encoding.columns[1:])
    plan = signed_plan(a_plan(encoding=replace(PLAN.plan.encoding, columns=columns)))
    rows = [(12.5, *row[1:]) if number == 3 else row for number, row in enumerate(rows_of(50))]
    with pytest.raises(DataError, match=r"12.5 is outside -9 .. 9; .* if it is right, ask the op"):
        prepared(plan, table_of(tmp_path, rows), home)


def test_incomplete_rows_are_left_out_where_the_plan_says_so(home, tmp_path):
    rows = rows_of(50)
    rows[5] = (1.0, "", "x", 10.0)
    made = prepared(signed_plan(a_plan(drops=("b",))), table_of(tmp_path, rows), home)
    assert made.file.manifest.rows == 49
    assert made.notes == ("1 row(s) with missing values are left out",)


def test_another_way_to_make_sums_is_refused(home, tmp_path):
    table = table_of(tmp_path, rows_of(80))
    first = contributed(PLAN, table, home, tmp_path / "1.contribution")
    other = signed_plan(a_plan(weights=5))
    with pytest.raises(ContributionError, match=r"other sums of your rows.*--replace"):
        prepared(other, table, home)
    made = prepared(other, table, home, replace=True)
    assert made.file.manifest.replaces == (first.file.digest,)


def test_what_differs_is_said_column_by_column(home, tmp_path):
    def plan_with(*columns, **changes):
        return signed_plan(a_plan(encoding=replace(PLAN.plan.encoding, columns=columns), **changes))

    def declared(name, highest):
        bounds = Bounds(0.0, highest)
        return NumberColumn(name, *bounds.scaled, rules=Rules(bounds=bounds))

    b, c = PLAN.plan.encoding.columns[1:]
    rows = [(abs(a), b, c, y) for a, b, c, y in rows_of(80)]
    table = table_of(tmp_path, rows)
    contributed(plan_with(declared("a", 10.0), b, c), table, home, tmp_path / "1.contribution")
    wider = plan_with(declared("a", 20.0), b, replace(c, levels=("y", "x")), units={"b": "mm"})
    with pytest.raises(ContributionError, match="other sums") as refused:
        prepared(wider, table, home)
    assert (
        "(a: range [0.0, 10.0] before, [0.0, 20.0] now; c: levels ['x', 'y'] before, ['y', 'x']"
        " now; the unit of b (none) before, 'mm' now)" in str(refused.value)
    )
    with pytest.raises(ContributionError, match=r"\(a: range [^;]*; z came; b is gone\)"):
        prepared(plan_with(declared("a", 30.0), replace(b, name="z"), c), table, home)
    with pytest.raises(ContributionError, match=r"\(the model's number of weights 4 before"):
        prepared(plan_with(declared("a", 10.0), b, c, model=a_plan(weights=5).model), table, home)


def test_another_rounding_of_a_bound_is_no_change(home, tmp_path):
    table = table_of(tmp_path, rows_of(80))
    contributed(PLAN, table, home, tmp_path / "1.contribution")
    rounded = signed_plan(a_plan(feature_bound=float(np.nextafter(1.5, 2.0))))
    assert rounded.digest != PLAN.digest
    assert not prepared(rounded, table, home).standing.changes(rounded)
    larger = signed_plan(a_plan(feature_bound=1.51))
    (change,) = prepared(larger, table, home).standing.changes(larger)
    assert change == "the largest features: 1.5 before, 1.51 now"


def test_a_new_key_does_not_go_on_from_what_the_old_one_signed(home, tmp_path):
    rows = rows_of(120)
    first = contributed(PLAN, table_of(tmp_path, rows[:80]), home, tmp_path / "1.contribution")
    fresh = SigningKey(bytes([77] * 32))
    parties = tuple(
        replace(one, key=fresh.public) if one.name == "North" else one for one in PLAN.plan.parties
    )
    plan = signed_plan(a_plan(parties=parties))
    for some in (rows[:80], rows):
        with pytest.raises(
            ContributionError, match=r"signed with the key .* yours is now .*--repl"
        ):
            contribution_with(fresh, plan, table_of(tmp_path, some), home)
    made = contribution_with(fresh, plan, table_of(tmp_path, rows[:80]), home, replace=True)
    assert not made.again
    assert made.file.manifest.replaces == (first.file.digest,)
    made.write(tmp_path / "2.contribution")
    sender = replace(NORTH, key=fresh.public)
    content = (tmp_path / "2.contribution").read_bytes()
    assert len(arrive(content, "2", plan=plan, sender=sender)) == 80
    later = contribution_with(fresh, plan, table_of(tmp_path, rows), home)
    assert (later.file.manifest.rows, later.left_out) == (40, 80)


def contribution_with(key, plan, table, home, **choices):
    source = Source(OWNER, (table,))
    return contribute_table(plan, source, key=key, home=home, choices=Choices(**choices))


def test_two_sets_of_sums_need_more_rows_than_one(home, tmp_path):
    other = signed_plan(a_plan(weights=5))
    both = PLAN.plan.fewest_rows + other.plan.fewest_rows
    rows = rows_of(both)
    contributed(PLAN, table_of(tmp_path, rows[:-1]), home, tmp_path / "1.contribution")
    with pytest.raises(ContributionError, match=f"{both - 1} row.*needs {both}"):
        prepared(other, table_of(tmp_path, rows[:-1]), home, replace=True)


def test_other_terms_are_told(home, tmp_path):
    table = table_of(tmp_path, rows_of(80))
    contributed(PLAN, table, home, tmp_path / "1.contribution")
    other = signed_plan(a_plan(terms=replace(PLAN.plan.terms, rho=0.25)))
    made = prepared(other, table, home)
    assert made.standing.changes(other) == ("rho: 'stable' before, 0.25 now",)
    assert made.again


def test_another_operator_of_the_same_name_is_refused(home, tmp_path):
    table = table_of(tmp_path, rows_of(80))
    contributed(PLAN, table, home, tmp_path / "1.contribution")
    forged = signed_plan(a_plan(), SigningKey(bytes([99] * 32)))
    with pytest.raises(PlanError, match=r"was signed with"):
        prepared(forged, table, home)
    elsewhere = signed_plan(a_plan(name="Other"), SigningKey(bytes([99] * 32)))
    made = prepared(elsewhere, table, home)
    assert not made.standing.is_known
    assert made.file.manifest.rows == 80
    assert not made.file.manifest.earlier


def test_another_file_is_never_overwritten(home, tmp_path):
    out = tmp_path / "north.contribution"
    out.write_text("notes of mine")
    made = prepared(PLAN, table_of(tmp_path, rows_of(50)), home)
    with pytest.raises(ContributionError, match=r"something else already"):
        made.write(out)
    assert out.read_text() == "notes of mine"
    with pytest.raises(ContributionError, match="no such folder"):
        made.write(tmp_path / "none" / "north.contribution")
    assert not list((home / FOLDER).iterdir())


def test_a_contribution_made_meanwhile_is_noticed(home, tmp_path):
    table = table_of(tmp_path, rows_of(50))
    first, second = prepared(PLAN, table, home), prepared(PLAN, table, home)
    first.write(tmp_path / "1.contribution")
    with pytest.raises(ContributionError, match=r"meanwhile"):
        second.write(tmp_path / "2.contribution")
    assert not (tmp_path / "2.contribution").exists()


def test_a_journal_without_its_secret_is_refused(home, tmp_path):
    table = table_of(tmp_path, rows_of(50))
    contributed(PLAN, table, home, tmp_path / "1.contribution")
    (home / SECRET_FILE).unlink()
    with pytest.raises(SecretError, match=r"restore it"):
        prepared(PLAN, table, home)


def test_a_damaged_journal_is_refused(home, tmp_path):
    table = table_of(tmp_path, rows_of(50))
    contributed(PLAN, table, home, tmp_path / "1.contribution")
    (entry,) = (home / FOLDER).iterdir()
    content = entry.read_bytes()
    for damaged in (b"", content[: len(content) // 2], b"x" + content[1:]):
        entry.write_bytes(damaged)
        with pytest.raises(ContributionError, match=r"journal cannot be used"):
            prepared(PLAN, table, home)


def test_no_row_is_in_any_byte_that_leaves(home, tmp_path):
    rows = rows_of(60)
    table = table_of(tmp_path, rows)
    outside = tmp_path / "outside"
    outside.mkdir()
    contributed(PLAN, table, home, outside / "north.contribution")
    files = {path for path in tmp_path.rglob("*") if path.is_file()} - {table}
    written = [path.read_bytes() for path in files if not path.is_relative_to(home)]
    assert written
    X, y = encoded(rows, PLAN)
    features = PLAN.plan.model.whitened_features(X)
    canaries = []
    for row in rows:
        for value in (row[0], row[1], row[3]):
            canaries += [repr(value).encode(), np.float64(value).tobytes()]
    for array in (X[:, :2], y, features):
        for value in np.ravel(array):
            canaries += [repr(float(value)).encode(), value.tobytes()]
    for content in written:
        assert not [canary for canary in canaries if canary in content]


def test_the_file_says_no_name_of_a_path(home, tmp_path):
    out = tmp_path / "north.contribution"
    contributed(PLAN, table_of(tmp_path, rows_of(60), "secret-name.csv"), home, out)
    content = out.read_bytes()
    for word in (b"secret-name", b"/", str(tmp_path).encode()):
        assert word not in content[8 : 8 + int.from_bytes(content[:8], "little")]
    assert ContributionFile.of_bytes(content, "x").document.key == KEYS["North"].public
    assert OPERATOR.public == PLAN.operator
