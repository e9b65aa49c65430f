"""Three hospitals with patients of different ages pool their diabetes data, and each receives a model.

The data ships with scikit-learn: 442 patients, and how far their diabetes had progressed a year later.
"""

import numpy as np
from rich.console import Console
from sklearn.datasets import load_diabetes
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp


def main() -> None:
    table = load_diabetes(scaled=False)
    rng = np.random.default_rng(0)
    train, test = np.split(rng.permutation(len(table.target)), [360])
    X = (table.data - table.data[train].mean(axis=0)) / table.data[train].std(axis=0)
    y = (table.target - table.target[train].mean()) / table.target[train].std()

    age = table.data[:, table.feature_names.index("age")]
    groups = {"Hospital A (under 42)": age < 42, "Hospital B (42 to 56)": (age >= 42) & (age < 56)}
    groups["Hospital C (56 and over)"] = age >= 56
    own = {name: train[group[train]] for name, group in groups.items()}
    parties = [fp.Party(name, X[rows], y[rows]) for name, rows in own.items()]

    model = fp.GaussianProcess(1.0 * RBF(np.full(X.shape[1], 3.0)), noise_variance=0.5)
    model = model.fit_hyperparameters(X[train], y[train])
    result = fp.collaborate(parties, model, rho="stable", rng=None)

    console = Console()
    console.print(result)
    console.print("\nPrediction error on 82 other patients (mean negative log probability, lower is better):")
    for party, reward in zip(parties, result.models, strict=True):
        alone = fp.mnlp(y[test], *model.posterior(party.X, party.y).predict(X[test]))
        rewarded = fp.mnlp(y[test], *reward.predict(X[test]))
        console.print(f"  {party.name:25} alone {alone:.3f}, with its reward {rewarded:.3f}", highlight=False)


if __name__ == "__main__":
    main()
