"""Reward files of somebody else: looked at quickly, and nothing unexpected is predicted."""

import re
from dataclasses import replace

import numpy as np
import pytest

import fairpool as fp
from fairpool.columns import NumberColumn
from fairpool.consortium.prediction import describe_reward, predict_file
from fairpool.encoding import TableEncoding
from fairpool.errors import DataError, RewardFileError
from fairpool.models import KernelPosterior
from fairpool.realisation.reward_file import reward_bytes
from fairpool.targets import NumberTarget
from tests.support.examples import MODELS, P, make_parties
from tests.support.projects import fairpool

X_STAR = np.random.default_rng(9).standard_normal((6, P))


def reward_of(name):
    game = fp.InformationGain(MODELS[name], make_parties((12, 9), 1))
    return fp.realise(game, [game.total] * 2)[0]


def with_encoding(reward, *, mean=0.0, scale=1.0, target_mean=0.0, target_scale=1.0):
    """The reward for a table of columns x0, x1, ..., of which the first is scaled so."""
    columns = [NumberColumn(f"x{k}", 0.0, 1.0) for k in range(1, P)]
    encoding = TableEncoding(
        columns=(NumberColumn("x0", mean, scale), *columns),
        target=NumberTarget("y", mean=target_mean, scale=target_scale),
    )
    return replace(reward, encoding=encoding)


def saved(reward, folder):
    """The reward's file, and a table to predict."""
    file = folder / "reward.safetensors"
    file.write_bytes(reward_bytes(reward, share_inputs=True))
    data = folder / "data.csv"
    lines = [",".join(f"x{k}" for k in range(P)), *(",".join(map(str, row)) for row in X_STAR)]
    data.write_text("\n".join(lines) + "\n")
    return file, data


@pytest.mark.parametrize(
    ("entries", "what"),
    [
        ({"scale": 1e308}, "scale 1e+308 is outside"),
        ({"mean": -1e308}, "mean -1e+308 is outside -1e+100 .. 1e+100"),
        ({"target_scale": 1e308}, "scale 1e+308 is outside"),
        ({"target_mean": 1e308}, "mean 1e+308 is outside"),
    ],
)
def test_a_scale_that_overflows_is_refused(tmp_path, entries, what):
    """It was an unexpected error."""
    file, data = saved(with_encoding(reward_of("blr"), **entries), tmp_path)
    with pytest.raises(RewardFileError, match=re.escape(what)):
        fp.load_reward(file)
    for command in (("inspect", file), ("predict", file, "--data", data)):
        done = fairpool(*command)
        assert done.returncode == 2
        assert what in done.stderr
        assert "Warning" not in done.stderr


def test_predictions_that_overflow_are_refused(tmp_path):
    """They were printed as inf and nan, or an unexpected error of JSON."""
    file, data = saved(with_encoding(reward_of("blr"), scale=1e-300), tmp_path)
    for option in ((), ("--json",)):
        done = fairpool("predict", file, "--data", data, *option)
        assert done.returncode == 2
        said = done.stdout if option else done.stderr
        assert f"{data}, line 2: its prediction is not a finite number; look for a value" in said
        assert "Warning" not in done.stderr
    with pytest.raises(DataError, match="not a finite number"):
        predict_file(file, data)


def test_looking_at_an_exact_process_does_not_factorise_it():
    """A file of 282 KiB took `inspect` 32 s and 2.4 GiB: the square of its 12,000 rows."""
    reward = reward_of("gp")
    rows = 200_000  # of which a covariance would take 298 GiB
    X = np.zeros((rows, P))
    posterior = replace(reward.posterior, X=X, scale=np.ones(rows), alpha=np.zeros(rows))
    content = reward_bytes(replace(reward, posterior=posterior), share_inputs=True)
    assert describe_reward(content, "a file")["model"] == "exact Gaussian process"


def test_predicting_with_too_many_rows_is_refused(tmp_path):
    reward = with_encoding(reward_of("gp"))
    rows = 200_000
    posterior = replace(
        reward.posterior, X=np.zeros((rows, P)), scale=np.ones(rows), alpha=np.zeros(rows)
    )
    file, data = saved(replace(reward, posterior=posterior), tmp_path)
    done = fairpool("predict", file, "--data", data)
    assert done.returncode == 2
    assert re.search(
        "predicting with an exact Gaussian process of 200000 rows needs about 1.49e.03 GiB of"
        " memory, and there are .* use a machine that has more, or ask for a sparse model",
        done.stderr,
    )


def test_a_factor_is_computed_at_the_first_prediction_and_then_kept(tmp_path):
    reward = reward_of("gp")
    file, _ = saved(reward, tmp_path)
    loaded = fp.load_reward(file)
    posterior = loaded.posterior
    assert isinstance(posterior, KernelPosterior)
    assert posterior.kept_factor is None
    assert "_late_factor" not in vars(posterior)
    np.testing.assert_allclose(loaded.predict(X_STAR), reward.predict(X_STAR), rtol=1e-12)
    assert posterior.factor is posterior.factor
    np.testing.assert_allclose(posterior.factor, reward.posterior.factor, rtol=1e-12, atol=1e-12)
