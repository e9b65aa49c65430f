"""kind = "sparse_gp": a Gaussian process through inducing points that are nobody's rows."""

from typing import Any

import numpy as np

from fairpool.encoding import TableEncoding
from fairpool.keys import Key, least
from fairpool.model_kinds.kernel_codec import decode_kernel, encode_kernel
from fairpool.model_kinds.kernel_expression import parse_kernel
from fairpool.model_kinds.kernels import KERNEL, describe_kernel, with_rounded_kernel
from fairpool.model_kinds.kind import Disclosure, LearningData, Stored
from fairpool.model_kinds.weights import WeightKind, decode_weights, encode_weights
from fairpool.models import Model, SparseGaussianProcess, WeightPosterior, inducing_points

STORED_AS = "SparseGaussianProcess"

LEAST_CLUSTER = 5
"""An inducing point is the mean of at least this many rows, so that it shows none of them."""

SEED = 0
"""Of k-means: not secret, since it has nothing to do with the noise on labels."""

INDUCING_POINTS = 50
"""How many there are where nobody says."""


class SparseGaussianProcessKind(WeightKind):
    """A sparse Gaussian process (DTC)."""

    name = "sparse_gp"
    title = "sparse Gaussian process"
    keys = {  # noqa: RUF012 -- never changed
        "kernel": KERNEL,
        "inducing_points": Key(type=int, default=INDUCING_POINTS, check=least(1)),
    }
    learning_rows = 4000
    disclosure = Disclosure(learned=("scaling", "inducing points (means of several rows)"))

    def weights(self, settings: Any, *, inputs: int, rows: int) -> int:  # noqa: ARG002
        """One per inducing point, which is the mean of several rows."""
        return int(min(settings.inducing_points, max(rows // LEAST_CLUSTER, 1)))

    def build(self, settings: Any, data: LearningData) -> SparseGaussianProcess:
        """A process with the kernel that was asked for; its inducing points are cluster centres."""
        rows, features = data.X.shape
        count = self.weights(settings, inputs=features, rows=rows)
        least_rows = min(LEAST_CLUSTER, rows)
        U = inducing_points(data.X, count, rng=SEED, least_rows=least_rows)
        if not data.public:
            U = np.unique(U.round(1), axis=0)
        return SparseGaussianProcess(parse_kernel(settings.kernel, features), data.noise, U)

    def rounded(self, model: SparseGaussianProcess) -> Model:
        """The process with its hyperparameters to three digits."""
        return with_rounded_kernel(model)

    def describe(
        self,
        model: SparseGaussianProcess,
        settings: Any,
        encoding: TableEncoding,
    ) -> dict[str, str]:
        """Its kernel, and how many inducing points it has."""
        count = len(model.inducing_points)
        words = str(count)
        if count < settings.inducing_points:
            words += f" ({settings.inducing_points} asked for; clusters of few rows are left out)"
        return describe_kernel(model.kernel, encoding) | {"inducing points": words}

    def suits(self, model: Model) -> bool:
        """Whether a model is a sparse process."""
        return isinstance(model, SparseGaussianProcess)

    def encode(self, posterior: WeightPosterior) -> Stored:
        """Kernel, inducing points and the posterior at them."""
        model = posterior.model
        assert isinstance(model, SparseGaussianProcess)
        description: dict[str, Any] = {
            "kind": STORED_AS,
            "noise_variance": model.noise_variance,
            "kernel": encode_kernel(model.kernel),
        }
        tensors = {"inducing_points": model.inducing_points}
        return encode_weights(posterior, Stored(description, tensors))

    def recognises(self, description: dict[str, Any]) -> bool:
        """Whether a file holds a sparse process."""
        return bool(description["kind"] == STORED_AS)

    def decode(self, stored: Stored) -> WeightPosterior:
        """The process and its posterior."""
        model = SparseGaussianProcess(
            decode_kernel(stored.description["kernel"]),
            float(stored.description["noise_variance"]),
            stored.tensors["inducing_points"],
        )
        return decode_weights(stored, model)
