"""The noise in files that were released: normal, of the variance stated, one path per row."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from fairpool.realisation.reward_file import decode_reward
from tests.support.consortia import Consortium, numbers
from tests.support.holdings_oracle import Holdings, check_round, file_rows, told_moment
from tests.support.noise_attacks import labels_in
from tests.support.projects import fairpool

EIGHT = np.linspace(0.9, 0.2, 8)
SIXTY = np.linspace(0.9, 0.1, 60)
"""What is agreed on from round to round."""


def wide(count, seed):
    """Rows of many inputs: a file's mean is then many numbers."""
    table = numbers(count, seed)
    rng = np.random.default_rng([seed, 1])
    for number in range(40):
        table = table.append_column(f"w{number}", [rng.standard_normal(count)])
    return table


def check_normal(noise):
    assert len(noise) >= 40
    assert stats.kstest(noise, "norm").pvalue > 0.001
    assert 0.6 < np.mean(np.square(noise)) < 1.5
    # And not of half or twice the variance, which so many numbers would show.
    assert stats.kstest(noise * np.sqrt(2), "norm").pvalue < 0.3


def test_labels_in_released_files_of_an_exact_process(tmp_path):
    tables = {"A": numbers(40, 1), "B": numbers(100, 2, 0.5), "C": numbers(60, 3, 1.0)}
    consortium = Consortium(folder=tmp_path, kind="gp", tables=tables, rho=0.9)
    done = consortium.next_round()
    holdings = Holdings()
    body = check_round(consortium, done, holdings)
    path = tmp_path / body["parties"][0]["path"]
    reward = decode_reward(path.read_bytes(), "file")
    rows = file_rows(consortium, done, body, 0, holdings)
    clean = {tuple(x): y for x, y in zip(rows.X, rows.y, strict=True)}
    eta = {tuple(x): e for x, e in zip(rows.X, rows.eta, strict=True)}
    noise = []
    for x, label in zip(reward.posterior.X, labels_in(reward), strict=True):
        if eta[tuple(x)]:
            noise.append((label - clean[tuple(x)]) / np.sqrt(eta[tuple(x)]))
    assert len(noise) == 160
    check_normal(np.array(noise))


@pytest.mark.parametrize("covariance", ["hidden", "full"])
def test_moments_in_released_files_of_weights(tmp_path, covariance):
    """B mu less the moment without noise, whitened by the Gram matrix of the rows with noise."""
    consortium = Consortium(
        folder=tmp_path,
        tables={"A": wide(200, 1), "B": wide(300, 2)},
        rho=0.5,
        rewards=f'covariance = "{covariance}"',
    )
    done = consortium.next_round()
    holdings = Holdings()
    body = check_round(consortium, done, holdings)
    model = done.built.model
    noise = []
    for i, party in enumerate(body["parties"]):
        if not any(party["etas"].values()):
            continue  # the best one has no noise
        reward = decode_reward((tmp_path / party["path"]).read_bytes(), "file")
        rows = file_rows(consortium, done, body, i, holdings)
        precision, _, without_noise = told_moment(model, rows)
        told = precision @ reward.posterior.weights - without_noise
        A = model.whitened_features(rows.X)
        weights = rows.eta / np.square(model.noise_variance + rows.eta)
        values, vectors = np.linalg.eigh((A.T * weights) @ A)
        noise.append((vectors / np.sqrt(values)) @ vectors.T @ told)
    check_normal(np.concatenate(noise))


@pytest.mark.parametrize(
    ("suffix", "rhos"),
    [
        (".parquet", EIGHT),
        (".csv", EIGHT),
        pytest.param(".parquet", SIXTY, marks=pytest.mark.soak),
    ],
    ids=["parquet", "csv", "sixty rounds"],
)
def test_attack_files_of_many_rounds_by_the_command(tmp_path, suffix, rhos):
    """rho goes down, so that everybody is sent something almost every month: of every label, the
    best that all files together give is the least noisy one.
    """
    tables = {"A": numbers(60, 1), "B": numbers(80, 2, 0.5), "C": numbers(60, 3, 1.0)}
    consortium = Consortium(folder=tmp_path, kind="gp", tables=tables, suffix=suffix)
    consortium.write()
    seen, etas = [], []
    for rho in rhos:
        done = fairpool("run", tmp_path, "--rho", rho, "--quiet")
        assert done.returncode == 0, done.stderr
        party = consortium.releases()[-1]["parties"][0]
        if party["file"] is not None:
            reward = decode_reward((tmp_path / party["path"]).read_bytes(), "file")
            scale = reward.encoding.target.noise_scale
            (eta,) = {round(value, 9) for value in party["etas"].values()}
            labels = dict(zip(map(tuple, reward.posterior.X), labels_in(reward), strict=True))
            seen.append(labels)
            etas.append(eta / scale**2)
    assert len(seen) >= 0.75 * len(rhos)
    etas = np.array(etas)
    encoding = reward.encoding
    X = encoding.encode(tables["B"])
    y = encoding.encode_target(tables["B"])
    looks = np.array([[labels[tuple(x)] for x in X] for labels in seen])
    noise = looks - y
    least = np.argmin(etas)
    weights = np.linalg.solve(np.minimum(etas[:, None], etas), np.ones(len(etas)))
    best = weights @ noise / weights.sum()
    np.testing.assert_allclose(best, noise[least], atol=1e-4)
    for estimate in (best, noise.mean(axis=0), np.average(noise, axis=0, weights=1 / etas)):
        assert np.mean(np.square(estimate)) > 0.65 * etas[least]
    # Brownian: a step from one release to the next has the variance of the difference.
    order = np.argsort(etas)
    steps = []
    for low, high in pairwise(order):
        step = np.mean(np.square(noise[high] - noise[low]))
        steps.append(step / (etas[high] - etas[low]))
    # Of 80 rows each, hardly ever a quarter off; the more so all together.
    assert 0.4 < min(steps) <= max(steps) < 1.9
    assert abs(np.mean(steps) - 1) < 5 * np.sqrt(2 / (len(y) * len(steps)))
