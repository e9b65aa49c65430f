"""kind = "gp": an exact Gaussian process, whose reward files hold everybody's rows."""

from collections.abc import Sequence
from typing import Any

from fairpool.compute.memory import refuse_beyond_memory
from fairpool.encoding import TableEncoding
from fairpool.errors import RewardFileError
from fairpool.information import KernelSpace
from fairpool.model_kinds.kernel_codec import decode_kernel, encode_kernel
from fairpool.model_kinds.kernel_expression import parse_kernel
from fairpool.model_kinds.kernels import KERNEL, describe_kernel, with_rounded_kernel
from fairpool.model_kinds.kind import Disclosure, LearningData, Stored
from fairpool.models import GaussianProcess, KernelPosterior, Model
from fairpool.models.kernels import check_dimensions
from fairpool.values import EXACT_LIMIT

STORED_AS = "GaussianProcess"


class GaussianProcessKind:
    """An exact Gaussian process."""

    name = "gp"
    title = "exact Gaussian process"
    keys = {"kernel": KERNEL}  # noqa: RUF012 -- never changed
    learning_rows = 1000
    needs_rows = True
    disclosure = Disclosure(holds_rows=True)

    def disclosed(self, settings: Any, encoding: TableEncoding) -> Disclosure:  # noqa: ARG002
        """The same, however it is configured."""
        return self.disclosure

    def problems(
        self,
        settings: Any,  # noqa: ARG002 -- any columns will do
        encoding: TableEncoding,  # noqa: ARG002
        *,
        public: bool,  # noqa: ARG002
    ) -> list[str]:
        """Any columns will do."""
        return []

    def weights(self, settings: Any, *, inputs: int, rows: int) -> int:  # noqa: ARG002
        """It has none."""
        return 0

    def build(self, settings: Any, data: LearningData) -> GaussianProcess:
        """A process with the kernel that was asked for."""
        return GaussianProcess(parse_kernel(settings.kernel, data.X.shape[1]), data.noise)

    def rounded(self, model: GaussianProcess) -> Model:
        """The process with its hyperparameters to three digits."""
        return with_rounded_kernel(model)

    def describe(
        self,
        model: GaussianProcess,
        settings: Any,  # noqa: ARG002 -- the kernel says it all
        encoding: TableEncoding,
    ) -> dict[str, str]:
        """Its kernel."""
        return describe_kernel(model.kernel, encoding)

    def refuse_too_many_rows(self, sizes: Sequence[int], workers: int) -> None:
        """Refuse so many rows where memory would not do."""
        all_values = len(sizes) <= EXACT_LIMIT
        remedy = 'use kind = "sparse_gp"'
        if workers > 1:
            remedy += ", or fewer jobs"
        refuse_beyond_memory(
            KernelSpace.memory(sizes, all_values=all_values, workers=workers),
            f"an exact Gaussian process of {sum(sizes)} rows",
            remedy,
        )

    def suits(self, model: Model) -> bool:
        """Whether a model is an exact process."""
        return isinstance(model, GaussianProcess)

    def encode(self, posterior: KernelPosterior) -> Stored:
        """Kernel, rows and what was learned from them."""
        model = posterior.model
        description: dict[str, Any] = {
            "kind": STORED_AS,
            "noise_variance": model.noise_variance,
            "kernel": encode_kernel(model.kernel),
        }
        # The factor follows from these: storing it would make the file m times larger.
        return Stored(
            description, {"X": posterior.X, "scale": posterior.scale, "alpha": posterior.alpha}
        )

    def recognises(self, description: dict[str, Any]) -> bool:
        """Whether a file holds an exact process."""
        return bool(description["kind"] == STORED_AS)

    def decode(self, stored: Stored) -> KernelPosterior:
        """The process and its rows."""
        noise = float(stored.description["noise_variance"])
        model = GaussianProcess(decode_kernel(stored.description["kernel"]), noise)
        X, scale, alpha = (stored.tensors[name] for name in ("X", "scale", "alpha"))
        fits = X.ndim == 2 and scale.shape == X.shape[:1] and alpha.shape == X.shape[:1]
        if not fits or not (scale >= 0).all():
            raise RewardFileError(
                f"its arrays do not fit: X {X.shape}, scale {scale.shape}, alpha {alpha.shape}"
            )
        check_dimensions(model.kernel, X.shape[1])
        # Whoever only looks at a file need not wait for a factor, nor have the memory for it.
        return KernelPosterior(
            model=model,
            X=X,
            scale=scale,
            alpha=alpha,
            kept_factor=None,
            keeps_late_factor=True,
        )
