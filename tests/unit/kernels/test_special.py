"""`fusewright.numpy.special` in kernels: what plain Python computes with the same function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.unit.kernels import special_kernels

from fusewright.kernels.kernel import Kernel

X = np.linspace(1.1, 9.0, 101)
KERNELS = [name for name, found in vars(special_kernels).items() if isinstance(found, Kernel)]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("name", KERNELS)
def test_as_cpython(name: str, dtype: str) -> None:
    kernel: Any = getattr(special_kernels, name)
    x = X.astype(dtype)
    found, wanted = np.zeros(x.size), np.zeros(x.size)
    kernel(x, found)
    kernel.__wrapped__(x, wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-15)
