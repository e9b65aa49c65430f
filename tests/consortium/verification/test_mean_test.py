"""The test of the mean is calibrated: false alarms at the stated rate at most, and power."""

from dataclasses import replace

import numpy as np
import pytest

from fairpool import BayesianLinearRegression, Party
from fairpool.consortium.verification.mean_test import mean_test

ROWS = 60
WEIGHTS = 4
DRAWS = 1500
RATE = 0.05
ERROR = 4 * np.sqrt(RATE * (1 - RATE) / DRAWS)
"""Four standard errors of a rate that is measured over so many draws."""


def alarms(others, *, left_out=False, noise=1.0, rate=RATE, eta=0.0):
    """How often a model is called suspicious, over draws of weights and labels from the prior.

    Args:
        others: How many rows the others have.
        left_out: Whether the recipient's own rows are left out of the model.
        noise: The true variance of labels, beside the model's.
        rate: Of false alarms.
        eta: Of the noise on the others' labels.
    """
    rng = np.random.default_rng(5)
    s2 = 0.5
    model = BayesianLinearRegression(s2, bias=False)
    suspicious = 0
    for _ in range(DRAWS):
        u = rng.normal(size=WEIGHTS)
        X = rng.normal(size=(ROWS, WEIGHTS))
        y = X @ u + rng.normal(0, np.sqrt(noise * s2), ROWS)
        own = model.summarise(Party("own", X, y))
        # Sums over the others' rows, whose features are orthogonal.
        P = others / (s2 + eta) * np.eye(WEIGHTS)
        spread = np.sqrt(others * (noise * s2 + eta)) / (s2 + eta)
        h = P @ u + spread * rng.normal(size=WEIGHTS)
        if not left_out:
            P, h = P + own.told.precision, h + own.told.moment
        posterior = model.posterior_from_moments(P, h, WEIGHTS)
        # What the test looks at is the mean alone: the covariance may be hidden.
        hidden = replace(posterior, factor=np.eye(WEIGHTS))
        suspicious += mean_test(hidden, own, false_alarms=rate).is_suspicious
    return suspicious / DRAWS


@pytest.mark.parametrize("others", [20, 200, 20_000])
def test_false_alarms_are_no_more_than_stated_whatever_the_others_have(others):
    assert alarms(others) <= RATE + ERROR


def test_false_alarms_are_as_many_as_stated_where_the_others_know_everything():
    assert abs(alarms(20_000) - RATE) <= ERROR


def test_noise_on_the_others_labels_makes_no_alarms():
    assert alarms(200, eta=3.0) <= RATE + ERROR


@pytest.mark.parametrize("noise", [0.3, 3.0])
def test_labels_with_other_noise_than_the_models_make_no_alarms(noise):
    assert alarms(20_000, noise=noise) <= RATE + ERROR


def test_own_rows_that_were_left_out_are_noticed_where_they_tell_much():
    assert alarms(2, left_out=True, rate=0.001) > 0.8


def test_own_rows_that_tell_nothing_new_are_not_noticed():
    """Which is why only an auditor can tell."""
    assert alarms(20_000, left_out=True) <= RATE + ERROR
