"""Twelve rounds of a consortium that lives, with every promise looked at after each."""

import json
import re
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from fairpool.consortium.rounds.inspecting import verify_folder
from fairpool.realisation.reward_file import decode_reward
from tests.support.batch_histories import fewest_in_any_combination, released
from tests.support.consortia import Consortium, numbers
from tests.support.holdings_oracle import Holdings, check_round
from tests.support.projects import fairpool


@dataclass(kw_only=True)
class Year:
    """A consortium, and what is remembered of it besides its folder."""

    consortium: Consortium
    holdings: Holdings = field(default_factory=Holdings)
    heads: list = field(default_factory=list)
    released: dict = field(default_factory=dict)
    bodies: list = field(default_factory=list)

    def month(self, **settings):
        """One round, and all that it promises."""
        done = self.consortium.next_round(**settings)
        body = check_round(self.consortium, done, self.holdings)
        self.consortium.check_ledger()
        self._check_folder(done, body)
        self._check_batches(done)
        self._check_sent(done, body)
        self.bodies.append(body)
        return done

    def month_after_learning_anew(self, **settings):
        """As before, but rows that left before that are not counted, and the operator is told."""
        done = self.consortium.next_round(**settings)
        body = self.consortium.releases()[-1]
        self.consortium.check_ledger()
        self._check_folder(done, body)
        self._check_batches(done)
        self._check_sent(done, body)
        self.bodies.append(body)
        self.holdings.see(self.consortium, done)
        most = [self.holdings.most(done, i) for i in range(len(done.contributions))]
        self.holdings.release(done, body)
        is_told = any(note.code == "held rows not counted" for note in done.notes)
        for i, received in enumerate(done.collaboration.received):
            held = self.holdings.value(done, i)
            assert received.holds <= held + 1e-9
            assert is_told or received.holds >= held - 1e-9
            if received.sent:
                expected = min(received.due, most[i])
                np.testing.assert_allclose(received.holds, expected, atol=1e-9)

    def _check_folder(self, done, body):
        folder = self.consortium.folder
        number = len(self.bodies) + 1
        assert body["round"] == number
        assert (folder / "latest").read_text() == f"rounds/{number:04d}\n"
        for party in body["parties"]:
            place = folder / body["folder"] / "parties" / party["name"]
            letter = (place / "letter.html").read_text()
            assert re.search(body["head"], letter)
            assert (place / "reward.safetensors").exists() == (party["file"] is not None)
            if party["file"] is not None:
                reward = decode_reward((place / "reward.safetensors").read_bytes(), "file")
                assert (reward.ledger.round, reward.ledger.head) == (number, body["head"])
        self.heads.append(body["head"])
        assert verify_folder(folder, self.heads).ok
        assert [body["folder"] for body in self.consortium.releases()] == [
            f"rounds/{one:04d}" for one in range(1, number + 1)
        ]

    def _check_batches(self, done):
        """Of every party, any combination of releases is about enough rows."""
        number = len(self.bodies)
        for one in done.contributions:
            history = self.released.setdefault(one.id, [set()] * number)
            history.append(released(one.assignment))
        for history in self.released.values():
            history += [set()] * (number + 1 - len(history))
            # All of a year would take long: the last rounds, with the first.
            fewest = fewest_in_any_combination([history[0], *history[-4:]])
            assert fewest is None or fewest >= 10

    def _check_sent(self, done, body):
        """Nothing is sent where nothing but a recipient's own rows changed."""
        for i, party in enumerate(body["parties"]):
            due = float(done.collaboration.rewards[i])
            received = done.collaboration.received[i]
            assert received.due == due
            if received.held_before >= due and party["file"] is not None:
                assert not party["etas"]  # its first, of its own rows


def more(table, count, seed, shift=0.0):
    return pa.concat_tables([table, numbers(count, seed, shift)])


def test_a_year(tmp_path):
    consortium = Consortium(
        folder=tmp_path,
        tables={name: numbers(80, i, 0.3 * i) for i, name in enumerate("ABC")},
        rho=0.7,
    )
    tables = consortium.tables
    year = Year(consortium=consortium)
    done = year.month()
    assert all(one.sent for one in done.collaboration.received)
    first_agreement = year.bodies[0]["agreement"]

    # February: nothing new, so nothing is sent.
    done = year.month()
    assert not any(one.sent for one in done.collaboration.received)

    # March: A's file grows, and rho is renegotiated.
    tables["A"] = more(tables["A"], 40, 31)
    consortium.rho = 0.5
    done = year.month()
    assert any(one.sent for one in done.collaboration.received)

    # April: D joins, and wants no more than nine tenths.
    tables["D"] = numbers(90, 41, 1.0)
    consortium.terms["D"] = "most = 0.9"
    done = year.month()
    capped = 0.9 * done.collaboration.game.total
    np.testing.assert_allclose(done.collaboration.rewards[3], capped)
    np.testing.assert_allclose(done.collaboration.received[3].holds, capped, atol=1e-9)

    # A preview in between: nothing changes, whatever it is asked for.
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    asked = fairpool("run", tmp_path, "--preview", "--rho", "0.1", "--json")
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout)["round"] == 5
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert after == before

    # May: B corrects a label, with new rows among which its batch can return.
    labels = tables["B"]["y"].to_pylist()
    labels[11] += 1.0
    tables["B"] = more(tables["B"].set_column(2, "y", pa.array(labels)), 30, 51)
    year.month()

    # June: C leaves.
    c = tables.pop("C")
    year.month()
    assert [party["id"] for party in year.bodies[-1]["parties"]] == ["A", "B", "D"]

    # July: one row more of B's, which waits.
    tables["B"] = more(tables["B"], 1, 71)
    done = year.month()
    assert done.contributions[1].assignment.waiting >= 1

    # August: A is renamed, and stays who it is; C is back, as it was.
    tables["Alpha"] = tables.pop("A")
    consortium.terms["Alpha"] = 'id = "A"'
    tables["C"] = c
    consortium.rho = 0.4
    done = year.month()
    alpha = year.bodies[-1]["parties"][2]
    assert (alpha["id"], alpha["name"]) == ("A", "Alpha")
    assert set(alpha["batches"]) == set(year.bodies[-2]["parties"][0]["batches"])
    assert set(year.bodies[-1]["parties"][3]["batches"]) == set(
        year.bodies[4]["parties"][2]["batches"]
    )

    # September: everything is learned anew, at another scale.
    tables["D"] = more(tables["D"], 30, 91, 2.0)
    year.month_after_learning_anew(learn_anew=True)
    assert year.bodies[-1]["agreement"] != first_agreement

    # October to December: more of everything.
    for month, rho in ((10, 0.3), (11, 0.2), (12, 0.1)):
        tables["C"] = more(tables["C"], 15, month)
        tables["Alpha"] = more(tables["Alpha"].slice(1), 20, 100 + month)
        consortium.rho = rho
        year.month_after_learning_anew()
        assert year.bodies[-1]["agreement"] == year.bodies[8]["agreement"]
    assert len(year.bodies) == 12
    check_least_noise(year)


def check_least_noise(year):
    """A part's noise in a file is never above what its recipient has of it already, but for parts
    that return with new rows.
    """
    least = {}
    for body in year.bodies:
        for party in body["parties"]:
            for part, eta in party["etas"].items():
                is_new = (party["id"], part) not in least
                known = least.get((party["id"], part), np.inf)
                assert is_new or eta <= known * (1 + 1e-12)
                least[party["id"], part] = min(eta, known)
    assert len(least) > 20
