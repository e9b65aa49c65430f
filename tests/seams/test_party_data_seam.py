"""Party data: parties known by rows and by sums in one game, and how to add another way."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from tests.support import oracles
from tests.support.examples import MODELS, P, make_parties

WEIGHTS = [name for name, model in MODELS.items() if hasattr(model, "summarise")]
X_STAR = np.random.default_rng(3).standard_normal((7, P))


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("summarised", [(0,), (1, 2), (0, 1, 2, 3)])
def test_rows_and_summaries_mix_in_one_game(name, summarised):
    """Values, posteriors and noise levels are the same however a party is known."""
    model = MODELS[name]
    parties = make_parties([12, 0, 9, 15], 2)
    mixed = [model.summarise(p) if i in summarised else p for i, p in enumerate(parties)]
    by_rows, game = fp.InformationGain(model, parties), fp.InformationGain(model, mixed)
    np.testing.assert_allclose(game.values(), oracles.values(model, parties), rtol=1e-9, atol=1e-9)
    for coalition in ((), (0, 2), (0, 1, 2, 3)):
        np.testing.assert_allclose(
            game.posterior(coalition).predict(X_STAR),
            by_rows.posterior(coalition).predict(X_STAR),
            rtol=1e-7,
            atol=1e-9,
        )
    rewards = (game.alone + game.total) / 2
    for one, other in zip(
        fp.noise_levels(game, rewards), fp.noise_levels(by_rows, rewards), strict=True
    ):
        assert one.eta == pytest.approx(other.eta, rel=1e-6)


@pytest.mark.parametrize("noise", [0.4, None])
def test_a_mixed_game_releases_what_a_dense_computation_gives(noise):
    """Over many draws, a reward's mean and spread are those of noise on the labels themselves."""
    model = MODELS["blr"]
    rng = np.random.default_rng(1)
    parties = make_parties([20, 25, 22], 4)
    first = parties[0]
    per_row = rng.uniform(0.2, 1, len(first)) if noise is None else noise
    parties[0] = fp.Party(first.name, first.X, first.y, noise_variance=per_row)
    by_rows = fp.InformationGain(model, parties)
    mixed = fp.InformationGain(model, [parties[0], model.summarise(parties[1]), parties[2]])
    rewards = (by_rows.alone + by_rows.total) / 2
    draws = 4000
    for a, b in zip(
        fp.realise(by_rows, rewards, 1, draws=draws),
        fp.realise(mixed, rewards, 2, draws=draws),
        strict=True,
    ):
        mean_a, variance_a = a.predict(X_STAR)
        mean_b, variance_b = b.predict(X_STAR)
        np.testing.assert_allclose(variance_a, variance_b, rtol=1e-8)
        spread = mean_a.std(axis=1)
        difference = np.abs(mean_a.mean(axis=1) - mean_b.mean(axis=1))
        assert (difference < 5 * spread * np.sqrt(2 / draws)).all()
        np.testing.assert_allclose(mean_b.std(axis=1), spread, rtol=0.1)


def test_a_reward_of_a_mixed_game_is_saved_and_named_by_the_columns_of_those_with_rows(tmp_path):
    import pyarrow as pa

    model = fp.BayesianLinearRegression(0.5)
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.standard_normal(12), "b": rng.standard_normal(12)})
    north = fp.Party("north", table, rng.standard_normal(12))
    south = model.summarise(fp.Party("south", rng.standard_normal((15, 2)), np.ones(15)))
    result = fp.collaborate([north, south], model, rho="rational")
    assert result.residuals is not None
    assert np.isfinite(result.residuals[0])
    assert np.isnan(result.residuals[1])  # its labels cannot be looked at
    result.models[0].save(tmp_path / "reward.safetensors")
    loaded = fp.load_reward(tmp_path / "reward.safetensors")
    assert loaded.posterior.columns == ("a", "b")


def test_features_of_rows_are_not_kept():
    """They may take much more memory than the rows; what is kept are sums over them."""
    rng = np.random.default_rng(0)
    U = rng.standard_normal((60, P))
    model = fp.SparseGaussianProcess(RBF(), 0.1, U)
    parties = [fp.Party(f"p{i}", rng.standard_normal((2000, P)), np.ones(2000)) for i in range(2)]
    result = fp.collaborate(parties, model, rho="stable", rng=0)
    rows = 2 * 2000 * (P + 1) * 8
    features = 2 * 2000 * len(U) * 8
    assert len(pickle.dumps(result)) < rows + features / 2


@dataclass(frozen=True, eq=False)
class SealedParty:
    """A toy: a party that keeps its rows to itself, and answers what it is asked."""

    party: fp.Party
    columns = None

    @property
    def name(self):
        return self.party.name

    @property
    def inputs(self):
        return self.party.inputs

    @property
    def shown_rows(self):
        return fp.Party(self.name, self.party.X[:0], self.party.y[:0])

    @property
    def label_draws(self):
        return len(self.party)

    def __len__(self):
        return len(self.party)

    def refuse_other_model(self, model):
        """It suits any."""

    def statistics(self, model):
        return self.party.statistics(model)


def test_a_new_way_to_take_part_needs_nothing_but_its_class():
    model, parties = MODELS["sparse"], make_parties([12, 9], 5)
    sealed = [SealedParty(parties[0]), parties[1]]
    open_handed = fp.collaborate(parties, model, rho="stable", rng=3)
    with_seal = fp.collaborate(sealed, model, rho="stable", rng=3)
    np.testing.assert_allclose(with_seal.rewards, open_handed.rewards, rtol=1e-12)
    for one, other in zip(with_seal.models, open_handed.models, strict=True):
        np.testing.assert_allclose(one.predict(X_STAR), other.predict(X_STAR), rtol=1e-9)
    assert np.isnan(with_seal.residuals[0])
