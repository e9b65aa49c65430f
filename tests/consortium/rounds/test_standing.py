"""A batch that lost a few rows stands as it was, until enough rows came or went."""

import json

import numpy as np
import pyarrow as pa
import pytest

from fairpool.consortium.rounds.context import KEPT_FOLDER, STATE_FOLDER, open_context
from fairpool.consortium.rounds.erasing import erase_withdrawn
from fairpool.errors import DataError
from fairpool.realisation.outlying import LabelSum
from tests.support.consortia import CLASSES, Consortium, classes, numbers
from tests.support.holdings_oracle import Holdings, check_round
from tests.support.projects import fairpool


def three(folder, **settings):
    tables = {name: numbers(60, i, 0.3 * i) for i, name in enumerate("ABC")}
    return Consortium(folder=folder, tables=tables, **settings)


def without(table, *rows):
    return table.take([k for k in range(table.num_rows) if k not in rows])


def note_codes(done, party):
    return {note.code for note in done.notes if note.party == party}


def test_a_row_less_changes_nothing_until_enough_have_come(tmp_path):
    consortium = three(tmp_path)
    first = consortium.next_round()
    b = consortium.tables["B"]
    consortium.tables["B"] = without(b, 7)
    second = consortium.next_round()
    # Everybody's values and rewards are what they were, and nobody is sent anything.
    np.testing.assert_array_equal(second.collaboration.rewards, first.collaboration.rewards)
    np.testing.assert_array_equal(second.collaboration.game.alone, first.collaboration.game.alone)
    assert not any(one.sent for one in second.collaboration.received)
    assert len(second.contributions[1].data) == 60
    assert "rows stand" in note_codes(second, "B")
    letter = (tmp_path / "rounds/0002/parties/B/letter.html").read_text()
    assert "1 of your rows that were released before" in letter
    result = json.loads((tmp_path / "rounds/0002/operator/result.json").read_text())
    assert [party["rows_gone"] for party in result["parties"]] == [0, 1, 0]
    told = fairpool("rounds", tmp_path, "--json")
    parties = json.loads(told.stdout)["rounds"][1]["parties"]
    assert [party["rows_gone"] for party in parties] == [0, 1, 0]
    # The same files again: as it stood.
    third = consortium.next_round()
    assert third.contributions[1].assignment.gone == 1
    np.testing.assert_array_equal(third.collaboration.rewards, first.collaboration.rewards)
    # It comes back: as if it had never gone.
    consortium.tables["B"] = b
    fourth = consortium.next_round()
    assert fourth.contributions[1].assignment.gone == 0
    assert (
        fourth.contributions[1].assignment.batches.active
        == first.contributions[1].assignment.batches.active
    )
    # Ten new ones: the batch leaves, and returns without it.
    consortium.tables["B"] = pa.concat_tables([without(b, 7), numbers(10, 9)])
    fifth = consortium.next_round()
    assignment = fifth.contributions[1].assignment
    assert (assignment.gone, assignment.waiting, assignment.rows) == (0, 0, 69)
    assert len(assignment.left) == 1
    assert "rows left" in note_codes(fifth, "B")


def test_ten_rows_less_leave_at_once(tmp_path):
    consortium = three(tmp_path)
    consortium.next_round()
    consortium.tables["B"] = without(consortium.tables["B"], *range(10))
    assignment = consortium.next_round().contributions[1].assignment
    assert assignment.gone == 0
    assert assignment.left
    assert assignment.rows == 50 - assignment.waiting


def test_where_rows_are_shared_by_agreement_nothing_stands(tmp_path):
    consortium = three(tmp_path, kind="gp")
    consortium.next_round()
    consortium.tables["B"] = without(consortium.tables["B"], 7)
    assignment = consortium.next_round().contributions[1].assignment
    assert (assignment.gone, assignment.waiting, assignment.rows) == (0, 0, 59)


@pytest.mark.parametrize("kind", ["blr", "sparse_gp"])
@pytest.mark.parametrize("of_classes", [False, True])
def test_who_joins_is_sent_nothing_of_it_and_others_what_they_had(tmp_path, kind, of_classes):
    """What is sent while a row is gone is worth what the ledger says, by an oracle of rows."""
    rows = classes if of_classes else numbers
    extra = f'target = {{ column = "y", kind = "classes", levels = {list(CLASSES)} }}'
    consortium = Consortium(
        folder=tmp_path,
        kind=kind,
        tables={name: rows(60, i, 0.3 * i) for i, name in enumerate("ABC")},
        rho=0.6,
        extra=extra if of_classes else 'target = "y"',
    )
    holdings = Holdings()
    first = check_round(consortium, consortium.next_round(), holdings)
    consortium.tables["B"] = without(consortium.tables["B"], 7)
    consortium.tables["D"] = rows(70, 5, 0.5)
    consortium.rho = 0.4
    done = consortium.next_round()
    body = check_round(consortium, done, holdings)
    assignment = done.contributions[1].assignment
    assert assignment.gone == 1
    sent = [party["id"] for party in body["parties"] if party["file"] is not None]
    assert "D" in sent
    assert set(sent) & {"A", "C"}
    for party in body["parties"]:
        for part in assignment.standing:
            if party["id"] == "D":
                assert part not in party["etas"]
            elif party["id"] in sent and party["id"] != "B":
                before = next(one for one in first["parties"] if one["id"] == party["id"])
                np.testing.assert_allclose(party["etas"][part], before["etas"][part], rtol=1e-12)


