"""Plans and contributions for tests: three parties who send sums."""

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from fairpool import Classifier, SparseGaussianProcess
from fairpool.columns import CategoryColumn, NumberColumn
from fairpool.encoding import TableEncoding
from fairpool.exchange.contribution_file import ContributionFile, Manifest, class_counts
from fairpool.exchange.plan import Plan, PlannedParty, SignedPlan, Terms
from fairpool.signatures import SigningKey
from fairpool.targets import ClassTarget, NumberTarget

NAMES = ("North", "South", "West")
OPERATOR = SigningKey(bytes(range(32)))
KEYS = {name: SigningKey(bytes([number] * 32)) for number, name in enumerate(NAMES, 1)}
LEVELS = ("red", "green", "blue")


def a_plan(*, classes: bool = False, weights: int = 4, **changes) -> Plan:
    """A plan of three parties, two numbers, a category, and so many inducing points."""
    columns = (
        NumberColumn("a", 1.0, 2.0),
        NumberColumn("b", 0.0, 1.0),
        CategoryColumn("c", ("x", "y")),
    )
    target = ClassTarget(name="y", levels=LEVELS) if classes else NumberTarget("y", 10.0, 5.0)
    encoding = TableEncoding(columns, target)
    points = np.random.default_rng(1).normal(size=(weights, len(encoding.features)))
    model = SparseGaussianProcess(1.5 * RBF(1.0), 0.3, points)
    settings = {
        "name": "Trial",
        "made": "2020-01-01T00:00:00Z",
        "parties": tuple(PlannedParty(id=n, name=n, key=KEYS[n].public) for n in NAMES),
        "encoding": encoding,
        "model": target.classifier(model) if classes else model,
        "origin": "declared ranges",
        "learned_from_sums": False,
        "label_bound": 3.0,
        "feature_bound": 1.5,
        "terms": Terms(
            rho="stable",
            contributions="shapley",
            mechanism="label_noise",
            covariance="hidden",
            colluding=None,
            share_inputs=False,
            share_labels=False,
        ),
        "sections": {"model": "00"},
        "discloses": ("The operator sees sums over your rows.",),
    }
    return Plan(**(settings | changes))


def signed_plan(plan: Plan, key: SigningKey = OPERATOR) -> SignedPlan:
    """The plan, as it is read from its file."""
    return SignedPlan.of_content(plan.signed(key).content, "plan.json")


def some_rows(plan: Plan, *, rows: int = 100, seed: int = 0):
    """Inputs and labels that suit a plan."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, plan.inputs))
    if isinstance(plan.model, Classifier):
        return X, rng.integers(0, len(LEVELS), rows).astype(float)
    y = X @ np.arange(plan.inputs) + rng.normal(size=rows)
    return X, np.clip(y, -plan.label_bound, plan.label_bound)


def a_contribution(
    plan: SignedPlan,
    *,
    party: str = "North",
    rows: int = 100,
    seed: int = 0,
    key: SigningKey | None = None,
    arrays=None,
    **changes,
) -> ContributionFile:
    """A party's contribution: sums over some rows."""  # fmt: skip
    X, y = some_rows(plan.plan, rows=rows, seed=seed)
    sums = {n: np.asarray(a, float) for n, a in plan.plan.model.moments(X, y)._asdict().items()}
    sums |= arrays or {}
    said = {
        "operator": plan.operator,
        "plan": plan.digest,
        "features": plan.plan.features_digest,
        "party": party,
        "made": "2020-01-02T00:00:00Z",
        "nonce": f"{seed:032x}",
        "rows": rows,
        "left_out": 0,
    }
    if "counts" not in changes:
        said["counts"] = class_counts(plan.plan, sums)
    return ContributionFile.made(key or KEYS[party], Manifest(**(said | changes)), sums)
