"""Fourier features: frequencies, gradients, and how close they come to the exact process."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern

import fairpool as fp
from fairpool.models.fourier import _likelihood, _likelihood_of_sets, spectral_terms
from tests.support.examples import P, labels, make_parties

KERNELS = {
    "rbf": 1.3 * RBF([0.8, 1.2, 2.0]),
    "exponential": 0.7 * Matern([1.0, 2.0, 3.0], nu=0.5),
    "matern32": Matern(1.5, nu=1.5),
    "matern52": 2.0 * Matern([1.0, 2.0, 3.0], nu=2.5),
    "sum": 1.3 * RBF([0.8, 1.2, 2.0]) + 0.4 * Matern(2.0, nu=1.5),
    "product": 0.5 * RBF(1.5) * Matern([1.0, 2.0, 3.0], nu=2.5),
    "distributed": (0.5 * RBF(1.5) + ConstantKernel(0.3)) * (1.0 * RBF(3.0) + 0.2 * RBF(0.5)),
    "fixed": ConstantKernel(2.0, "fixed") * RBF([1.0, 1.0, 1.0], "fixed"),
}


def fourier(kernel, features, noise=0.3, inputs=P):
    frequencies = fp.fourier_frequencies(kernel, inputs, features)
    return fp.FourierGaussianProcess(kernel, noise, frequencies)


def inputs(rows, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, P))


@pytest.mark.parametrize("name", KERNELS)
def test_with_more_features_the_kernel_is_approached(name):
    X = inputs(30)
    K = KERNELS[name](X)
    errors = []
    for features in (64, 1024, 16384):
        A = fourier(KERNELS[name], features).whitened_features(X)
        errors.append(np.sqrt(np.mean((A @ A.T - K) ** 2)) / K[0, 0])
    # Independent draws have errors of up to 1 / sqrt(D) = 0.18, 0.04 and 0.01 for one term.
    assert errors[2] < 0.02
    assert errors[2] < errors[1] / 2 < errors[0] / 4 or errors[0] < 1e-12


@pytest.mark.parametrize("name", KERNELS)
def test_the_length_of_features_is_the_kernels_variance(name):
    """Sums over rows are bounded by it, and noise for privacy can be."""
    model = fourier(KERNELS[name], 20)
    A = model.whitened_features(10 * inputs(50))
    squares = np.einsum("ij,ij->i", A, A)
    np.testing.assert_allclose(squares, model.kernel.diag(inputs(50)), rtol=1e-12)
    assert model.feature_bounds(P).largest == pytest.approx(squares[0], rel=1e-12)
    (party,) = make_parties([10], 1)
    too_much = model.summarise(party)
    object.__setattr__(too_much, "rows", 9)
    with pytest.raises(ValueError, match="the trace of gram is"):
        too_much.refuse_other_model(model)


def test_predictions_and_values_approach_those_of_the_exact_process():
    kernel = 1.0 * RBF([1.5, 1.5, 1.5])
    parties = make_parties([40, 30], 3)
    X_star = inputs(20, 9)
    gp = fp.InformationGain(fp.GaussianProcess(kernel, 0.3), parties)
    mean, variance = gp.posterior([0, 1]).predict(X_star)
    gaps = []
    for features in (32, 256, 2048):
        game = fp.InformationGain(fourier(kernel, features), parties)
        ours = game.posterior([0, 1]).predict(X_star)
        gaps.append(
            [
                np.abs(game.values() - gp.values()).max(),
                np.abs(ours[0] - mean).max(),
                np.abs(ours[1] - variance).max(),
            ]
        )
    gaps = np.array(gaps)
    assert (gaps[2] < gaps[0] / 5).all(), gaps
    assert (gaps[2] < [0.1, 0.1, 0.01]).all(), gaps


@pytest.mark.parametrize("name", KERNELS)
def test_gradients_are_those_of_differences(name):
    kernel = KERNELS[name]
    frequencies = fp.fourier_frequencies(kernel, P, 16)
    X = inputs(25)
    y = labels(X, np.random.default_rng(1))
    Y = np.column_stack([y, -y, y**2])
    noise = np.random.default_rng(2).uniform(0.1, 2, Y.shape)
    _, gradient = _likelihood(kernel, 0.3, X, y=y, frequencies=frequencies)
    _, of_sets = _likelihood_of_sets(kernel, X, Y, noise, frequencies=frequencies)
    assert len(gradient) == len(kernel.theta) + 1
    assert len(of_sets) == len(kernel.theta)

    def at(theta, log_noise):
        moved = kernel.clone_with_theta(theta) if len(theta) else kernel
        value, _ = _likelihood(moved, np.exp(log_noise), X, y=y, frequencies=frequencies)
        sets, _ = _likelihood_of_sets(moved, X, Y, noise, frequencies=frequencies)
        return np.array([value, sets])

    # A wave of high frequency, of which a Matern kernel has some, is straight on short ways only.
    size = min(1e-5, 1e-5 / np.square(frequencies).max(initial=1.0) ** 0.5)
    start = np.append(kernel.theta, np.log(0.3))
    for k in range(len(start)):
        step = np.zeros(len(start))
        step[k] = size
        high, low = (at(moved[:-1], moved[-1]) for moved in (start + step, start - step))
        by_value, by_sets = (high - low) / (2 * size)
        assert gradient[k] == pytest.approx(by_value, rel=1e-4, abs=1e-4)
        if k < len(of_sets):
            assert of_sets[k] == pytest.approx(by_sets, rel=1e-4, abs=1e-4)


def test_length_scales_are_learned():
    """An input without effect gets a long one; the likelihood is near the exact process's."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (300, 3))
    y = np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(300)
    start = 1.0 * RBF([1.0, 1.0, 1.0])
    ours = fourier(start, 100).fit_hyperparameters(X, y)
    scales = ours.kernel.k2.length_scale
    assert min(scales[1:]) > 5 * scales[0]
    assert ours.noise_variance == pytest.approx(0.04, rel=0.3)
    exact = fp.GaussianProcess(start, 0.3).fit_hyperparameters(X, y)
    gap = exact.log_marginal_likelihood(X, y) - ours.log_marginal_likelihood(X, y)
    assert abs(gap) < 0.02 * len(y)


