"""Noise variance and prior scale learned from sums alone: the optimum that rows have."""

import numpy as np
import pytest

from tests.support.sums import NAMES, Case, classes, numbers


def case_in(folder, *, of_classes, by_sums, kind="sparse_gp"):
    make = classes if of_classes else numbers
    tables = {name: make(150, seed, 0.4 * seed) for seed, name in enumerate(NAMES)}
    return Case(
        folder=folder,
        tables=tables,
        kind=kind,
        classes=of_classes,
        by_sums=by_sums,
        learned_from_sums=True,
    )


def likelihood(model, case, encoding):
    """The log marginal likelihood of everybody's rows, by the model's own weights; naive."""
    total = 0.0
    X, y = [], []
    for table in case.tables.values():
        X.append(encoding.encode(table))
        y.append(encoding.encode_target(table))
    A = model.whitened_features(np.concatenate(X))
    labels = np.concatenate(y)
    K = A @ A.T + model.noise_variance * np.eye(len(A))
    total -= np.linalg.slogdet(K)[1] / 2 + labels @ np.linalg.solve(K, labels) / 2
    return total


@pytest.mark.parametrize("kind", ["blr", "sparse_gp", "fourier"])
def test_what_is_learned_is_the_optimum_of_the_rows(kind, tmp_path):
    case = case_in(tmp_path, of_classes=False, by_sums=NAMES, kind=kind)
    plan = case.planned()
    done = case.next_round()
    model, encoding = done.built.model, done.preparation.encoding
    given = plan.plan.model
    assert model.noise_variance != given.noise_variance
    best = likelihood(model, case, encoding)
    assert best > likelihood(given, case, encoding) + 1
    # To three digits, as all that is learned; so nothing near is better by more than that costs.
    for factor in (0.98, 1.02):
        worse = likelihood(model.with_noise(factor * model.noise_variance), case, encoding)
        assert worse < best + 0.01
        assert likelihood(model.with_prior_scaled(factor), case, encoding) < best + 0.01


@pytest.mark.parametrize("of_classes", [False, True], ids=["numbers", "classes"])
def test_rows_and_sums_teach_the_same(of_classes, tmp_path):
    learned = []
    for by_sums in (NAMES, NAMES[:1]):
        case = case_in(tmp_path / str(len(by_sums)), of_classes=of_classes, by_sums=by_sums)
        case.planned()
        learned.append(case.next_round())
    one, other = learned
    assert one.built.settings == other.built.settings
    np.testing.assert_allclose(
        one.collaboration.game.values(), other.collaboration.game.values(), rtol=1e-9, atol=1e-9
    )
    assert "from everybody's sums" in one.built.origin


def test_what_was_learned_stays_in_the_next_round(tmp_path):
    case = case_in(tmp_path, of_classes=False, by_sums=NAMES)
    plan = case.planned()
    first = case.next_round()
    sent = list(case.sent["North"].values())
    case.contribute("North", numbers(130, 7), plan, earlier=(sent[0].digest,))
    second = case.next_round()
    assert second.built.model.noise_variance == first.built.model.noise_variance
    assert second.collaboration.game.alone[0] > first.collaboration.game.alone[0]
