"""What is done at once because recording it would cost more: single numbers and small writes.

A number that lies in memory is read there; what exact arithmetic makes of such numbers is computed
by Python, bit for bit as compiled code computes it.  A write of known values into a small region of
memory nobody else sees is a move, and NumPy moves.  While a function is being recorded for replay
nothing is done at once.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from ctypes import c_float
from sys import getrefcount
from typing import Any

import numpy as np

from fusewright.base.options import current
from fusewright.frontends.arrays import core, sharing, trace
from fusewright.frontends.arrays.core import READ_ONLY, Handle
from fusewright.frontends.arrays.dtypes import DEFAULT, RANGES
from fusewright.frontends.arrays.views import Slice, view_node
from fusewright.ir.dtypes import FLOAT32, FLOAT64, DType
from fusewright.ir.graph import LEAF, MAP, SCALAR, VIEW, Node

SMALL = 4096
"""Elements of a region that is written at once: more are worth a kernel."""
DEPTH = 8
"""Operations on top of each other that are computed at once: more are worth a kernel."""
CONSTANT = 1 << 16
"""Elements of a constant array that gets memory at its first small write."""

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
EXACT: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "negative": operator.neg,
    "positive": operator.pos,
    "absolute": abs,
    "square": lambda x: x * x,
    "cast": lambda x: x,
}
"""Correctly rounded in float64, and in float32 after a second rounding; integers wrap."""
EXACT_FLOATS: dict[str, Callable[..., Any]] = {"divide": operator.truediv, "sqrt": math.sqrt}


def number(node: Node) -> Any:
    """A value without dims as a Python number; None where it takes a kernel to know it."""
    if node.kind == LEAF:
        memory, offset, _ = node.value
        return np.ndarray((), node.dtype.numpy, memory.owner, offset).item()
    if node.kind != MAP or trace.is_held() or current().contract:
        return None
    try:
        value = _computed(node, DEPTH)
    except (ArithmeticError, ValueError):  # a division by zero: it has a result in IEEE arithmetic
        return None
    if value is not None:
        with trace.lock:
            node.kind, node.op, node.args, node.value = SCALAR, "", (), value
            trace.drop_tail()
    return value


def _computed(node: Node, depth: int) -> Any:
    kind, dtype = node.kind, node.dtype
    if kind == LEAF:
        memory, offset, _ = node.value
        return np.ndarray((), dtype.numpy, memory.owner, offset).item()
    if kind == SCALAR:
        return _rounded(node.value, dtype)
    if kind != MAP or not depth:
        return None
    operands = []
    for arg in node.args:
        if arg.dtype is not dtype and not _is_converted_exactly(arg.dtype, node):
            return None
        value = _computed(arg, depth - 1)
        if value is None:
            return None
        operands.append(float(value) if dtype is FLOAT64 else value)
    return _applied(node.op, dtype, operands)


def _is_converted_exactly(source: DType, node: Node) -> bool:
    """Whether Python converts an operand as the operation does (comparisons convert nothing)."""
    if node.op in COMPARISONS:
        first = node.args[0].dtype
        return source.kind in "iuf" and all(arg.dtype is first for arg in node.args)
    return node.dtype is FLOAT64 and source.kind in "iuf"


def _applied(op: str, dtype: DType, operands: list[Any]) -> Any:
    compare = COMPARISONS.get(op)
    if compare is not None:
        return compare(*operands)
    if dtype.kind not in "iuf" or dtype.itemsize == 2 and dtype.kind == "f":
        return None
    function = EXACT.get(op) or (EXACT_FLOATS.get(op) if dtype.kind == "f" else None)
    return None if function is None else _rounded(function(*operands), dtype)


def _rounded(value: Any, dtype: DType) -> Any:
    """As a value of the type: float32 rounds, integers wrap."""
    if dtype is FLOAT64:
        return float(value)
    if dtype is FLOAT32:
        return c_float(value).value
    if dtype.is_integer:
        low, high = RANGES[dtype]
        return value if low <= value <= high else (int(value) - low) % (1 << dtype.bits) + low
    return value


def write(handle: Handle, key: Any, value: Any) -> bool:
    """`handle[key] = value` at once; False where it has to be recorded (or refused)."""
    target = _own_memory(handle)
    if target is None:
        return False
    if type(value) not in DEFAULT:
        value = _known(value, target)
        if value is None:
            return False
        target = _own_memory(handle, exclusive=True)
    elif type(value) is complex:
        return False
    else:
        target = _own_memory(handle, exclusive=True)
    return target is not None and _moved(target, key, value)
