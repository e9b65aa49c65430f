"""kind = "fourier": a Gaussian process by Fourier features, for which no row is needed."""

from typing import Any

from fairpool.encoding import TableEncoding
from fairpool.errors import DataError, KernelError, RewardFileError
from fairpool.keys import Key, least
from fairpool.model_kinds.kernel_codec import decode_kernel, encode_kernel
from fairpool.model_kinds.kernel_expression import parse_kernel
from fairpool.model_kinds.kernels import KERNEL, describe_kernel, with_rounded_kernel
from fairpool.model_kinds.kind import Disclosure, LearningData, Stored
from fairpool.model_kinds.weights import WeightKind, decode_weights, encode_weights
from fairpool.models import FourierGaussianProcess, Model, WeightPosterior, fourier_frequencies
from fairpool.models.fourier import spectral_terms

STORED_AS = "FourierGaussianProcess"

FEATURES = 50
"""How many there are where nobody says."""


class FourierKind(WeightKind):
    """A Gaussian process by Fourier features."""

    name = "fourier"
    title = "Gaussian process by Fourier features"
    keys = {  # noqa: RUF012 -- never changed
        "kernel": KERNEL,
        "features": Key(type=int, default=FEATURES, check=least(2)),
    }
    learning_rows = 4000
    disclosure = Disclosure(
        from_nobody="Apart from its hyperparameters, its features follow from the kernel alone:"
        " nobody's rows were needed for them."
    )

    def weights(self, settings: Any, *, inputs: int, rows: int) -> int:  # noqa: ARG002
        """Two for each frequency, of which every term of the kernel has as many."""
        kernel = parse_kernel(settings.kernel, 1)
        frequencies = fourier_frequencies(kernel, 1, settings.features).shape[1]
        return 2 * len(spectral_terms(kernel)) * int(frequencies)

    def problems(
        self,
        settings: Any,
        encoding: TableEncoding,  # noqa: ARG002 -- any columns will do
        *,
        public: bool,  # noqa: ARG002
    ) -> list[str]:
        """Kernels without a spectral density."""
        try:
            spectral_terms(parse_kernel(settings.kernel, 1))
        except KernelError as error:
            return [f"model, kernel: {error}"]
        return []

    def build(self, settings: Any, data: LearningData) -> FourierGaussianProcess:
        """A process with the kernel that was asked for, and its frequencies."""
        inputs = data.X.shape[1]
        kernel = parse_kernel(settings.kernel, inputs)
        frequencies = fourier_frequencies(kernel, inputs, settings.features)
        return FourierGaussianProcess(kernel, data.noise, frequencies)

    def rounded(self, model: FourierGaussianProcess) -> Model:
        """The process with its hyperparameters to three digits."""
        return with_rounded_kernel(model)

    def describe(
        self,
        model: FourierGaussianProcess,
        settings: Any,  # noqa: ARG002 -- the model says it all
        encoding: TableEncoding,
    ) -> dict[str, str]:
        """Its kernel, and how many features it has."""
        terms = len(spectral_terms(model.kernel))
        frequencies = terms * model.frequencies.shape[1]
        words = f"{2 * frequencies} (waves of {frequencies} frequencies)"
        return describe_kernel(model.kernel, encoding) | {"Fourier features": words}

    def suits(self, model: Model) -> bool:
        """Whether a model is a process by Fourier features."""
        return isinstance(model, FourierGaussianProcess)

    def encode(self, posterior: WeightPosterior) -> Stored:
        """Kernel, frequencies and the posterior on the waves' weights.

        The frequencies themselves, so that whoever computes them otherwise reads the same model.
        """
        model = posterior.model
        assert isinstance(model, FourierGaussianProcess)
        description: dict[str, Any] = {
            "kind": STORED_AS,
            "noise_variance": model.noise_variance,
            "kernel": encode_kernel(model.kernel),
        }
        return encode_weights(posterior, Stored(description, {"frequencies": model.frequencies}))

    def recognises(self, description: dict[str, Any]) -> bool:
        """Whether a file holds such a process."""
        return bool(description["kind"] == STORED_AS)

    def decode(self, stored: Stored) -> WeightPosterior:
        """The process and its posterior."""
        try:
            model = FourierGaussianProcess(
                decode_kernel(stored.description["kernel"]),
                float(stored.description["noise_variance"]),
                stored.tensors["frequencies"],
            )
        except (DataError, KernelError) as error:
            raise RewardFileError(f"its model cannot be used: {error}") from None
        return decode_weights(stored, model)
