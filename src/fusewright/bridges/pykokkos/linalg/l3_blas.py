"""Products of matrices."""

from __future__ import annotations

from typing import Any

import fusewright.numpy as fnp
from fusewright.bridges.pykokkos.elementwise import operand
from fusewright.bridges.pykokkos.views import View, wrapped


def dgemm(alpha: float, view_a: Any, view_b: Any, beta: float = 0.0, view_c: Any = None) -> View:
    """`alpha * a @ b + beta * c`."""
    if view_a.shape[1] != view_b.shape[0]:
        raise ValueError(
            f"Second dimensions shape of a is {view_a.shape[1]} which does not match first "
            f"dimension shape of b, {view_b.shape[0]}."
        )
    product = fnp.matmul(operand(view_a), operand(view_b)) * alpha
    return wrapped(product if view_c is None else product + beta * operand(view_c))
