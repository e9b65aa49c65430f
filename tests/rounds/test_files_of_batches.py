"""In how many files a batch was: what is counted of the ledger's records."""

from dataclasses import replace

import numpy as np
import pytest

from fairpool.realisation.disclosure import Exposure
from fairpool.rounds.history import History, Participation, PartRecord, PastRound
from fairpool.rounds.party_batches import Batch, Part, PartyBatches
from fairpool.rounds.sum_batches import assign_sums
from tests.support.batch_in_many_files import NO_NOISE, SAME_NOISE, Standing, attack
from tests.support.reconstruction import together_by_chance

PARTICIPATION = Participation(
    id="",
    name="",
    rows=0,
    waiting=0,
    batches=(),
    identity=("x",),
    inputs=(),
    value=0.0,
    reward=0.0,
    holds=0.0,
    eta=None,
    file=None,
    path=None,
)
ROUND = PastRound(
    number=1,
    time="",
    head="",
    folder="",
    rho=1.0,
    rho_used=1.0,
    contributions="shapley",
    total=1.0,
    terms="",
    agreement="",
    parties=(),
)


def part(rows, parent=None):
    return PartRecord(party="v", parent=parent, rows=rows, key="")


def history(*rounds):
    """Of v, batch "one" of part p, then "two" of the same, some of its rows, and new ones."""
    parts = {"p": part(12), "q": part(10, "p"), "n": part(15)}
    batches = {
        "one": Batch(name="one", party="v", parts=("p",)),
        "two": Batch(name="two", party="v", parts=("n", "q")),
        "three": Batch(name="three", party="v", parts=("p", "n")),
    }
    past = []
    for of_recipients in rounds:
        parties = tuple(
            replace(PARTICIPATION, id=f"r{k}", etas=dict.fromkeys(sent, 0.5))
            for k, sent in enumerate(of_recipients)
        )
        past.append(replace(ROUND, number=len(past) + 1, parties=parties))
    return History(rounds=tuple(past), parts=parts, batches=batches)


def test_rows_are_new_in_the_first_batch_that_has_them():
    told = history()
    assert told.fresh_parts["one"] == ("p",)
    assert told.fresh_parts["two"] == ("n",)
    assert told.fresh_parts["three"] == ()


@pytest.mark.parametrize(("colluding", "one", "two"), [(None, 3, 2), (2, 3, 2), (1, 2, 1)])
def test_files_are_counted_for_what_was_new_in_a_batch(colluding, one, two):
    told = history([("p",), ("p",), ()], [("p",), ("other",), ()], [("n", "q"), ("n", "q")])
    assert told.files_with_batch("one", colluding) == one
    assert told.files_with_batch("two", colluding) == two


def test_enough_rows_for_any_number_of_files_are_as_many_as_a_full_covariance_needs():
    hidden = Exposure(rows={}, releases={}, weights=12, inputs=2, hidden=True)
    full = replace(hidden, hidden=False).fewest_rows(1)
    assert hidden.fewest_rows(1) < full
    assert hidden.fewest_rows(10_000) == full


BY_CHANCE = 1e-3
"""Guesses that come nearer to rows than those of somebody without any file do in one of so many
cases owe that to their files."""


def attacks(k, files, noise, draws):
    case = Standing(d=6, p=1, k=k, files=files, noise=noise)
    return [attack(replace(case, seed=seed), starts=4) for seed in range(draws)]


@pytest.mark.parametrize("noise", [NO_NOISE, SAME_NOISE])
def test_attack_a_batch_that_is_in_a_file_of_every_round(noise):
    """d + 1 files in which ten rows stand tell the rows. So they may be in one file alone."""
    assert Standing(d=6, p=1, k=10, files=1).bound == 10
    assert Standing(d=6, p=1, k=10, files=2).bound > 10
    told = attacks(10, 7, noise, draws=2)
    for one in told:
        assert one.some
        assert one.error < 0.2
    assert together_by_chance(told) < BY_CHANCE
    allowed = []
    for k, files, draws in ((10, 1, 8), (18, 2, 4)):
        assert Standing(d=6, p=1, k=k, files=files).bound == k
        at_bound = attacks(k, files, noise, draws)
        assert not any(one.all for one in at_bound)
        assert np.mean([one.error for one in at_bound]) > 0.6
        allowed += at_bound
    assert together_by_chance(allowed) > BY_CHANCE


def contribution(name, rows):
    return Part.of_sums("v", name, name=name, rows=rows)


def test_contributions_of_a_spent_batch_return_with_new_ones():
    first = assign_sums({"a": contribution("a", 12)}, PartyBatches(party="v"), fewest=10)
    (batch,) = first.new
    few = {"a": contribution("a", 12), "b": contribution("b", 9)}
    waits = assign_sums(few, first.batches, fewest=10, spent={batch})
    assert (waits.new, waits.waiting, waits.spent) == ((), 9, {batch})
    enough = {"a": contribution("a", 12), "b": contribution("b", 10)}
    returned = assign_sums(enough, first.batches, fewest=10, spent={batch})
    (new,) = returned.new
    assert returned.left == (batch,)
    assert set(returned.batches.batches[new].parts) == {"a", "b"}
    assert not returned.spent
    # What is not spent stays as it is, and the new one is a batch of its own.
    beside = assign_sums(enough, first.batches, fewest=10)
    assert beside.batches.active == {batch, *beside.new}