def test_rows_of_an_earlier_batch_stand_with_the_noise_of_the_batch_that_they_are_in(tmp_path):
    """A part that returned whole was in files of its first batch, with less noise than in those of
    its second one. If it stood with that, the rows beside it could be told from it.
    """
    consortium = Consortium(
        folder=tmp_path, tables={"A": numbers(60, 1), "B": numbers(20, 2)}, rho=0.6
    )
    holdings = Holdings()
    check_round(consortium, consortium.next_round(), holdings)
    etas = []
    for number, rho in ((2, 0.3), (3, 0.29)):
        # One row of the newest batch goes, and ten new ones come.
        b = consortium.tables["B"]
        consortium.tables["B"] = pa.concat_tables(
            [without(b, b.num_rows - 1), numbers(10, 10 + number)]
        )
        consortium.rho = rho
        done = consortium.next_round()
        body = check_round(consortium, done, holdings)
        assert done.collaboration.received[0].sent
        etas.append(body["parties"][0]["etas"])
    both = [
        part for part in etas[0].keys() & etas[1].keys() if etas[0][part] < 0.95 * etas[1][part]
    ]
    assert both
    (newest,) = done.contributions[1].assignment.new
    parts = done.contributions[1].assignment.batches.batches[newest].parts
    assert set(both) & set(parts)
    consortium.tables["B"] = without(consortium.tables["B"], consortium.tables["B"].num_rows - 1)
    consortium.tables["D"] = numbers(40, 5, 1.0)
    consortium.rho = 0.2
    done = consortium.next_round()
    assert done.contributions[1].assignment.standing >= set(parts)
    body = check_round(consortium, done, holdings)
    assert done.collaboration.received[0].sent
    assert {body["parties"][0]["etas"][part] for part in parts} == {etas[1][parts[0]]}


def test_who_is_due_more_than_can_be_told_is_told_that_the_rest_comes_later(tmp_path):
    consortium = Consortium(
        folder=tmp_path, tables={"A": numbers(60, 1), "B": numbers(12, 2)}, rho=0.3
    )
    consortium.next_round()
    consortium.tables["B"] = without(consortium.tables["B"], 3)
    consortium.tables["C"] = numbers(15, 4, 2.0)
    consortium.rho = 0.0
    done = consortium.next_round()
    received = done.collaboration.received[2]
    assert received.sent
    assert received.holds < received.due - 0.01
    letter = (tmp_path / "rounds/0002/parties/C/letter.html").read_text()
    assert "The rest comes with a later model" in letter


@pytest.mark.parametrize("what", ["sums", "noise"])
def test_a_batch_of_which_not_all_is_kept_leaves(tmp_path, what):
    consortium = three(tmp_path)
    first = consortium.next_round()
    kept = tmp_path / STATE_FOLDER / KEPT_FOLDER
    names = first.contributions[1].assignment.part_names
    context = open_context(tmp_path)
    digest = context.agreement_digest
    for name in names:
        path = kept / f"{name}.{digest[:16] if what == 'sums' else 'noise-' + digest[:10]}"
        assert path.stat().st_mode & 0o777 == 0o600
        path.unlink()
    consortium.tables["B"] = without(consortium.tables["B"], 7)
    assignment = consortium.next_round().contributions[1].assignment
    assert assignment.gone == 0
    assert len(assignment.left) == 1
    assert assignment.waiting >= 9


def test_noise_that_somebody_altered_counts_as_none(tmp_path):
    consortium = three(tmp_path)
    first = consortium.next_round()
    for name in first.contributions[1].assignment.part_names:
        (path,) = (tmp_path / STATE_FOLDER / KEPT_FOLDER).glob(f"{name}.noise-*")
        content = bytearray(path.read_bytes())
        content[-9] ^= 1
        path.write_bytes(content)
    consortium.tables["B"] = without(consortium.tables["B"], 7)
    assert consortium.next_round().contributions[1].assignment.gone == 0


