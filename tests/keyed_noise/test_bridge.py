"""The construction itself: exact covariances, with every normal variable a unit vector."""

import numpy as np
import pytest

from fairpool.errors import RewardError
from fairpool.keyed_noise.bridge import DIGITS, HIGHEST, steps_to

WIDE = [2.0**k * factor for k in range(-760, 768, 37) for factor in (1.0, 1.37, 1.999)]
USUAL = [10.0**k for k in range(-8, 9)]
NEIGHBOURS = [1.0, 1 + 2**-52, 1 + 1e-12, 1 + 1e-9, 1 + 1e-6, 1 + 1e-3, 1.001001, 2.0]


def coefficients(eta):
    """W(eta) as a combination of the normal variables, by their positions."""
    known = {0.0: {}}
    for step in steps_to(eta):
        found = {step.position: step.deviation}
        for end, share in ((step.lower, 1 - step.weight), (step.upper, step.weight)):
            for position, coefficient in known[end].items():
                found[position] = found.get(position, 0.0) + share * coefficient
        known[step.position] = found
    return known[eta]


def matrix(etas):
    """W = L Z: one row for every eta."""
    rows = [coefficients(eta) for eta in etas]
    positions = sorted(set().union(*rows))
    return np.array([[row.get(position, 0.0) for position in positions] for row in rows])


def covariance(etas):
    # Standardised first, since the square of 2^700 is beyond double precision.
    roots = np.sqrt(etas)
    L = matrix(etas) / roots[:, None]
    return L @ L.T


@pytest.mark.parametrize("etas", [WIDE, USUAL, NEIGHBOURS], ids=["wide", "usual", "neighbours"])
def test_covariances_are_those_of_brownian_motion(etas):
    etas = np.array(etas)
    correlation = np.sqrt(np.minimum.outer(etas, etas) / np.maximum.outer(etas, etas))
    # Anchors leave out less than 2^-127; the rest is rounding.
    np.testing.assert_allclose(covariance(etas), correlation, rtol=2e-14, atol=2.0**-127)


def test_etas_within_the_last_interval_are_less_than_2_to_the_minus_32_off():
    width = 2.0**-DIGITS
    etas = 1 + width * np.array([0.1, 0.25, 0.49, 0.51, 0.9])
    roots = np.sqrt(etas)
    gap = np.minimum.outer(etas, etas) - covariance(etas) * np.outer(roots, roots)
    bridge = np.minimum.outer(etas - 1, etas - 1) * (1 + width - np.maximum.outer(etas, etas))
    expected = np.where(np.eye(5, dtype=bool), 0.0, bridge / width)
    np.testing.assert_allclose(gap, expected, atol=1e-15)
    assert 0.9 * 2.0**-32 < gap.max() < 2.0**-32


def test_every_step_builds_on_those_before_it_and_the_last_is_at_eta():
    for eta in (*WIDE, *USUAL, *NEIGHBOURS, 0.7):
        steps = steps_to(eta)
        known = {0.0}
        for step in steps:
            assert {step.lower, step.upper} <= known
            assert step.lower < step.position
            known.add(step.position)
        assert len(known) == len(steps) + 1
        assert steps[-1].position == eta


def test_a_position_is_the_middle_of_one_interval_only():
    rng = np.random.default_rng(0)
    intervals = {}
    for eta in rng.choice(NEIGHBOURS, 300) * 2.0 ** rng.integers(-40, 40, 300):
        for step in steps_to(eta):
            assert intervals.setdefault(step.position, (step.lower, step.upper)) == (
                step.lower,
                step.upper,
            )


def test_an_eta_has_41_steps_at_most():
    assert len(steps_to(0.7)) == 2 + 8 + DIGITS + 1
    assert len(steps_to(1.0)) == 1
    assert len(steps_to(1.5)) == 2 + 8 + 1


@pytest.mark.parametrize("eta", [5e-324, 1e-300, 2.0**-769, 2.0**HIGHEST, 1e300])
def test_an_eta_that_nobody_uses_is_refused(eta):
    with pytest.raises(RewardError, match=r"between 6\.4e-232 and 1\.6e\+231; use other units"):
        steps_to(eta)


def least_variance(L):
    """Of the best linear unbiased estimate of y from releases y + L Z."""
    # The point nearest to 0 among all weighted means of L's rows.
    ways = (L[1:] - L[0]).T
    weights = np.linalg.lstsq(ways, -L[0], rcond=1e-14)[0]
    return float(np.sum((L[0] + ways @ weights) ** 2))


@pytest.mark.parametrize("least", [1.0, 0.7, 3.3e-9, 8.1e12])
def test_the_best_estimate_from_many_releases_is_no_better_than_the_least_noise(least):
    rng = np.random.default_rng(1)
    etas = least * (1 + 3 * rng.random(59))
    releases = np.array([least, *etas])
    assert least_variance(matrix(releases)) == pytest.approx(least, rel=1e-12)
    fresh = 1 / np.sum(1 / releases)
    assert fresh < least / 20


def test_releases_within_the_last_interval_gain_what_the_bound_says_and_no_more():
    lower = 1.75
    width = 2.0**-DIGITS
    etas = np.sort(lower + width * (0.5 + 0.5 * np.random.default_rng(2).random(200)))
    found = least_variance(matrix(etas))
    assert lower < found < etas[0]
    assert (1 - 2.0**-DIGITS) * etas[0] < lower
