"""What every primitive means: expressions evaluated with NumPy, bit for bit what compiled code
gives.

It is the definition that code generators are tested against, not a fast path.

>>> from fusewright.ir.dtypes import FLOAT64
>>> from fusewright.ir.expr import const, op, param
>>> x = param(0, FLOAT64)
>>> evaluate(op("fma", x, x, const(1.0, FLOAT64)), Environment(params={0: [2.0, 3.0]}))
array([ 5., 10.])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from fusewright.base.values import dataclass
from fusewright.ir import bfloat16
from fusewright.ir.dtypes import BFLOAT16, FLOAT16, FLOAT32, INT32, INT64, UINT64, DType
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.fused import fma

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Environment:
    """What the leaves stand for: arrays by buffer number, values by parameter number, index values
    by dim.

    Everything broadcasts; a bool buffer holds NumPy bools.
    """

    buffers: Mapping[int, Any] = field(default_factory=dict)
    params: Mapping[int, Any] = field(default_factory=dict)
    indices: Mapping[int, Any] = field(default_factory=dict)


def evaluate(root: Expr, env: Environment) -> Array:
    """The value of an expression of primitives."""
    values: dict[Expr, Array] = {}
    with np.errstate(all="ignore"):
        for node in postorder([root]):
            values[node] = _value(node, [values[arg] for arg in node.args], env)
    return values[root]


def _value(node: Expr, operands: list[Array], env: Environment) -> Array:
    dtype = node.dtype.numpy
    if node.dtype is BFLOAT16 and node.name in ("const", "param"):
        return bfloat16.narrowed(env.params[node.attr] if node.name == "param" else node.attr)
    if node.name == "const":
        return np.asarray(node.attr, dtype)
    if node.name == "param":
        return np.asarray(env.params[node.attr], dtype)
    if node.name == "index":
        return np.asarray(env.indices[node.attr], dtype)
    if node.name == "load":
        return np.asarray(np.asarray(env.buffers[node.attr])[tuple(operands)], dtype)
    if node.name == "cast":
        return convert(operands[0], node.args[0].dtype, node.dtype)
    if node.name == "bitcast":
        return np.ascontiguousarray(operands[0]).view(dtype).reshape(operands[0].shape)
    return np.asarray(MEANING[node.name](*operands)).astype(dtype, copy=False)


def convert(value: Array, source: DType, target: DType) -> Array:
    """The conversion `cast` means; NumPy's own, except from floats to integers where compilers
    differ.
    """
    if source is BFLOAT16:
        return convert(bfloat16.widened(value), FLOAT32, target)
    if target is BFLOAT16:
        return bfloat16.narrowed(value)
    if not (source.is_float and target.is_integer):
        if target is FLOAT16 and source.is_integer:
            value = value.astype(np.float32)
        return value.astype(target.numpy)
    if source is FLOAT16:
        value = value.astype(np.float32)
    if target is UINT64:
        upper = value >= 2.0**63
        whole = _to_signed(np.where(upper, value - value.dtype.type(2.0**63), value), INT64)
        flip = np.where(upper, np.uint64(1 << 63), np.uint64(0))
        return np.asarray(whole.view(np.uint64) ^ flip)
    wide = INT64 if target.itemsize == 8 or target.name == "uint32" else INT32
    return _to_signed(value, wide).astype(target.numpy)


def _to_signed(value: Array, target: DType) -> Array:
    """x86's cvtt: the least integer where the value does not fit."""
    fits = np.abs(value) < 2.0 ** (target.bits - 1)
    least = np.array(-(1 << (target.bits - 1)), target.numpy)
    return np.where(fits, np.where(fits, value, value.dtype.type(0)).astype(target.numpy), least)


def _magnitude(a: Array) -> Array:
    return a if a.dtype.kind == "u" else np.abs(a)


def _quotient(a: Array, b: Array) -> Array:
    """Towards zero, from NumPy's, which is towards minus infinity."""
    floored = np.floor_divide(a, b)
    return np.where((floored * b != a) & (floored < 0), floored + a.dtype.type(1), floored)


def _fmod_far(a: Array, b: Array, near: Array) -> Array:
    return np.where(np.isnan(near), np.fmod(a, b), near)


def _popcount(a: Array) -> Array:
    return np.asarray(np.bitwise_count(a.view(f"u{a.dtype.itemsize}")))


def _exponent(a: Array) -> Array:
    mantissa, exponent = np.frexp(a)
    return exponent - (mantissa < 0.75)


def _fraction(a: Array) -> Array:
    mantissa, _ = np.frexp(a)
    return np.where(mantissa < 0.75, mantissa * a.dtype.type(2), mantissa)


def _ldexp(a: Array, n: Array) -> Array:
    return np.ldexp(a, np.where(np.isfinite(n), n, 0).astype(np.int32))


MEANING: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.true_divide,
    "tdiv": _quotient,
    "trem": np.fmod,
    "negative": np.negative,
    "absolute": _magnitude,
    "fma": fma,
    "ldexp": _ldexp,
    "exponent": _exponent,
    "fraction": _fraction,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "copysign": np.copysign,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "invert": np.invert,
    "shl": np.left_shift,
    "shr": np.right_shift,
    "popcount": _popcount,
    "where": np.where,
    "fmod_far": _fmod_far,
}
"""The primitives; `rules.decompose.trigonometric` adds the ops whose meaning needs its polynomials.
"""
