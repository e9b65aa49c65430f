"""Values of classes against naive oracles: a log-determinant per class and coalition."""

from dataclasses import replace
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import fairpool as fp
from fairpool.coalitions import members
from fairpool.errors import DataError
from tests.classes.conftest import KERNEL, base_models, parties_of_classes

BASES = base_models()


def levels(a: float) -> tuple[np.ndarray, np.ndarray]:
    """Targets and noise variances of rows of a class and of all others, as in the issue."""
    alpha = np.array([1 + a, a])
    s2 = np.log(1 + 1 / alpha)
    return np.log(alpha) - s2 / 2, s2


def covariance(model: Any, X: np.ndarray) -> np.ndarray:
    if isinstance(model, fp.GaussianProcess):
        return np.asarray(model.kernel(X))
    A = model.whitened_features(X)
    return np.asarray(A @ A.T)


def naive_value(model: Any, parties: list[fp.Party], k: int, a: float = 0.01) -> float:
    """Sum over classes of 1/2 log|I + D^-1/2 K D^-1/2|."""
    if not parties:
        return 0.0
    X = np.concatenate([party.X for party in parties])
    y = np.concatenate([party.y for party in parties])
    _, s2 = levels(a)
    K = covariance(model, X)
    value = 0.0
    for c in range(k):
        root = 1 / np.sqrt(np.where(y == c, s2[0], s2[1]))
        value += 0.5 * np.linalg.slogdet(np.eye(len(y)) + root[:, None] * K * root)[1]
    return float(value)


def naive_value_of_class(model: Any, parties: list[fp.Party], c: int) -> float:
    """The part of one class, by the model of its own."""
    if not parties:
        return 0.0
    X = np.concatenate([party.X for party in parties])
    y = np.concatenate([party.y for party in parties])
    _, s2 = levels(0.01)
    root = 1 / np.sqrt(np.where(y == c, s2[0], s2[1]))
    K = covariance(model, X)
    return float(0.5 * np.linalg.slogdet(np.eye(len(y)) + root[:, None] * K * root)[1])


@pytest.mark.parametrize("k", [2, 3])
def test_values_are_log_determinants_per_class_and_coalition(base: Any, k: int) -> None:
    parties = parties_of_classes(k, (14, 9, 11))
    values = fp.InformationGain(fp.Classifier(base, k), parties).values()
    for mask in range(8):
        expected = naive_value(base, [parties[i] for i in members(mask)], k)
        assert values[mask] == pytest.approx(expected, abs=1e-9)


def test_formula_of_gram_matrices_by_class() -> None:
    base = base_models()["blr"]
    (party,) = parties_of_classes(3, (30,))
    _, s2 = levels(0.05)
    A = base.whitened_features(party.X)
    value = 0.0
    for c in range(3):
        inside = A[party.y == c].T @ A[party.y == c]
        B = np.eye(3) + inside / s2[0] + (A.T @ A - inside) / s2[1]
        value += 0.5 * np.linalg.slogdet(B)[1]
    model = fp.Classifier(base, 3, concentration=0.05)
    assert fp.InformationGain(model, [party]).total == pytest.approx(value, abs=1e-9)


def test_summaries_are_as_good_as_rows_and_mix_with_them(weight_base: Any) -> None:
    parties = parties_of_classes(3, (40, 25, 31))
    model = fp.Classifier(weight_base, 3)
    rows = fp.InformationGain(model, parties)
    mixed = fp.InformationGain(model, [model.summarise(parties[0]), *parties[1:]])
    summed = fp.InformationGain(model, [model.summarise(party) for party in parties])
    Z = np.random.default_rng(1).normal(size=(7, 2))
    for game in (mixed, summed):
        assert game.values() == pytest.approx(rows.values(), abs=1e-9)
        for coalition in ([0], [0, 2], [0, 1, 2]):
            p, variance = game.posterior(coalition).predict(Z)
            expected = rows.posterior(coalition).predict(Z)
            assert p == pytest.approx(expected[0], abs=1e-9)
            assert variance == pytest.approx(expected[1], abs=1e-9)
        tau = np.linspace(0, 1, 5)
        for i in range(3):
            ours = [game.reward_curve(i).value(t) for t in tau]
            theirs = [rows.reward_curve(i).value(t) for t in tau]
            assert ours == pytest.approx(theirs, abs=1e-9)


