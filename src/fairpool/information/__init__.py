"""How much data tells about theta: the matrices of Eq. (1), and only here."""

from fairpool.information.kernel_space import KernelSpace
from fairpool.information.labelled_kernel import LabelledKernel
from fairpool.information.labelled_space import Explained, LabelledSpace
from fairpool.information.labelled_weights import LabelledWeights
from fairpool.information.reward_curve import (
    DenseCurve,
    PencilCurve,
    RewardCurve,
    SharedSpectrumCurve,
    SpectrumCurve,
)
from fairpool.information.space import Space
from fairpool.information.stacked_labels import StackedLabels
from fairpool.information.stacked_space import StackedCurve, StackedSpace
from fairpool.information.weight_space import WeightSpace

__all__ = [
    "DenseCurve",
    "Explained",
    "KernelSpace",
    "LabelledKernel",
    "LabelledSpace",
    "LabelledWeights",
    "PencilCurve",
    "RewardCurve",
    "SharedSpectrumCurve",
    "Space",
    "SpectrumCurve",
    "StackedCurve",
    "StackedLabels",
    "StackedSpace",
    "WeightSpace",
]
