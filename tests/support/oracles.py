"""The paper's formulas, written as naively as possible: what every fast path must agree with."""

from itertools import permutations

import numpy as np


def shapley(v):
    """Eq. (2) over all n! permutations."""
    n = len(v).bit_length() - 1
    phi, count = np.zeros(n), 0
    for order in permutations(range(n)):
        mask, count = 0, count + 1
        for i in order:
            phi[i] += v[mask | 1 << i] - v[mask]
            mask |= 1 << i
    return phi / count


def banzhaf(v):
    n = len(v).bit_length() - 1
    return [
        np.mean([v[C | 1 << i] - v[C] for C in range(2**n) if not C >> i & 1]) for i in range(n)
    ]


def prior_covariance(model, X):
    """Prior covariance of the latent values, each model's formula of App. E.5 as it stands."""
    if hasattr(model, "inducing_points"):
        U = model.inducing_points
        return (
            model.kernel(X, U)
            @ np.linalg.pinv(model.kernel(U), rcond=1e-13, hermitian=True)
            @ model.kernel(U, X)
        )
    if hasattr(model, "frequencies"):
        return fourier_covariance(model.kernel, model.frequencies, X)
    if hasattr(model, "kernel"):
        return model.kernel(X) if len(X) else np.zeros((0, 0))
    Phi = model.design(X)
    Sigma_0 = model.prior_variance
    if Sigma_0.ndim < 2:
        Sigma_0 = np.diag(np.broadcast_to(Sigma_0, Phi.shape[1]))
    return Phi @ Sigma_0 @ Phi.T


def fourier_covariance(kernel, frequencies, X):
    """Mean of cos(w . (x - z)) over the frequencies, of constant * simple kernel [+ another]."""
    terms = [kernel.k1, kernel.k2] if type(kernel).__name__ == "Sum" else [kernel]
    K = np.zeros((len(X), len(X)))
    for term, z in zip(terms, frequencies, strict=True):
        w = z / term.k2.length_scale
        for i, x in enumerate(X):
            K[i] += term.k1.constant_value * np.cos((x - X) @ w.T).mean(axis=1)
    return K


def information_gain(model, X, noise):
    """App. E.5: 1/2 log|I + K D^-1|, by slogdet."""
    K = prior_covariance(model, X)
    return 0.5 * np.linalg.slogdet(np.eye(len(X)) + K / np.broadcast_to(noise, len(X)))[1]


def rounding(model, parties):
    """What `slogdet` may be off by here, in nats.

    It is eps times the trace, since the smallest eigenvalue is 1 or more.
    """
    noise = np.concatenate([_noise(model, p) for p in parties])
    K = prior_covariance(model, np.concatenate([p.X for p in parties]))
    return np.finfo(float).eps * (len(K) + (np.diag(K) / noise).sum())


def _noise(model, party):
    return np.broadcast_to(
        model.noise_variance if party.noise_variance is None else party.noise_variance, len(party)
    )


def values(model, parties):
    """Eq. (1) for every coalition, one determinant each."""
    v = []
    for mask in range(2 ** len(parties)):
        C = [p for i, p in enumerate(parties) if mask >> i & 1]
        X = np.concatenate([p.X for p in C]) if C else np.empty((0, parties[0].X.shape[1]))
        noise = [_noise(model, p) for p in C]
        v.append(information_gain(model, X, np.concatenate(noise) if C else np.empty(0)))
    return np.array(v)


def predict(model, X, y, noise, X_star):
    """Predictive mean and variance by the joint normal distribution of training and test labels."""
    both = np.concatenate([X, X_star])
    K = prior_covariance(model, both)
    mean = model.prior_mean_at(both) if hasattr(model, "prior_mean_at") else np.zeros(len(both))
    m = len(X)
    C = K[:m, :m] + np.diag(np.broadcast_to(noise, m))
    mu = mean[m:] + K[m:, :m] @ np.linalg.solve(C, y - mean[:m])
    latent = np.diag(K[m:, m:] - K[m:, :m] @ np.linalg.solve(C, K[:m, m:]))
    if hasattr(model, "inducing_points"):
        latent = latent + model.kernel.diag(X_star) - np.diag(K[m:, m:])
    return mu, latent + model.noise_variance


def log_marginal_likelihood(model, X, y, noise):
    C = prior_covariance(model, X) + np.diag(np.broadcast_to(noise, len(X)))
    y = y - (model.prior_mean_at(X) if hasattr(model, "prior_mean_at") else 0)
    return -0.5 * (y @ np.linalg.solve(C, y) + np.linalg.slogdet(C)[1] + len(y) * np.log(2 * np.pi))


def reward_data_gain(model, parties, i, eta):
    """The information gain of D_i^r as it is defined.

    Own rows have their noise, and the others' have eta more.
    """
    noise = [_noise(model, p) for p in parties]
    noise = np.concatenate([s + (0 if j == i else eta) for j, s in enumerate(noise)])
    return information_gain(model, np.concatenate([p.X for p in parties]), noise)
