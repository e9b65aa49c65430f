"""Bands of sizes."""

import numpy as np
import pytest

from fairpool.contributions.bands import Bands


@pytest.mark.parametrize(
    ("n", "most"), [(4, 40), (5, 40), (43, 40), (44, 40), (100, 40), (1000, 40)]
)
def test_bands_hold_every_size_once(n, most):
    bands = Bands.of(n, most)
    sizes = np.arange(2, n - 1)
    assert bands.widths.sum() == len(sizes)
    assert (bands.widths >= 1).all()
    assert bands.count == len(bands.widths) <= most + 1
    assert (np.bincount(bands.of_sizes(sizes)) == bands.widths).all()
    in_bands = [bands.sizes_in(band) for band in range(bands.count)]
    np.testing.assert_array_equal(np.concatenate(in_bands), sizes)
    np.testing.assert_array_equal([in_band[0] for in_band in in_bands], bands.first_sizes)
