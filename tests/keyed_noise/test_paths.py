"""Brownian paths from a secret: their distribution, what attackers gain, and that they stay."""

import math
import struct
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy.stats import kstest

from fairpool.errors import DataError, RewardError
from fairpool.keyed_noise.bridge import steps_to
from fairpool.keyed_noise.identity import coordinate_ids
from fairpool.keyed_noise.paths import ROWS_AT_ONCE, Paths, uniforms
from fairpool.keyed_noise.secret import Secret

SECRET = Secret(bytes(range(32)))
PATHS = Paths(SECRET)
M = 40_000
IDS = coordinate_ids(SECRET, "test", M)
FEW = IDS[:50]
ETAS = [1e-8, 1e-5, 0.03, 0.7, 1.0, 1 + 1e-12, 1 + 1e-9, 1 + 1e-3, 1.5, 40.0, 1e4, 1e8]
NOISE = PATHS.at_many(IDS, ETAS)
INCREMENTS = np.diff(NOISE, axis=0, prepend=0) / np.sqrt(np.diff(ETAS, prepend=0))[:, None]

SIGMAS = 5
"""A sample may be so many standard errors off: of 1,000 figures, one with a chance of 0.0006."""


def assert_uncorrelated(x, y, variance=1.0):
    """Of x and y with mean 0 and this variance each."""
    assert abs(np.mean(x * y)) < SIGMAS * variance / math.sqrt(len(x))


def assert_independent(x, y):
    """Of standard normal x and y."""
    assert_uncorrelated(x, y)
    assert_uncorrelated(x**2 - 1, y**2 - 1, variance=2)
    assert_uncorrelated((x**2 - 1) / math.sqrt(2), y)
    assert_uncorrelated(x, (y**2 - 1) / math.sqrt(2))


def test_covariances_are_right_over_sixteen_orders_of_magnitude():
    scaled = NOISE / np.sqrt(ETAS)[:, None]
    found = scaled @ scaled.T / M
    expected = np.sqrt(np.minimum.outer(ETAS, ETAS) / np.maximum.outer(ETAS, ETAS))
    errors = np.sqrt((1 + expected**2) / M)
    np.testing.assert_array_less(np.abs(found - expected), SIGMAS * errors)


@pytest.mark.parametrize("place", range(len(ETAS)))
def test_increments_are_standard_normal(place):
    # Between neighbours 1e-12 apart they are what double precision leaves of them: ten digits.
    x = INCREMENTS[place]
    assert kstest(x, "norm").pvalue > 1e-3
    assert abs(x.mean()) < SIGMAS / math.sqrt(M)
    assert abs(x.var() - 1) < SIGMAS * math.sqrt(2 / M)
    assert abs(np.mean(x**4) - 3) < SIGMAS * math.sqrt(96 / M)


def test_increments_are_independent():
    for first in range(len(ETAS)):
        for second in range(first):
            assert_independent(INCREMENTS[first], INCREMENTS[second])


def test_neighbouring_ids_are_independent():
    x = PATHS.at(IDS, 1.7) / math.sqrt(1.7)
    assert_independent(x[1:], x[:-1])
    sorted_ids = IDS[np.lexsort(IDS.T)]
    x = PATHS.at(sorted_ids, 1.7) / math.sqrt(1.7)
    assert_independent(x[1:], x[:-1])