def one_prior_each(base: Any, k: int) -> fp.Classifier:
    """Of a sparse process or a regression, with priors that differ much."""
    models = []
    for c in range(k):
        if isinstance(base, fp.SparseGaussianProcess):
            models.append(replace(base, kernel=ConstantKernel(2.0 + c) * RBF(0.8 + 0.4 * c)))
        else:
            models.append(replace(base, prior_variance=0.5 + c))
    return fp.Classifier(models, k)


def test_summaries_with_a_prior_for_each_class_are_as_good_as_rows(weight_base: Any) -> None:
    parties = parties_of_classes(3, (40, 25, 31))
    model = one_prior_each(weight_base, 3)
    rows = fp.InformationGain(model, parties)
    for mask in range(8):
        some = [parties[i] for i in members(mask)]
        expected = sum(naive_value_of_class(one, some, c) for c, one in enumerate(model.of_classes))
        assert rows.values()[mask] == pytest.approx(expected, abs=1e-9)
    mixed = fp.InformationGain(model, [model.summarise(parties[0]), *parties[1:]])
    summed = fp.InformationGain(model, [model.summarise(party) for party in parties])
    Z = np.random.default_rng(1).normal(size=(7, 2))
    for game in (mixed, summed):
        assert game.values() == pytest.approx(rows.values(), abs=1e-9)
        p, variance = game.posterior([0, 2]).predict(Z)
        expected = rows.posterior([0, 2]).predict(Z)
        assert p == pytest.approx(expected[0], abs=1e-9)
        assert variance == pytest.approx(expected[1], abs=1e-9)
        due = game.alone + 0.4 * (game.total - game.alone)
        for reward, value in zip(fp.realise(game, due), due, strict=True):
            assert reward.posterior.worth == pytest.approx(value, rel=1e-9)
    judged = fp.EvidenceGain(model, [model.summarise(party) for party in parties]).values()
    assert judged == pytest.approx(fp.EvidenceGain(model, parties).values(), abs=1e-8)


def test_invented_sums_with_a_prior_for_each_class_are_refused() -> None:
    model = one_prior_each(base_models()["sparse_gp"], 2)
    (party,) = parties_of_classes(2, (30,))
    summary = model.summarise(party)
    grams = summary.grams.copy()
    grams[1, 1] *= 100
    with pytest.raises(DataError, match="trace of gram"):
        fp.InformationGain(model, [replace(summary, grams=grams)])
    with pytest.raises(DataError, match="do not fit"):
        replace(summary, grams=summary.grams[:, 0])
    shared = fp.Classifier(base_models()["sparse_gp"], 2)
    with pytest.raises(DataError, match="was made with another model"):
        fp.InformationGain(shared, [summary])
    with pytest.raises(DataError, match="was made with another model"):
        summary + shared.summarise(party)
    small = fp.SparseGaussianProcess(KERNEL, 1.0, np.zeros((1, 2)))
    uneven = fp.Classifier([base_models()["sparse_gp"], small], 2)
    with pytest.raises(DataError, match="different numbers of weights"):
        uneven.summarise(party)


def test_batches_of_one_party_add_up(weight_base: Any) -> None:
    (party,) = parties_of_classes(3, (50,))
    first = fp.Party(party.name, party.X[:20], party.y[:20])
    second = fp.Party(party.name, party.X[20:], party.y[20:])
    for model in (fp.Classifier(weight_base, 3), one_prior_each(weight_base, 3)):
        added = model.summarise(first) + model.summarise(second)
        whole = model.summarise(party)
        assert added.grams == pytest.approx(whole.grams, abs=1e-9)
        assert added.sums == pytest.approx(whole.sums, abs=1e-9)
        assert added.counts.tolist() == whole.counts.tolist()


@given(
    st.integers(2, 4),
    st.lists(st.integers(0, 12), min_size=3, max_size=4),
    st.sampled_from(["gp", "sparse_gp", "blr"]),
    st.booleans(),
)
def test_values_are_monotone_and_submodular(
    k: int, sizes: list[int], kind: str, label_blind: bool
) -> None:
    parties = parties_of_classes(k, tuple(sizes), seed=sum(sizes))
    model = fp.Classifier(BASES[kind], k, label_blind=label_blind)
    v = fp.InformationGain(model, parties).values()
    n = len(sizes)
    for i in range(n):
        without = [mask for mask in range(1 << n) if not mask >> i & 1]
        for mask in without:
            assert v[mask | 1 << i] >= v[mask] - 1e-9
        for small, large in combinations(without, 2):
            if small & large == small:
                gain = v[large | 1 << i] - v[large]
                assert gain <= v[small | 1 << i] - v[small] + 1e-9


