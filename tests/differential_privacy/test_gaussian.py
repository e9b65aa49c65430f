"""What Gaussian noise guarantees, beside another implementation and the definition."""

import numpy as np
import pytest
from scipy.stats import norm

from fairpool.differential_privacy.gaussian import delta_of, epsilon_of, mu_of, together
from fairpool.errors import PrivacyError

# By dp-accounting 0.6.0: GaussianPrivacyLoss.from_privacy_guarantee(..., sensitivity=1.0).
DEVIATIONS = [
    (0.1, 1e-6, 36.30469045643756),
    (0.5, 1e-5, 7.0318267420168326),
    (1, 1e-5, 3.730631664679545),
    (1, 1e-6, 4.224678930001968),
    (3, 1e-5, 1.3905934987510848),
    (3, 1e-9, 1.9437242785071294),
    (8, 1e-6, 0.6529354193905296),
    (20, 1e-5, 0.29004146352477017),
]

# By dp-accounting 0.6.0: from_gaussian_mechanism(..., value_discretization_interval=1e-4),
# composed; its figures are upper bounds.
COMPOSED = [
    ((5.0,), 1e-5, 0.7255217677394715),
    ((2.0,), 1e-7, 2.4903385421533835),
    ((5.0, 5.0), 1e-5, 1.0607897742570098),
    ((5.0,) * 12, 1e-7, 3.557210794889078),
    ((3.0, 4.0, 6.0), 1e-5, 1.7668447889782843),
    ((3.0, 4.0, 6.0), 1e-7, 2.2149015854902405),
]


@pytest.mark.parametrize(("epsilon", "delta", "deviation"), DEVIATIONS)
def test_noise_is_what_another_implementation_says(epsilon, delta, deviation):
    assert 1 / mu_of(epsilon, delta) == pytest.approx(deviation, rel=1e-5)
    assert delta_of(epsilon, mu_of(epsilon, delta)) == pytest.approx(delta, rel=1e-9)


@pytest.mark.parametrize(("deviations", "delta", "epsilon"), COMPOSED)
def test_releases_together_are_what_another_implementation_says(deviations, delta, epsilon):
    mu = together(1 / deviation for deviation in deviations)
    assert epsilon_of(mu, delta) == pytest.approx(epsilon, rel=1e-6)
    assert epsilon_of(mu, delta) <= epsilon


def test_delta_is_the_advantage_of_the_best_attack():
    mu, epsilon = 0.8, 0.5
    x = np.linspace(-12, 12, 400_001)
    gain = norm.pdf(x, mu) - np.exp(epsilon) * norm.pdf(x)
    assert delta_of(epsilon, mu) == pytest.approx(np.trapezoid(np.maximum(gain, 0), x), rel=1e-6)


def test_epsilon_undoes_mu():
    for epsilon in (1e-3, 0.1, 1.0, 10.0, 50.0):
        for delta in (1e-3, 1e-6, 1e-15):
            assert epsilon_of(mu_of(epsilon, delta), delta) == pytest.approx(epsilon, rel=1e-6)


def test_no_release_costs_nothing():
    assert together([]) == 0.0
    assert epsilon_of(0.0, 1e-6) == 0.0


@pytest.mark.parametrize("epsilon", [0.0, -1.0, 1e9, float("nan")])
def test_an_epsilon_that_is_none_is_refused(epsilon):
    with pytest.raises(PrivacyError, match=r"epsilon .* is not between 0.001 and 50"):
        mu_of(epsilon, 1e-6)


@pytest.mark.parametrize("delta", [0.0, 0.5, -1e-6, float("nan")])
def test_a_delta_that_is_none_is_refused(delta):
    with pytest.raises(PrivacyError, match=r"delta .* is not between"):
        mu_of(1.0, delta)