def test_ids_that_differ_in_one_bit_are_independent():
    some = IDS[:300]
    x = PATHS.at(some, 1.7) / math.sqrt(1.7)
    first = []
    second = []
    for bit in range(128):
        flipped = some.copy()
        flipped[:, bit // 64] ^= np.uint64(1) << np.uint64(bit % 64)
        first.append(x)
        second.append(PATHS.at(flipped, 1.7) / math.sqrt(1.7))
    for y in second:
        assert_uncorrelated(x, y)
    # The same x stands beside each y, and the y are independent.
    assert kstest(np.concatenate(second), "norm").pvalue > 1e-3
    assert_independent(np.concatenate(first), np.concatenate(second))


@pytest.mark.parametrize("eta", [0.7, 1.0, 1 + 1e-12])
def test_streams_are_independent(eta):
    streams = [PATHS.at(IDS, eta, stream=k) / math.sqrt(eta) for k in (0, 1, 2, 256, 2**40)]
    for first in range(len(streams)):
        assert kstest(streams[first], "norm").pvalue > 1e-3
        for second in range(first):
            assert_independent(streams[first], streams[second])


def test_secrets_are_independent():
    material = bytearray(SECRET.material)
    material[31] ^= 1
    x = PATHS.at(IDS, 0.7) / math.sqrt(0.7)
    y = Paths(Secret(bytes(material))).at(IDS, 0.7) / math.sqrt(0.7)
    assert kstest(y, "norm").pvalue > 1e-3
    assert_independent(x, y)


def test_etas_in_the_last_interval_have_their_own_normal():
    # Two etas that agree in 30 binary digits: their difference is not that of a path, but as wide.
    low = 1 + 0.3 * 2.0**-30
    high = 1 + 0.7 * 2.0**-30
    difference = PATHS.at(IDS, high) - PATHS.at(IDS, low)
    bridge = 0.3 * (1 - 0.7) * 2.0**-30
    deviation = math.sqrt(high - low + 2 * bridge)
    assert kstest(difference / deviation, "norm").pvalue > 1e-3


def normal_of(position, pair, stream):
    """One normal variable, by Python's own words."""
    parts = (stream.to_bytes(8, "big"), struct.pack(">d", position))
    key = SECRET.subkey("noise at a position", *parts)
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    block = encryptor.update(struct.pack("<QQ", *map(int, pair)))
    bits = int.from_bytes(block[:8], "little") >> 12
    return NormalDist().inv_cdf((2 * bits + 1) / 2**53)


def test_a_path_is_that_of_an_oracle_which_goes_row_by_row():
    for eta, stream in ((0.7, 0), (1.0, 0), (1 + 1e-12, 3), (3.3e-7, 0), (123456.789, 1)):
        found = PATHS.at(FEW, eta, stream=stream)
        for pair, value in zip(FEW, found, strict=True):
            known = {0.0: 0.0}
            for step in steps_to(eta):
                lower = known[step.lower]
                way = step.weight * (known[step.upper] - lower)
                normal = normal_of(step.position, pair, stream)
                known[step.position] = lower + way + step.deviation * normal
            assert known[eta] == pytest.approx(value, rel=1e-9, abs=1e-12 * math.sqrt(eta))


def test_uniform_variables_stay_inside_0_and_1():
    most = 2**64 - 1
    words = np.array([0, most, 2**63, 2**63 - 1, 2**12 - 1, 2**12], np.uint64)
    found = uniforms(words)
    assert found.tolist() == [
        2.0**-53,
        1 - 2.0**-53,
        0.5 + 2.0**-53,
        0.5 - 2.0**-53,
        2.0**-53,
        3 * 2.0**-53,
    ]
    assert words[1] == most  # what was given stays as it is


def test_no_noise_at_0():
    assert PATHS.at(FEW, 0.0).tolist() == [0.0] * len(FEW)


def test_noise_is_a_function_of_the_id_alone():
    ids = IDS[: 2 * ROWS_AT_ONCE + 5]
    whole = PATHS.at(ids, 0.7)
    order = np.random.default_rng(0).permutation(len(ids))
    np.testing.assert_array_equal(PATHS.at(ids[order], 0.7), whole[order])
    np.testing.assert_array_equal(PATHS.at(ids[7:9], 0.7), whole[7:9])
    np.testing.assert_array_equal(PATHS.at(np.asfortranarray(ids), 0.7), whole)
    assert PATHS.at(ids[:0], 0.7).shape == (0,)


def test_several_etas_at_once_are_the_same_as_one_after_the_other():
    etas = [40.0, 0.0, 0.7, 1.0, 1e-150, 0.7, 0.7000001, 1 + 1e-12, 2.0**-700, 1e200]
    together = PATHS.at_many(FEW, etas, stream=5)
    assert together.shape == (len(etas), len(FEW))
    for eta, row in zip(etas, together, strict=True):
        np.testing.assert_array_equal(PATHS.at(FEW, eta, stream=5), row)
    assert PATHS.at_many(FEW, []).shape == (0, len(FEW))


@pytest.mark.parametrize("eta", [math.inf, math.nan, -1.0, -0.1, -math.inf])
def test_a_variance_that_is_none_is_refused(eta):
    with pytest.raises(RewardError, match="is not a finite number from 0"):
        PATHS.at(FEW, eta)


def test_a_variance_out_of_range_is_refused():
    with pytest.raises(RewardError, match=r"1e\+300 is not 0, nor between"):
        PATHS.at(FEW, 1e300)


@pytest.mark.parametrize(
    "ids", [FEW[:, :1], FEW[0], FEW.astype(np.int64), FEW.astype(float), FEW.tolist()]
)
def test_what_are_no_ids_is_refused(ids):
    with pytest.raises(DataError, match="are not an array of uint64 with two columns"):
        PATHS.at(ids, 1.0)


def test_a_stream_is_a_whole_number():
    with pytest.raises(DataError, match="stream -1 is not a whole number from 0"):
        PATHS.at(FEW, 1.0, stream=-1)


def test_the_secret_is_not_shown():
    assert SECRET.material.hex()[:8] not in repr(PATHS)


def variance_of_best_mean(noise):
    """The least that any weighted mean of releases [n, m] attains on these very rows."""
    ways = (noise[1:] - noise[0]).T
    weights = np.linalg.lstsq(ways, -noise[0], rcond=None)[0]
    return float(np.mean((noise[0] + ways @ weights) ** 2))


def test_sixty_releases_tell_no_more_than_the_least_noisy_one():
    rows, releases, least = 20_000, 60, 0.7
    rng = np.random.default_rng(3)
    etas = least * (1 + 0.05 * rng.random(releases))
    etas[17] = least
    keyed = PATHS.at_many(IDS[:rows], etas)
    fresh = np.sqrt(etas)[:, None] * rng.standard_normal((releases, rows))
    # Weights that are fitted to the rows themselves gain a little on them.
    by_chance = releases / rows + SIGMAS * math.sqrt(2 / rows)
    assert variance_of_best_mean(keyed) > least * (1 - by_chance)
    assert np.var(keyed.mean(axis=0)) > least * (1 - SIGMAS * math.sqrt(2 / rows))
    # What the same attack gains on fresh noise shows that it is one.
    assert variance_of_best_mean(fresh) < 1.2 * least / releases
    # The same eta again tells nothing at all.
    np.testing.assert_array_equal(PATHS.at(IDS[:rows], least), keyed[17])


def test_rising_and_falling_etas_make_no_difference():
    etas = [5.0, 0.9, 3.0, 0.9, 7.0]
    noise = PATHS.at_many(IDS, etas)
    order = np.argsort(etas, kind="stable")
    for low, high in pairwise(order):
        gap = etas[high] - etas[low]
        difference = noise[high] - noise[low]
        if gap == 0:
            assert not difference.any()
        else:
            assert_independent(difference / math.sqrt(gap), noise[low] / math.sqrt(etas[low]))


def test_paths_stay_what_they_are_for_good():
    # Other values here would give every row of every consortium a second, independent noise.
    ids = np.array([[0, 0], [1, 0], [2**64 - 1, 2**63]], np.uint64)
    found = PATHS.at_many(ids, [1e-9, 0.7, 1.0, 1 + 1e-12, 1e9])
    # The last digit may depend on how the normal distribution's inverse was compiled.
    np.testing.assert_allclose(found, GOLDEN, rtol=1e-13)
    np.testing.assert_allclose(PATHS.at(ids, 0.7, stream=1), GOLDEN_STREAM, rtol=1e-13)


GOLDEN = [
    [-3.3121547876642524e-06, 8.747944614942611e-06, -3.953131059800836e-05],
    [1.5065205675101363, 0.7559425380320396, 0.5776229977158058],
    [2.071957484164692, 0.7837085586495022, -0.030686617364062772],
    [2.0719584274002405, 0.7837079083180034, -0.030686375850418463],
    [64680.19619012071, 23604.891704812027, 31273.55871104777],
]
GOLDEN_STREAM = [0.29863179277290486, 0.05494283840119683, -0.8967881824606607]
