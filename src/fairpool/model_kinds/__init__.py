"""The kinds of models that a consortium can choose from, one file each.

| kind | model | reward files hold |
|---|---|---|
| `gp` | `GaussianProcess` | everybody's rows |
| `sparse_gp` | `SparseGaussianProcess` | sums over rows, at inducing points |
| `blr` | `BayesianLinearRegression` | sums over rows |
| `network` | `BayesianLinearRegression` on `NetworkFeatures` | sums over rows, and a network |
"""

from typing import Any

from fairpool.errors import RewardFileError, shown
from fairpool.model_kinds.blr import LinearKind
from fairpool.model_kinds.gp import GaussianProcessKind
from fairpool.model_kinds.kind import Disclosure, LearningData, ModelKind, Stored
from fairpool.model_kinds.network import NetworkKind
from fairpool.model_kinds.sparse_gp import SparseGaussianProcessKind
from fairpool.models import Model

KINDS: dict[str, ModelKind] = {
    "gp": GaussianProcessKind(),
    "sparse_gp": SparseGaussianProcessKind(),
    "blr": LinearKind(),
    "network": NetworkKind(),
}

__all__ = [
    "KINDS",
    "Disclosure",
    "LearningData",
    "ModelKind",
    "Stored",
    "kind_in_file",
    "kind_of",
]


def kind_of(model: Model) -> ModelKind:
    """The kind that a model is of; the last one that suits it, so that special ones come later."""
    for kind in reversed(KINDS.values()):
        if kind.suits(model):
            return kind
    raise RewardFileError(f"a model of type {type(model).__name__} cannot be put into a file")


def kind_in_file(description: dict[str, Any]) -> ModelKind:
    """The kind of the model that a file describes, the last that recognises it."""
    for kind in reversed(KINDS.values()):
        if kind.recognises(description):
            return kind
    raise RewardFileError(f"no model of kind {shown(description['kind'])} is known")
