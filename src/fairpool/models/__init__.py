"""What theta is, and what a posterior predicts.

| model | theta | information gain is computed in |
|---|---|---|
| `GaussianProcess` | a function f | kernel space: one row and column per data point |
| `SparseGaussianProcess` | f at inducing points (DTC) | weight space: one per inducing point |
| `FourierGaussianProcess` | weights of fixed waves | weight space: one per wave |
| `BayesianLinearRegression` | weights on any features | weight space: one per feature |
| `Classifier` of any of them | that for every class | as many such spaces as classes |
"""

from fairpool.models.blr import BayesianLinearRegression
from fairpool.models.class_posterior import ClassPosterior
from fairpool.models.classifier import Classifier
from fairpool.models.features import NetworkFeatures
from fairpool.models.fourier import FourierGaussianProcess, fourier_frequencies
from fairpool.models.gp import GaussianProcess
from fairpool.models.inducing import inducing_points
from fairpool.models.metrics import log_normal_density, mnlp
from fairpool.models.model import Model
from fairpool.models.posteriors import KernelPosterior, Posterior, TrainedPosterior, WeightPosterior
from fairpool.models.sparse_gp import SparseGaussianProcess
from fairpool.models.weight_model import WeightModel
from fairpool.models.within_bounds import WithinBounds

__all__ = [
    "BayesianLinearRegression",
    "ClassPosterior",
    "Classifier",
    "FourierGaussianProcess",
    "GaussianProcess",
    "KernelPosterior",
    "Model",
    "NetworkFeatures",
    "Posterior",
    "SparseGaussianProcess",
    "TrainedPosterior",
    "WeightModel",
    "WeightPosterior",
    "WithinBounds",
    "fourier_frequencies",
    "inducing_points",
    "log_normal_density",
    "mnlp",
]
