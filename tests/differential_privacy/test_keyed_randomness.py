"""Draws that are a function of a key are the same again, and as random as any."""

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from fairpool.differential_privacy.discrete_gaussian import discrete_gaussian
from fairpool.differential_privacy.keyed_randomness import AT_ONCE, KeyedRandomness

KEY = bytes(range(32))


def test_one_key_gives_the_same_numbers_and_another_one_others():
    def numbers(key):
        random = KeyedRandomness(key)
        return [random.below(2**80) for _ in range(50)]

    assert numbers(KEY) == numbers(KEY)
    assert not set(numbers(KEY)) & set(numbers(bytes(32)))
    assert len(set(numbers(KEY))) == 50


@pytest.mark.parametrize("most", [1, 2, 3, 7, 256, 257])
def test_every_number_below_is_as_likely(most):
    random = KeyedRandomness(KEY)
    drawn = np.array([random.below(most) for _ in range(20_000)])
    assert 0 <= drawn.min() <= drawn.max() < most
    if most > 1:
        assert chisquare(np.bincount(drawn, minlength=most)).pvalue > 1e-3


def test_the_stream_goes_on_from_one_portion_to_the_next():
    random = KeyedRandomness(KEY)
    drawn = [random.below(2**64) for _ in range(AT_ONCE // 8 * 3)]
    assert len(set(drawn)) == len(drawn)


def test_noise_of_it_is_gaussian():
    below = KeyedRandomness(KEY).below
    drawn = [discrete_gaussian(2**40, below) / 2**40 for _ in range(5000)]
    assert kstest(drawn, "norm").pvalue > 1e-3
