"""Files of two rounds, compared: what came or went between them does not come out row by row.

The attackers are everybody but the victim, here one recipient: it knows its own rows, the model's
features, and all that its files say.
"""

import json

import numpy as np
import pyarrow as pa
import pytest

from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.distinct_inputs import DistinctInputs
from fairpool.consortium.run import run
from fairpool.realisation.reward_file import decode_reward
from tests.support.batch_histories import fewest_in_any_combination, released
from tests.support.consortia import Consortium, numbers
from tests.support.holdings_oracle import Holdings, file_rows
from tests.support.projects import fairpool


def two_parties(folder, **settings):
    tables = {"A": numbers(60, 1), "V": numbers(60, 2, 0.5)}
    return Consortium(folder=folder, tables=tables, **settings)


def rho_for(consortium, i, gain):
    """The rho at which party i is due a little more than it holds already."""
    consortium.write()
    done = run(RunRequest(configuration=consortium.folder))
    held = done.collaboration.received[i].held_before
    total = done.collaboration.game.total
    share = float(done.collaboration.scheme.shares[i])
    return float(np.log((held + gain) / total) / np.log(share))


def told_by(consortium, done, i=0):
    """What a file of party i says beyond its own rows: a Gram matrix, if it is not hidden."""
    body = consortium.releases()[-1]
    path = consortium.folder / body["parties"][i]["path"]
    reward = decode_reward(path.read_bytes(), "file")
    factor = reward.posterior.factor
    own = done.collaboration.game.pool.statistics[i].told
    return factor @ factor.T - np.eye(len(factor)) - own.precision


def inputs_from(gram):
    """The inputs of one row, whose features are its inputs and 1, from their products."""
    return gram[:-1, -1] / gram[-1, -1]


def encoded_inputs(done, table, row):
    return done.preparation.encoding.encode(table.slice(row, 1))[0]


def test_one_row_more_waits_and_nothing_is_sent(tmp_path):
    consortium = two_parties(tmp_path)
    consortium.next_round()
    before = consortium.tables["V"]
    consortium.tables["V"] = pa.concat_tables([before, numbers(1, 5)])
    done = consortium.next_round()
    assert done.contributions[1].assignment.waiting == 1
    assert len(done.contributions[1].data) == 60
    assert not done.collaboration.received[0].sent
    # Nine are too few, too; of ten all take part, and the one that waited with them.
    for more, waiting in ((8, 9), (9, 0)):
        consortium.tables["V"] = pa.concat_tables([before, numbers(1, 5), numbers(more, 6)])
        done = consortium.next_round()
        assert done.contributions[1].assignment.waiting == waiting
    letter = (consortium.folder / "rounds/0003/parties/V/letter.html").read_text()
    assert "9 row" in letter


def test_attack_one_row_more_is_found_without_batches(tmp_path):
    """The contrast: a file of all rows, as if none waited, gives the new row away."""
    consortium = two_parties(tmp_path, rewards='covariance = "full"')
    done = consortium.next_round()
    before = told_by(consortium, done)
    body = consortium.releases()[-1]
    (eta,) = set(body["parties"][0]["etas"].values())
    new = numbers(1, 5)
    X = done.preparation.encoding.encode(new)
    a = done.built.model.whitened_features(X)
    scale = done.preparation.encoding.target.noise_scale
    weight = 1 / (done.built.model.noise_variance + eta / scale**2)
    after = before + weight * a.T @ a
    np.testing.assert_allclose(inputs_from(after - before), X[0], atol=1e-6)
    # With batches, the file of the next round has none of it, and is no other than this one.
    consortium.tables["V"] = pa.concat_tables([consortium.tables["V"], new])
    consortium.rho = rho_for(consortium, 0, 0.05)
    done = consortium.next_round()
    assert done.collaboration.received[0].sent
    rows = file_rows(consortium, done, consortium.releases()[-1], 0, holdings_of(consortium, done))
    assert len(rows.y) == 120
    assert np.linalg.matrix_rank(told_by(consortium, done), tol=1e-9) == 3


def holdings_of(consortium, done):
    """Rows that the oracle can look up."""
    holdings = Holdings()
    holdings.see(consortium, done)
    return holdings


