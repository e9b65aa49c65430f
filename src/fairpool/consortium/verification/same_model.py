"""Whether two models are the same before they have seen any data."""

import numpy as np

from fairpool.consortium.verification.finding import is_close
from fairpool.models import Classifier, WeightModel

RELATIVE = 1e-9
ABSOLUTE = 1e-12
"""What two ways to compute the same feature may differ by."""


def is_same_model(
    one: WeightModel | Classifier, other: WeightModel | Classifier, inputs: int
) -> bool:
    """Whether features, prior and noise variance are the same.

    Args:
        one: A model.
        other: Another, of as many inputs.
        inputs: Their number p.
    """
    if not is_close(one.noise_variance, other.noise_variance):
        return False
    probe, expected = one.probe(inputs), other.probe(inputs)
    return probe.shape == expected.shape and bool(
        np.allclose(probe, expected, rtol=RELATIVE, atol=ABSOLUTE)
    )