def test_nothing_stands_where_the_model_is_learned_anew(tmp_path):
    consortium = three(tmp_path)
    consortium.next_round()
    consortium.tables["B"] = without(consortium.tables["B"], 7)
    done = consortium.next_round(learn_anew=True)
    assert done.contributions[1].assignment.gone == 0
    assert done.contributions[1].assignment.waiting >= 9


def test_withdrawn_rows_are_erased_at_once(tmp_path):
    consortium = three(tmp_path)
    first = consortium.next_round()
    with pytest.raises(DataError, match="none of the rows that were released is gone"):
        erase_withdrawn(tmp_path, "B", names=["A", "B", "C"])
    consortium.tables["B"] = without(consortium.tables["B"], 7, 8)
    consortium.next_round()
    consortium.write()
    done = fairpool("erase", tmp_path, "--party", "B", "--withdrawn", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["rows"] == 2
    assert told["holders"] == ["A", "C"]
    # No sum over any of them is left, nor the noise on their labels.
    group = first.contributions[1].groups[[7, 8]]
    parts = {first.contributions[1].assignment.part_names[place] for place in group}
    for part in parts:
        assert [path.suffix for path in (tmp_path / ".fairpool/kept").glob(f"{part}.*")] == [
            ".rows"
        ]
    with pytest.raises(DataError, match="nothing is kept"):
        erase_withdrawn(tmp_path, "B", names=["A", "B", "C"])
    consortium.check_ledger()
    after = consortium.next_round().contributions[1].assignment
    assert after.gone == 0
    assert after.waiting == told["beside"]
    assert len(after.left) == len(parts)
    # With ten more they return, and what everybody holds is right.
    consortium.tables["B"] = pa.concat_tables([consortium.tables["B"], numbers(10, 9)])
    last = consortium.next_round().contributions[1].assignment
    assert (last.waiting, last.rows) == (0, 68)
    consortium.check_ledger()


def test_only_a_party_that_takes_part_has_withdrawn_rows(tmp_path):
    consortium = three(tmp_path)
    consortium.next_round()
    del consortium.tables["C"]
    consortium.write()
    done = fairpool("erase", tmp_path, "--party", "C", "--withdrawn")
    assert done.returncode == 2
    assert "takes no part any longer" in done.stderr
    done = fairpool("erase", tmp_path, "--party", "Z", "--withdrawn")
    assert done.returncode == 2
    assert "took part in no round" in done.stderr


def test_a_party_that_wants_to_hold_more_than_it_did_is_sent_more(tmp_path):
    consortium = three(tmp_path, rho=0.02)
    consortium.terms["C"] = "most = 0.9"
    first = consortium.next_round()
    total = first.collaboration.game.total
    np.testing.assert_allclose(first.collaboration.received[2].holds, 0.9 * total)
    assert not consortium.next_round().collaboration.received[2].sent
    consortium.terms["C"] = "most = 0.95"
    third = consortium.next_round()
    np.testing.assert_allclose(third.collaboration.received[2].holds, 0.95 * total)
    # Less it cannot hold any more, and nothing worse is sent.
    consortium.terms["C"] = "most = 0.92"
    assert not consortium.next_round().collaboration.received[2].sent


def test_rows_that_stand_out_are_looked_for_with_the_least_noise_of_any(tmp_path):
    """What was released with little noise has it in every file, whatever is solved for the rest."""
    consortium = three(tmp_path, rho=0.2)
    consortium.next_round()
    consortium.tables["D"] = numbers(200, 5, 1.0)
    consortium.rho = 0.15
    done = consortium.next_round()
    scale = done.preparation.encoding.target.noise_scale
    seen = 0
    for i, party in enumerate(consortium.releases()[-1]["parties"]):
        if party["etas"]:
            least = min(party["etas"].values()) / scale**2
            view = done.collaboration.models[i].exposure.views[0]
            np.testing.assert_allclose(view.eta, least, atol=1e-12)
            seen += max(party["etas"].values()) > 1.5 * min(party["etas"].values())
    assert seen


def test_rows_that_are_gone_are_judged_as_one():
    """Of a single row that is what its part is."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 3))
    y = rng.standard_normal(12)
    y[4] += 40.0
    own = rng.standard_normal(3)
    root = rng.standard_normal((3, 3))
    for W in (None, root @ root.T):
        S = A.T @ (y - A @ own)
        direction = S if W is None else W @ S
        seen = LabelSum(own=own, W=W, direction=direction, square=float(S @ direction), noise=0.1)
        gone = A[4] * (y[4] - A[4] @ own)
        np.testing.assert_allclose(seen.part_of_some(gone), seen.parts(A, y)[4])
        assert seen.part_of_some(gone) > 0
        np.testing.assert_allclose(seen.square_of_some(gone), seen.sum_of_squares(A[4:5], y[4:5]))
        assert seen.part_of_some(A[5] * 1e-9) == 0