@pytest.mark.parametrize("noise_of", ["each part", "the batch"])
def test_attack_a_withdrawn_row_whose_batch_returns_with_new_rows(tmp_path, noise_of):
    """Nine rows of a batch return with ten new ones, and are due little noise, the new ones much.

    If each had its own noise, the new ones would hardly be in the file, and it would be the old one
    less the row that is gone. So all rows of a batch have the same.
    """
    consortium = two_parties(tmp_path, rewards='covariance = "full"')
    done = consortium.next_round()
    first = told_by(consortium, done)
    first_etas = consortium.releases()[-1]["parties"][0]["etas"]
    gone = 7
    table = consortium.tables["V"]
    kept = [k for k in range(60) if k != gone]
    consortium.tables["V"] = pa.concat_tables([table.take(kept), numbers(10, 5)])
    consortium.rho = rho_for(consortium, 0, 1e-5)
    done = consortium.next_round()
    assert done.collaboration.received[0].sent
    body = consortium.releases()[-1]
    etas = body["parties"][0]["etas"]
    (batch,) = done.contributions[1].assignment.new
    parts = done.contributions[1].assignment.batches.batches[batch].parts
    assert len(parts) == 2
    (returning,) = [part for part in parts if body["parts"][part]["parent"] is not None]
    held = first_etas[body["parts"][returning]["parent"]]
    second = told_by(consortium, done)
    assert {etas[part] for part in parts} == {max(etas.values())}
    assert max(etas.values()) > 100 * held
    if noise_of == "each part":
        # What the file would be, if returning rows had the noise they are held with.
        scale = done.preparation.encoding.target.noise_scale
        s2 = done.built.model.noise_variance
        gram = done.contributions[1].arrays[returning]["gram"]
        weights = [1 / (s2 + eta / scale**2) for eta in (held, etas[returning])]
        second = second + gram * (weights[0] - weights[1])
    guess = inputs_from(first - second)
    error = np.abs(guess - encoded_inputs(done, table, gone)).max()
    assert error < 0.02 if noise_of == "each part" else error > 0.2


def test_attack_an_input_that_is_corrected_under_an_id(tmp_path):
    """A row that keeps its id and label keeps its noise, but its batch does not stay as it was."""
    extra = 'target = "y"\n[columns]\npatient = { kind = "id" }'
    consortium = two_parties(tmp_path, rewards='covariance = "full"', extra=extra)
    for name, table in consortium.tables.items():
        patients = [f"{name}{k}" for k in range(table.num_rows)]
        consortium.tables[name] = table.append_column("patient", pa.array(patients))
    done = consortium.next_round()
    assert done.contributions[1].identities.columns == ("patient", "y")
    ids = done.contributions[1].identities.ids
    before = done.contributions[1].assignment
    x = consortium.tables["V"]["x"].to_pylist()
    x[7] += 1.0
    consortium.tables["V"] = consortium.tables["V"].set_column(0, "x", pa.array(x))
    done = consortium.next_round()
    after = done.contributions[1].assignment
    # The same noise on its label: it is no second look.
    np.testing.assert_array_equal(done.contributions[1].identities.ids, ids)
    # But it waits, and its batch stands as it was.
    assert after.batches.active == before.batches.active
    assert (after.waiting, after.gone) == (1, 1)
    assert after.groups[7] == -1
    # With enough new rows the batch leaves, and all of its rows return, as they are now.
    more = numbers(10, 5).append_column("patient", pa.array([f"new{k}" for k in range(10)]))
    consortium.tables["V"] = pa.concat_tables([consortium.tables["V"], more])
    done = consortium.next_round()
    last = done.contributions[1].assignment
    assert len(last.left) == len(last.new) == 1
    assert (last.waiting, last.gone) == (0, 0)


def test_a_batch_that_one_row_dominates_waits(tmp_path):
    consortium = two_parties(tmp_path)
    consortium.next_round()
    new = numbers(12, 5)
    y = new["y"].to_pylist()
    y[3] += 400.0
    before = consortium.tables["V"]
    dominated = new.set_column(2, "y", pa.array(y))
    consortium.tables["V"] = pa.concat_tables([before, dominated])
    done = consortium.next_round()
    assert done.contributions[1].assignment.waiting == 12
    assert not done.contributions[1].assignment.new
    consortium.tables["V"] = pa.concat_tables([before, new])
    done = consortium.next_round()
    assert done.contributions[1].assignment.waiting == 0


def measured_again(table, times):
    """Rows with the same inputs, and a label of their own each."""
    labels = table["y"].to_pylist()[0] + np.random.default_rng(7).normal(0, 1, times)
    return table.take([0] * times).set_column(2, "y", pa.array(labels))


@pytest.mark.parametrize("are_counted", [False, True])
def test_attack_ten_rows_with_the_same_inputs_are_one_row(tmp_path, monkeypatch, are_counted):
    """Everybody gets the best model, without noise: what came is ten times one row's features."""
    consortium = two_parties(tmp_path, rewards='covariance = "full"', rho=0.0)
    done = consortium.next_round()
    before, old = told_by(consortium, done), consortium.tables["V"]
    again = measured_again(numbers(1, 5), 10)
    inputs = encoded_inputs(done, again, 0)
    consortium.tables["V"] = pa.concat_tables([old, again])
    if not are_counted:
        monkeypatch.setattr(DistinctInputs, "are_enough", True)
        done = consortium.next_round()
        np.testing.assert_allclose(
            inputs_from(told_by(consortium, done) - before), inputs, atol=1e-6
        )
        return
    # So they wait, until as many different inputs are new as a batch needs.
    done = consortium.next_round()
    assert done.contributions[1].assignment.waiting == 10
    assert not done.collaboration.received[0].sent
    (note,) = [one for one in done.notes if one.code == "rows wait" and one.party == "V"]
    assert "too many of them have the same inputs" in note.text
    for others, waiting in ((8, 18), (9, 0)):
        consortium.tables["V"] = pa.concat_tables([old, again, numbers(others, 6)])
        done = consortium.next_round()
        assert done.contributions[1].assignment.waiting == waiting
    assert done.collaboration.received[0].sent
    assert np.abs(inputs_from(told_by(consortium, done) - before) - inputs).max() > 0.2


