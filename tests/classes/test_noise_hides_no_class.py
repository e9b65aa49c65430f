"""What letters say of a row that nothing else is near: noise does not hide its class."""

import numpy as np
import pytest

from fairpool.parties.class_coding import ClassCoding


@pytest.mark.parametrize(("eta", "least"), [(1, 0.99), (10, 0.9), (30, 0.79)])
def test_the_noisy_labels_of_one_row_show_its_class(eta, least):
    """The larger of its two noisy labels is that of its class, most of the time."""
    coding = ClassCoding(classes=2)
    rng = np.random.default_rng(0)
    y = np.zeros(20_000)
    labels = np.column_stack([coding.targets(y, c) for c in range(2)])
    noisy = labels + np.sqrt(eta) * rng.standard_normal(labels.shape)
    shown = float((noisy.argmax(axis=1) == 0).mean())
    assert shown >= least
    if eta == 30:
        assert shown == pytest.approx(0.8, abs=0.01)
