"""kind = "sparse_gp": a Gaussian process through inducing points that are nobody's rows."""

from typing import Any

import numpy as np

from fairpool.encoding import TableEncoding
from fairpool.errors import few, shown
from fairpool.keys import Key, least
from fairpool.model_kinds.kernel_codec import decode_kernel, encode_kernel
from fairpool.model_kinds.kernel_expression import parse_kernel
from fairpool.model_kinds.kernels import KERNEL, describe_kernel, with_rounded_kernel
from fairpool.model_kinds.kind import Disclosure, LearningData, Stored
from fairpool.model_kinds.weights import WeightKind, decode_weights, encode_weights
from fairpool.models import Model, SparseGaussianProcess, WeightPosterior, inducing_points
from fairpool.tables.arrays import FloatArray

STORED_AS = "SparseGaussianProcess"

LEAST_CLUSTER = 5
"""An inducing point is the mean of at least this many rows, so that it shows none of them."""

SEED = 0
"""Of k-means: not secret, since it has nothing to do with the noise on labels."""

INDUCING_POINTS = 50
"""How many there are where nobody says."""

CLUSTERS, SPREAD = "clusters", "spread"
"""Where they lie: at means of rows that are close, or evenly over declared ranges and levels."""


def _where(place: str) -> str:
    if place not in (CLUSTERS, SPREAD):
        raise ValueError(f'{shown(place)} is not allowed; give "{CLUSTERS}" or "{SPREAD}"')
    return place


class SparseGaussianProcessKind(WeightKind):
    """A sparse Gaussian process (DTC)."""

    name = "sparse_gp"
    title = "sparse Gaussian process"
    keys = {  # noqa: RUF012 -- never changed
        "kernel": KERNEL,
        "inducing_points": Key(type=int, default=INDUCING_POINTS, check=least(1)),
        "inducing": Key(type=str, default=CLUSTERS, check=_where),
    }
    learning_rows = 4000
    disclosure = Disclosure(learned=("scaling", "inducing points (means of several rows)"))

    def disclosed(self, settings: Any, encoding: TableEncoding) -> Disclosure:
        """Inducing points that are spread were learned from nobody."""
        if not _are_spread(settings, encoding):
            return self.disclosure
        return Disclosure(
            from_nobody="Its inducing points are spread evenly over the declared ranges and levels:"
            " nobody's rows were needed for them."
        )

    def problems(self, settings: Any, encoding: TableEncoding, *, public: bool) -> list[str]:
        """Points cannot be spread over columns of which nobody said what they may be."""
        unknown = encoding.undeclared
        if settings.inducing != SPREAD or public or not unknown:
            return []
        return [
            f'model: inducing = "{SPREAD}" needs a range, or all levels, of every input column, or'
            f" [public] data; these have none: {few([shown(name) for name in unknown])}; give"
            f' range or levels in [columns.NAME], or use inducing = "{CLUSTERS}", which takes'
            " means of rows"
        ]

    def weights(self, settings: Any, *, inputs: int, rows: int) -> int:  # noqa: ARG002
        """One per inducing point: the mean of several rows, or made up."""
        if settings.inducing == SPREAD:
            return int(settings.inducing_points)
        return _clusters(settings, rows)

    def build(self, settings: Any, data: LearningData) -> SparseGaussianProcess:
        """A process with the kernel that was asked for, and its inducing points."""
        kernel = parse_kernel(settings.kernel, data.X.shape[1])
        return SparseGaussianProcess(kernel, data.noise, _points(settings, data))

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
        are_spread = _are_spread(settings, encoding)
        if are_spread:
            words += ", spread over the declared ranges and levels"
        if count < settings.inducing_points:
            why = "equal ones" if are_spread else "clusters of few rows"
            words += f" ({settings.inducing_points} asked for; {why} are left out)"
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


def _are_spread(settings: Any, encoding: TableEncoding) -> bool:
    """Whether inducing points are made up; where columns say too little, public rows are used."""
    return bool(settings.inducing == SPREAD and not encoding.undeclared)


def _clusters(settings: Any, rows: int) -> int:
    """How many clusters there are at most, each of several rows."""
    return int(min(settings.inducing_points, max(rows // LEAST_CLUSTER, 1)))


def _points(settings: Any, data: LearningData) -> FloatArray:
    """Inducing points that are nobody's rows."""
    if _are_spread(settings, data.encoding):
        made_up = data.encoding.made_up(settings.inducing_points)
        assert made_up is not None  # every column is declared
        return np.unique(made_up, axis=0)
    rows = len(data.X)
    least_rows = min(LEAST_CLUSTER, rows)
    U = inducing_points(data.X, _clusters(settings, rows), rng=SEED, least_rows=least_rows)
    if data.public:
        return U
    return np.asarray(np.unique(U.round(1), axis=0))
