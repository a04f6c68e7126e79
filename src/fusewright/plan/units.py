"""How many units a planned kernel has, and how many elements are in each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, op, typed_op
from fusewright.plan.plan import TILE, Kernel, counts_tiles


def units_of(kernel: Kernel) -> Expr:
    """How many units a kernel has."""
    if kernel.shared == 0:
        return const(1, INT64)
    total = largest([product(extents) for extents in kernel.extents])
    return ceiling(total, const(TILE, INT64)) if counts_tiles(kernel) else total


def unit_elements(kernel: Kernel) -> Expr:
    """Elements of the largest member in a unit."""
    if kernel.form != "rows":
        return const(TILE if counts_tiles(kernel) else 1, INT64)
    return largest([product(m.stage.extents[kernel.shared :]) for m in kernel.members])


def product(extents: Sequence[Expr], unit: int = 1) -> Expr:
    """The number of elements, times a literal."""
    sizes = [const(unit, INT64), *extents] if unit != 1 or not extents else extents
    return reduce(lambda a, b: op("multiply", a, b), sizes)


def largest(sizes: Sequence[Expr]) -> Expr:
    """The greatest of sizes."""
    return reduce(most, dict.fromkeys(sizes))


def most(a: Expr, b: Expr) -> Expr:
    """max(a, b)."""
    return typed_op("imax", INT64, a, b)


def least(a: Expr, b: Expr) -> Expr:
    """min(a, b)."""
    return typed_op("imin", INT64, a, b)


def quotient(a: Expr, b: Expr) -> Expr:
    """a / b, rounded down."""
    return typed_op("floor_divide", INT64, a, b)


def ceiling(a: Expr, b: Expr) -> Expr:
    """a / b, rounded up."""
    return quotient(op("add", a, op("subtract", b, const(1, INT64))), b)
