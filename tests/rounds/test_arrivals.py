"""Rows that come between two rounds: few of them come out of two files, a batch does not."""

from dataclasses import replace

import numpy as np

from tests.support.batch_differences import Arrival, attack


def successes(k, *, knows_old_rows, draws=6):
    case = Arrival(d=12, p=2, k=k, knows_old_rows=knows_old_rows)
    return [attack(replace(case, seed=seed), starts=3) for seed in range(draws)]


def test_attack_one_row_that_comes_is_found_and_a_batch_is_not():
    single = successes(1, knows_old_rows=True)
    assert all(one.all for one in single)
    # Without knowing the old rows it is still located.
    blurred = successes(1, knows_old_rows=False)
    assert np.median([one.error for one in blurred]) < 0.2
    bound = Arrival(d=12, p=2, k=12, knows_old_rows=True)
    assert bound.k == bound.bound
    batch = successes(12, knows_old_rows=True)
    assert not any(one.some for one in batch)
    assert np.median([one.error for one in batch]) > 0.7
