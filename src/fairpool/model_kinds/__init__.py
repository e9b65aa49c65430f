"""The kinds of models that a consortium can choose from, one file each.

| kind | model | reward files hold |
|---|---|---|
| `gp` | `GaussianProcess` | everybody's rows |
| `sparse_gp` | `SparseGaussianProcess` | sums over rows, at inducing points |
| `fourier` | `FourierGaussianProcess` | sums over rows, at waves that follow from the kernel |
| `blr` | `BayesianLinearRegression` | sums over rows |
| `network` | `BayesianLinearRegression` on `NetworkFeatures` | sums over rows, and a network |
"""

from typing import Any

from fairpool.errors import RewardFileError, shown
from fairpool.model_kinds.blr import LinearKind
from fairpool.model_kinds.classes import STORED_AS as CLASSIFIER
from fairpool.model_kinds.classes import decode_classes, encode_classes
from fairpool.model_kinds.fourier import FourierKind
from fairpool.model_kinds.gp import GaussianProcessKind
from fairpool.model_kinds.kind import Disclosure, LearningData, ModelKind, Stored
from fairpool.model_kinds.network import NetworkKind
from fairpool.model_kinds.sparse_gp import SparseGaussianProcessKind
from fairpool.models import ClassPosterior, Model, TrainedPosterior

KINDS: dict[str, ModelKind] = {
    "gp": GaussianProcessKind(),
    "sparse_gp": SparseGaussianProcessKind(),
    "fourier": FourierKind(),
    "blr": LinearKind(),
    "network": NetworkKind(),
}

__all__ = [
    "KINDS",
    "Disclosure",
    "LearningData",
    "ModelKind",
    "Stored",
    "decode_posterior",
    "encode_posterior",
    "kind_in_file",
    "kind_of",
]


def encode_posterior(posterior: Any) -> Stored:
    """A trained model for a file: by its kind, or as a classifier made of such."""
    if isinstance(posterior, ClassPosterior):
        return encode_classes(posterior, kind_of)
    return kind_of(posterior.model).encode(posterior)


def decode_posterior(stored: Stored) -> TrainedPosterior:
    """What `encode_posterior` stored, with everything checked."""
    if stored.description["kind"] == CLASSIFIER:
        return decode_classes(stored, kind_in_file)
    return kind_in_file(stored.description).decode(stored)


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