def test_label_blind_values_do_not_see_labels(base: Any) -> None:
    parties = parties_of_classes(3, (14, 9))
    others = [fp.Party(party.name, party.X, (party.y + 1) % 3) for party in parties]
    mixed = [fp.Party(parties[0].name, parties[0].X, parties[0].y * 0), others[1]]
    blind = fp.Classifier(base, 3, label_blind=True)
    values = fp.InformationGain(blind, parties).values()
    assert fp.InformationGain(blind, mixed).values() == pytest.approx(values, abs=1e-12)
    seeing = fp.Classifier(base, 3)
    assert not np.allclose(
        fp.InformationGain(seeing, mixed).values(), fp.InformationGain(seeing, parties).values()
    )


def test_kernel_for_every_class() -> None:
    parties = parties_of_classes(2, (12, 10))
    models = [fp.GaussianProcess(KERNEL, 1.0), fp.GaussianProcess(0.5 * KERNEL, 1.0)]
    one_each = fp.InformationGain(fp.Classifier(models, 2), parties)
    _, s2 = levels(0.01)
    X = np.concatenate([party.X for party in parties])
    y = np.concatenate([party.y for party in parties])
    total = 0.0
    for c, model in enumerate(models):
        root = 1 / np.sqrt(np.where(y == c, s2[0], s2[1]))
        B = np.eye(len(y)) + root[:, None] * model.kernel(X) * root
        total += 0.5 * np.linalg.slogdet(B)[1]
    assert one_each.total == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("k", [2, 20])
def test_parties_of_one_class_and_a_class_that_only_one_party_has(base: Any, k: int) -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    parties = [
        fp.Party("one class", X[:10], np.zeros(10)),
        fp.Party("alone with its own", X[10:25], np.r_[np.full(10, k - 1.0), np.zeros(5)]),
        fp.Party("nothing", np.empty((0, 2)), np.empty(0)),
    ]
    game = fp.InformationGain(fp.Classifier(base, k), parties)
    for coalition in chain.from_iterable(combinations(range(3), size) for size in range(4)):
        expected = naive_value(base, [parties[i] for i in coalition], k)
        assert game.value(coalition) == pytest.approx(expected, abs=1e-9)


def test_what_is_refused() -> None:
    base = base_models()["blr"]
    model = fp.Classifier(base, 2)
    X = np.zeros((2, 2))
    with pytest.raises(DataError, match=r'"a", row 1 .*: the label 2 is no class; .* 0 to 1'):
        fp.InformationGain(model, [fp.Party("a", X, [0, 2])])
    with pytest.raises(DataError, match="noise follows from classes"):
        fp.InformationGain(model, [fp.Party("a", X, [0, 1], noise_variance=0.1)])
    with pytest.raises(DataError, match="its sums are not of classes"):
        fp.InformationGain(model, [base.summarise(fp.Party("a", X, [0, 1]))])
    of_three = fp.Classifier(base, 3).summarise(fp.Party("a", X, [0, 1]))
    with pytest.raises(DataError, match="its summary is of 3 classes, the model has 2"):
        fp.InformationGain(model, [of_three])
    with pytest.raises(DataError, match="is one of classes; use it with a Classifier"):
        fp.InformationGain(base, [model.summarise(fp.Party("a", X, [0, 1]))]).total  # noqa: B018
    with pytest.raises(DataError, match="there are 3 models for 2 classes"):
        fp.Classifier([base] * 3, 2)
    with pytest.raises(DataError, match="is not a model of numbers"):
        fp.Classifier(model, 2)
    biased = fp.BayesianLinearRegression(1.0, prior_mean=1.0)
    with pytest.raises(DataError, match="prior mean"):
        fp.InformationGain(fp.Classifier(biased, 2), [fp.Party("a", X, [0, 1])])
    with pytest.raises(DataError, match="sums over rows are for models with weights"):
        fp.Classifier(base_models()["gp"], 2).summarise(fp.Party("a", X, [0, 1]))


def test_invented_sums_are_refused() -> None:
    model = fp.Classifier(base_models()["sparse_gp"], 2)
    summary = model.summarise(parties_of_classes(2, (30,))[0])
    with pytest.raises(DataError, match="trace of gram"):
        fp.InformationGain(model, [replace(summary, grams=100 * summary.grams)])
    with pytest.raises(DataError, match="no numbers of rows"):
        replace(summary, counts=summary.counts + 0.5)
