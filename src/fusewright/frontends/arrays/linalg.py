"""Matrix products: recorded where they are compiled (`ir.products`), else library steps whose
result type and shape are known, so they stay in the trace.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base import figures
from fusewright.base.errors import ShapeError
from fusewright.base.later import later
from fusewright.frontends.arrays import core, immediate, record, trace
from fusewright.frontends.arrays import dtypes as rules
from fusewright.frontends.arrays.core import wrap
from fusewright.frontends.arrays.opaque import delegate, opaque
from fusewright.frontends.arrays.strangers import STRANGER, is_stranger
from fusewright.ir.dtypes import DType

if TYPE_CHECKING:
    from fusewright.ir import products
else:  # most programs have no large product
    products = later("fusewright.ir.products")

Shape = tuple[int, ...]
SMALL = figures.MULTIPLICATIONS


def product_type(*operands: Any) -> DType:
    """The element type of a product."""
    return rules.promote(tuple(record.kind_of(operand) for operand in operands))


def matmul(left: Any, right: Any) -> Any:
    """`left @ right`, over stacks of matrices."""
    if (
        type(left) in core.handle_classes
        and type(right) in core.handle_classes
        and (math.prod(left._shape) * math.prod(right._shape[1:]) <= SMALL)
    ):
        product = immediate.library(np.matmul, left, right)
        if product is not None:
            return product
    if is_stranger(left) or is_stranger(right):
        return delegate("matmul", operator.matmul, (left, right), why=STRANGER)
    a, b = record.node_of(left), record.node_of(right)
    if not a.shape or not b.shape:
        raise _scalar_product()
    if a.shape[-1] != b.shape[max(len(b.shape) - 2, 0)]:
        raise _inner_mismatch("matmul", a.shape, b.shape)
    batch = record.broadcast_shapes("matmul", [a.shape[:-2], b.shape[:-2]])
    rows = a.shape[-2:-1]
    columns = b.shape[-1:] if len(b.shape) > 1 else ()
    if products.is_compiled(a, b):
        return wrap(trace.record(products.multiplied("matmul", a, b, batch)))
    dtype = product_type(a, b)
    return opaque("matmul", np.matmul, (a, b), dtype, (*batch, *rows, *columns))


def is_compiled(left: Any, right: Any) -> bool:
    """Whether `left @ right` of arrays of ours is a product of our own."""
    return products.is_compiled(record.node_of(left), record.node_of(right))


def _scalar_product() -> ShapeError:
    return ShapeError(
        "matmul: an operand does not have enough dimensions",
        why="a scalar operand is not allowed",
        help="use * instead",
    )


def _inner_mismatch(name: str, left: Shape, right: Shape) -> ShapeError:
    inner = right[max(len(right) - 2, 0)]
    return ShapeError(
        f"{name}: shapes {left} and {right} do not fit: {left[-1]} != {inner}",
        why=f"the last axis of the left ({left[-1]}) and the first of the right ({inner}) differ",
        help="transpose an operand with .T, or check the shapes",
    )


def dot(left: Any, right: Any) -> Any:
    """NumPy's dot: a scalar multiplies; else the last axis with the second to last."""
    if is_stranger(right):
        return delegate("dot", np.ndarray.dot, (left, right), why=STRANGER)
    a, b = record.node_of(left), record.node_of(right)
    if not a.shape or not b.shape:
        return wrap(record.map_node("multiply", a, b))  # a Python number is an array of its own
    if a.shape[-1] != b.shape[max(len(b.shape) - 2, 0)]:
        raise _inner_mismatch("dot", a.shape, b.shape)
    if len(a.shape) == len(b.shape) == 2 and products.is_compiled(a, b):
        return wrap(trace.record(products.multiplied("dot", a, b, ())))
    rest = (*b.shape[:-2], b.shape[-1]) if len(b.shape) > 1 else ()
    return opaque("dot", np.dot, (a, b), product_type(a, b), (*a.shape[:-1], *rest))
