"""What a view of a pending value names is part of the structure, extents of the source included."""

from __future__ import annotations

import numpy as np
import pytest

import fusewright as fw

SIZES = (8, 100, 9, 8, 1000, 6, 7)


@pytest.mark.parametrize("part", [slice(2, 5), slice(1, -1), slice(4, None, -1), slice(0, 5, 2)])
def test_sources_of_many_extents(part: slice) -> None:
    for n in SIZES:
        values = np.arange(float(n))
        pending = fw.asarray(values) + 1
        assert float(pending[part].sum()) == (values + 1)[part].sum()
        found = np.asarray((fw.asarray(values) + 1)[part] * 2)
        np.testing.assert_array_equal(found, (values + 1)[part] * 2)


def test_sources_of_two_dims() -> None:
    for rows, columns in ((5, 7), (9, 5), (70, 5), (5, 80), (6, 6)):
        values = np.arange(float(rows * columns)).reshape(rows, columns)
        pending = fw.asarray(values) + 1
        assert float(pending[1:4, 2:5].sum()) == (values + 1)[1:4, 2:5].sum()
        assert float(pending[3].sum()) == (values + 1)[3].sum()
