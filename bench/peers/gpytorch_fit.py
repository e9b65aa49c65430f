"""GPyTorch's best for this task.

It is exact Cholesky in float64, and SciPy's L-BFGS-B in the parameters' logarithms.

(torch.optim.LBFGS with a strong Wolfe line search, in the same logarithms, takes as many
evaluations; switching all fast computations off instead of raising the size up to which Cholesky is
used takes longer.)
"""

import gpytorch
import numpy as np
import torch
from gpytorch.constraints import Positive
from scipy.optimize import minimize


def _positive() -> Positive:
    return Positive(transform=torch.exp, inv_transform=torch.log)


class _Model(gpytorch.models.ExactGP):
    def __init__(
        self, X: torch.Tensor, y: torch.Tensor, likelihood: gpytorch.likelihoods.GaussianLikelihood
    ) -> None:
        super().__init__(X, y, likelihood)
        self.mean_module = gpytorch.means.ZeroMean()
        rbf = gpytorch.kernels.RBFKernel(
            ard_num_dims=X.shape[1], lengthscale_constraint=_positive()
        )
        self.covar_module = gpytorch.kernels.ScaleKernel(rbf, outputscale_constraint=_positive())

    def forward(self, X: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        """The prior at X."""
        return gpytorch.distributions.MultivariateNormal(self.mean_module(X), self.covar_module(X))


def fit(
    X: np.ndarray, y: np.ndarray, start: np.ndarray, bounds: tuple[float, float]
) -> tuple[np.ndarray, int]:
    """Amplitude, length scales and noise variance [p + 2], and how many evaluations it took.

    Args:
        X: Inputs [m, p].
        y: Labels [m].
        start: Where the search begins [p + 2].
        bounds: Of every parameter.
    """
    torch.set_num_threads(1)
    X_, y_ = torch.tensor(X), torch.tensor(y)
    likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=_positive()).double()
    model = _Model(X_, y_, likelihood).double()
    model.train()
    likelihood.train()
    mll = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    rbf, noise = model.covar_module.base_kernel, likelihood.noise_covar
    parameters = [model.covar_module.raw_outputscale, rbf.raw_lengthscale, noise.raw_noise]

    def minus_likelihood(theta: np.ndarray) -> tuple[float, np.ndarray]:
        parts = np.split(theta, [1, len(theta) - 1])
        for parameter, part in zip(parameters, parts, strict=True):
            parameter.data = torch.tensor(part).reshape(parameter.shape)
            parameter.grad = None
        loss = -mll(model(X_), y_) * len(y)  # it divides by the number of rows
        loss.backward()
        return loss.item(), np.concatenate(
            [parameter.grad.numpy().ravel() for parameter in parameters]
        )

    with (
        gpytorch.settings.max_cholesky_size(100_000),
        gpytorch.settings.debug(False),
    ):
        limits = [np.log(bounds)] * len(start)
        found = minimize(
            minus_likelihood, np.log(start), jac=True, method="L-BFGS-B", bounds=limits
        )
    return np.exp(found.x), found.nfev
