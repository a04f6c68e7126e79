"""The table (dtype kind, op) -> decomposition, and the bottom-up pass over it.

Complex expressions are split into real ones before (`rules.complex`).  A float16 operation is done
in float32 and rounded to float16 after every op, as NumPy does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fusewright.ir import expr
from fusewright.ir.dtypes import FLOAT16, FLOAT32
from fusewright.ir.expr import Expr
from fusewright.rules.decompose import (
    bessel,
    error_function,
    exponential,
    floats,
    gamma_function,
    integers,
    inverse,
    lengths,
    logarithm,
    roots,
    trigonometric,
)
from fusewright.rules.decompose.terms import Term

Rule = Callable[..., Term]

_ANY: dict[str, Rule] = {
    "greater": integers.greater,
    "greater_equal": integers.greater_equal,
    "logical_and": integers.logical_and,
    "logical_or": integers.logical_or,
    "logical_xor": integers.logical_xor,
    "logical_not": integers.logical_not,
    "imin": integers.minimum,
    "imax": integers.later,
    "positive": integers.same,
    "conjugate": integers.same,
    "real": integers.same,
}
_FLOAT: dict[str, Rule] = {
    "fabs": floats.absolute,
    "maximum": floats.maximum,
    "minimum": floats.minimum,
    "fmax": floats.fmax,
    "fmin": floats.fmin,
    "sign": floats.sign,
    "square": floats.square,
    "reciprocal": floats.reciprocal,
    "isnan": floats.isnan,
    "isinf": floats.isinf,
    "isfinite": floats.isfinite,
    "signbit": floats.signbit,
    "heaviside": floats.heaviside,
    "deg2rad": floats.deg2rad,
    "rad2deg": floats.rad2deg,
    "nextafter": floats.nextafter,
    "fmod": floats.fmod,
    "remainder": floats.remainder,
    "floor_divide": floats.floor_divide,
    "imag": floats.zero,
    "exp": exponential.exp,
    "exp2": exponential.exp2,
    "expm1": exponential.expm1,
    "sinh": exponential.sinh,
    "cosh": exponential.cosh,
    "tanh": exponential.tanh,
    "log": logarithm.log,
    "log1p": logarithm.log1p,
    "log2": logarithm.log2,
    "log10": logarithm.log10,
    "sin": trigonometric.sin,
    "cos": trigonometric.cos,
    "tan": trigonometric.tan,
    "arcsin": inverse.arcsin,
    "arccos": inverse.arccos,
    "arctan": inverse.arctan,
    "arctan2": inverse.arctan2,
    "arcsinh": inverse.arcsinh,
    "arccosh": inverse.arccosh,
    "arctanh": inverse.arctanh,
    "power": roots.power,
    "float_power": roots.power,
    "cbrt": roots.cbrt,
    "hypot": lengths.hypot,
    "logaddexp": roots.logaddexp,
    "logaddexp2": roots.logaddexp2,
    "erf": error_function.erf,
    "erfc": error_function.erfc,
    "gamma": gamma_function.gamma,
    "lgamma": gamma_function.lgamma,
    "j0": bessel.j0,
    "j1": bessel.j1,
}
_WHOLE: dict[str, Rule] = {
    "floor": integers.same,
    "ceil": integers.same,
    "trunc": integers.same,
    "rint": integers.same,
    "isnan": integers.never,
    "isinf": integers.never,
    "isfinite": integers.always,
    "imag": integers.zero,
}
_INTEGER: dict[str, Rule] = {
    **_WHOLE,
    "floor_divide": integers.floor_divide,
    "remainder": integers.remainder,
    "fmod": integers.fmod,
    "power": integers.power,
    "sign": integers.sign,
    "reciprocal": integers.reciprocal,
    "square": integers.square,
    "maximum": integers.maximum,
    "minimum": integers.minimum,
    "fmax": integers.maximum,
    "fmin": integers.minimum,
    "left_shift": integers.left_shift,
    "right_shift": integers.right_shift,
    "bitwise_count": integers.bitwise_count,
}
_BOOL: dict[str, Rule] = {
    **_WHOLE,
    "add": integers.either,
    "multiply": integers.both,
    "maximum": integers.either,
    "minimum": integers.both,
    "fmax": integers.either,
    "fmin": integers.both,
    "absolute": integers.same,
    "square": integers.same,
}
RULES: dict[tuple[str, str], Rule] = {
    (kind, name): rule
    for kind, rules in {"f": _FLOAT, "i": _INTEGER, "u": _INTEGER, "b": _BOOL}.items()
    for name, rule in (_ANY | rules).items()
}

_HALF: dict[str, Rule] = {"maximum": floats.maximum_half, "minimum": floats.minimum_half}
_ORDER = ("less", "less_equal")
_MOVES = frozenset({"load", "param", "const", "cast", "bitcast", "where"})


def _rule(node: Expr) -> Expr | None:
    if not node.args or node.name == "load":
        return None
    if node.args[0].dtype.is_stored_only and node.name not in _MOVES:
        return _in_float32(node)
    rule = RULES.get((node.args[0].dtype.kind, node.name))
    if rule is None:
        return lengths.compared(node) if node.name in _ORDER else None
    value = rule(*map(Term, node.args)).expr
    if value.name in _ORDER:
        return lengths.compared(value) or value
    return expr.cast(value, node.dtype)


def _in_float32(node: Expr) -> Expr:
    """An operation on a storage type: exact operands, one float32 operation, one rounding."""
    stored = node.args[0].dtype
    wide = FLOAT32 if node.dtype is stored else node.dtype
    if node.name == "nextafter":  # the neighbours are those of the stored type
        return floats.nextafter_half(*map(Term, node.args)).expr
    operands = [expr.cast(arg, FLOAT32) for arg in node.args]
    if node.name in _HALF and stored is FLOAT16:
        return expr.cast(_HALF[node.name](*map(Term, operands)).expr, node.dtype)
    inner = expr.typed_op(node.name, wide, *operands)
    return expr.cast(_rule(inner) or inner, node.dtype)


def decompose_all(roots: Iterable[Expr], memo: dict[Expr, Expr]) -> list[Expr]:
    """Rewrite several expressions; `memo` carries what was rewritten from call to call."""
    return [expr.rewrite(root, _rule, memo) for root in roots]


def decompose(root: Expr) -> Expr:
    """The same value in primitives."""
    return expr.rewrite(root, _rule, {})