def test_frequencies_are_the_same_for_everybody_and_every_scale():
    kernel = KERNELS["sum"]
    frequencies = fp.fourier_frequencies(kernel, P, 40)
    assert frequencies.shape == (2, 10, P)
    np.testing.assert_array_equal(frequencies, fp.fourier_frequencies(kernel, P, 41))
    other = kernel.clone_with_theta(kernel.theta + 1)
    np.testing.assert_array_equal(frequencies, fp.fourier_frequencies(other, P, 40))
    assert fp.fourier_frequencies(kernel, P, 1).shape == (2, 1, P)
    assert fp.fourier_frequencies(ConstantKernel(2.0), P, 4).shape == (0, 2, P)
    np.testing.assert_array_equal(spectral_terms(KERNELS["distributed"])[3].constants, (2, 5))


def test_classes_can_be_learned_with_fourier_features():
    X = inputs(150)
    y = (X[:, 0] ** 2 + X[:, 1] > 1).astype(float)
    start = fp.Classifier(fourier(1.0 * RBF([1.0, 1.0, 1.0]), 40), 2)
    learned = start.fit_hyperparameters(X, y)
    assert learned.log_marginal_likelihood(X, y) > start.log_marginal_likelihood(X, y) + 5
    p, _ = learned.posterior(X, y).predict(X)
    assert np.mean(np.argmax(p, axis=1) == y) > 0.9


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (DotProduct(), "has no spectral density that is known here"),
        (1.0 * RBF() + DotProduct(), "has no spectral density that is known here"),
        (RBF() ** 2, "is a power, which has no Fourier features here"),
        (Matern(nu=np.inf), "has no spectral density that is known here"),
    ],
)
def test_kernels_without_frequencies_are_refused(kernel, text):
    with pytest.raises(ValueError, match=text):
        fp.fourier_frequencies(kernel, P, 10)
    with pytest.raises(ValueError, match=text):
        fp.FourierGaussianProcess(kernel, 0.3, np.zeros((1, 2, P)))


def test_bad_frequencies_are_refused():
    kernel = 1.0 * RBF([1.0, 1.0, 1.0])
    good = fp.fourier_frequencies(kernel, P, 10)
    for bad in (good[0], good[:0], good[:, :0], np.full_like(good, np.nan), np.vstack([good] * 2)):
        with pytest.raises(ValueError, match=r"are not finite numbers \[1, D, p\] for this kernel"):
            fp.FourierGaussianProcess(kernel, 0.3, bad)
    with pytest.raises(ValueError, match="has 3 length scales, but the data has 2 columns"):
        fp.FourierGaussianProcess(kernel, 0.3, good[:, :, :2])
    model = fp.FourierGaussianProcess(kernel, 0.3, good)
    with pytest.raises(ValueError, match="the frequencies are for 3 columns, the data has 2"):
        model.posterior(np.zeros((4, 2)), np.zeros(4))
    with pytest.raises(ValueError, match="inputs"):
        fp.fourier_frequencies(kernel, 0, 10)
    with pytest.raises(ValueError, match="features"):
        fp.fourier_frequencies(kernel, P, 0)
