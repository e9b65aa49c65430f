"""One reward file of every kind, as this version writes it: `python -m tests.support.reward_files`.

From version 2 on, every later fairpool reads every version, so the files in `tests/data/rewards`
are never written again: a new version of the format gets a folder of its own. Tests do not run
this; they open what lies there.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.gaussian_process.kernels import RBF, Matern

import fairpool as fp
from fairpool.columns import CategoryColumn, NumberColumn
from fairpool.encoding import TableEncoding
from fairpool.realisation import update
from fairpool.realisation.reward_file import VERSION, reward_bytes
from fairpool.targets import NumberTarget

FOLDER = Path(__file__).parent.parent / "data" / "rewards"
ENCODING = TableEncoding(
    columns=(
        NumberColumn("age", 50.0, 12.0),
        NumberColumn("dose", 3.0, 1.5),
        CategoryColumn("sex", ("female", "male")),
    ),
    target=NumberTarget("days", mean=20.0, scale=5.0),
)
TABLE = {"age": [31.0, 50.0, 77.5], "dose": [1.0, 3.0, 4.25], "sex": ["male", "female", "male"]}
"""What is predicted."""

INPUTS = len(ENCODING.features)


def parties():
    rng = np.random.default_rng(2020)
    made = []
    for name, size in (("North", 20), ("South", 25)):
        X = np.column_stack([rng.standard_normal((size, 2)), np.eye(2)[rng.integers(0, 2, size)]])
        y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.3 * X[:, 2] + 0.3 * rng.standard_normal(size)
        made.append(fp.Party(name, X, y))
    return made


def network():
    """Features from public data, as a run with [public] has them."""
    rng = np.random.default_rng(11)
    X = rng.standard_normal((100, INPUTS))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1]
    return fp.NetworkFeatures.train(X, y, hidden_layers=(6, 4), rng=0, max_iter=50)


def models():
    U = np.random.default_rng(3).standard_normal((6, INPUTS)).round(1)
    sparse = fp.SparseGaussianProcess(1.2 * RBF(1.5), 0.2, U)
    return {
        "blr": (fp.BayesianLinearRegression(0.3), "hidden"),
        "sparse_gp-hidden": (sparse, "hidden"),
        "sparse_gp-full": (sparse, "full"),
        "network": (fp.BayesianLinearRegression(0.3, features=network()), "hidden"),
        "gp": (
            fp.GaussianProcess(0.8 * RBF([1.0, 2.0, 3.0, 3.0]) + 0.2 * Matern(1.5), 0.2),
            "full",
        ),
    }


def rewards():
    """Every file's reward, by name."""
    made = {}
    for name, (model, covariance) in models().items():
        game = fp.InformationGain(model, parties())
        due = game.alone + 0.5 * (game.total - game.alone)
        reward = fp.realise(game, due, 7, covariance=covariance)[0]
        made[name] = replace(reward, encoding=ENCODING, rho=0.5)
    rng = np.random.default_rng(5)
    more = fp.Party("North", rng.standard_normal((4, INPUTS)), rng.standard_normal(4))
    made["updated"] = update(made["blr"], more, add=True)
    return made


def main():
    """Write files that are not there yet, and what they predict."""
    folder = FOLDER / f"v{VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    expected = {}
    for name, reward in rewards().items():
        path = folder / f"{name}.safetensors"
        if path.exists():
            raise SystemExit(f"{path} is there already, and is to stay as it is")
        # The seed is no secret here: the data are made up.
        path.write_bytes(reward_bytes(reward, share_inputs=True, known_noise=True))
        mean, variance = fp.load_reward(path).predict_table(table())
        expected[name] = {
            "party": reward.party,
            "value": reward.value,
            "target": reward.target,
            "tau": reward.tau,
            "mean": mean.tolist(),
            "variance": variance.tolist(),
        }
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


def table():
    import pyarrow as pa

    return pa.table(TABLE)


if __name__ == "__main__":
    main()