def test_over_several_rounds_every_difference_of_files_is_one_of_whole_batches(tmp_path):
    """Rows come and go one by one, and ten at once: no file has part of a batch, ever."""
    consortium = two_parties(tmp_path)
    rng = np.random.default_rng(1)
    everything = pa.concat_tables([consortium.tables["V"], numbers(60, 9, 0.5)])
    present = set(range(60))
    releases = []
    for number in range(6):
        done = consortium.next_round()
        releases.append(released(done.contributions[1].assignment))
        present -= set(rng.choice(sorted(present), 1 + 9 * (number % 2), replace=False))
        present |= set(range(60 + 10 * number, 70 + 10 * number))
        consortium.tables["V"] = everything.take(sorted(present))
    assert len({frozenset(release) for release in releases}) > 3
    assert fewest_in_any_combination(releases) >= 10
    result = json.loads((tmp_path / "rounds/0006/operator/result.json").read_text())
    assert result["parties"][1]["rows_waiting"] == done.contributions[1].assignment.waiting


def with_more_columns(table, seed):
    """Four inputs more."""
    for more in range(4):
        column = np.random.default_rng([seed, more]).standard_normal(table.num_rows)
        table = table.append_column(f"more {more}", pa.array(column))
    return table


def test_files_of_all_rounds_count_against_the_fewest_rows(tmp_path):
    """Every round in which somebody is sent the victim's rows again is d numbers more about them.

    Of 18 rows of six inputs, a model of 7 weights may tell in six files, but not in seven. They
    still count, and ten rows more bring them back.
    """
    consortium = two_parties(tmp_path)
    for seed, (name, rows) in enumerate({"A": 15, "V": 18}.items()):
        table = with_more_columns(consortium.tables[name], seed)
        consortium.tables[name] = table.slice(0, rows)
    rewards = []
    files = 0
    for rho in np.linspace(0.6, 0.2, 9):
        consortium.rho = float(rho)
        done = consortium.next_round()
        files += done.collaboration.received[0].sent
        rewards.append(done.collaboration.rewards[0])
    assert files == 6
    assert rewards == sorted(rewards)  # what is due goes on growing
    received = done.collaboration.received[0]
    assert received.due > received.holds + 0.01
    assert done.collaboration.received[1].due == pytest.approx(done.collaboration.game.total)
    assert len(done.contributions[1].data) == 18
    (note,) = [one for one in done.notes if one.code == "rows spent" and one.party == "V"]
    assert "18 row(s)" in note.text
    assert "again with the next 10 rows that are new" in note.text
    place = tmp_path / "rounds/0009"
    assert "18 of your rows were in as many models" in (place / "parties/V/letter.html").read_text()
    assert "the rest comes with the next model" in (place / "parties/A/letter.html").read_text()
    result = json.loads((place / "operator/result.json").read_text())
    assert result["parties"][1]["rows_spent"] == 18
    listed = json.loads(fairpool("rounds", tmp_path, "--json").stdout)["rounds"]
    assert [one["parties"][1]["rows_spent"] for one in listed] == [0] * 6 + [18] * 3
    # New rows bring them back, in one batch with these.
    more = with_more_columns(numbers(10, 7, 0.5), 9)
    consortium.tables["V"] = pa.concat_tables([consortium.tables["V"], more])
    done = consortium.next_round()
    received = done.collaboration.received[0]
    assert received.sent
    assert received.holds == pytest.approx(received.due, abs=1e-9)
    (batch,) = done.contributions[1].assignment.new
    assert len(done.contributions[1].assignment.batches.batches[batch].parts) == 2
    assert not done.contributions[1].spent_rows
    consortium.check_ledger()


def test_what_could_not_be_told_is_sent_once_other_terms_allow_it(tmp_path):
    """18 rows may be in six files: one of the others is sent one in every round, the other in the
    first. If they do not put them together, there may be one more.
    """
    tables = {"A": numbers(60, 1), "B": numbers(60, 3), "V": numbers(18, 2, 0.5)}
    tables = {name: with_more_columns(table, k) for k, (name, table) in enumerate(tables.items())}
    consortium = Consortium(folder=tmp_path, tables=tables)
    for rho in (0.6, 0.5, 0.4, 0.3, 0.0):
        consortium.rho = rho
        done = consortium.next_round()
    assert [one.spent_rows for one in done.contributions] == [0, 0, 18]
    short = [one.due - one.holds for one in done.collaboration.received]
    assert max(short[:2]) > 0.001
    assert not any(one.sent for one in consortium.next_round().collaboration.received)
    consortium.rewards = "colluding = 1"
    done = consortium.next_round()
    assert not any(one.spent_rows for one in done.contributions)
    for lacking, received in zip(short[:2], done.collaboration.received[:2], strict=True):
        assert received.sent == (lacking > 0.001)
        np.testing.assert_allclose(received.holds, received.due, atol=1e-9)
