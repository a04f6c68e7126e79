"""In which order functions of NumPy's lay out results, where it is not that of their operands.

What is recorded follows its operands (`frontends.arrays.layouts`); these functions of NumPy's make
a new array first, in an order of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from fusewright.base.later import later
from fusewright.frontends.arrays import layouts
from fusewright.frontends.arrays.core import Handle
from fusewright.numpy.operands import Function

if TYPE_CHECKING:
    from fusewright.base import signatures
else:
    signatures = later("fusewright.base.signatures")

ORDERS: dict[str, str] = dict.fromkeys(("tile", "repeat", "argmax", "argmin"), "C")
ORDERS |= dict.fromkeys(("round", "around", "pad"), "A") | dict.fromkeys(("sort", "partition"), "K")
"""By function, the letter of NumPy's for the order of the result beside the first operand's."""
REDUCED = frozenset(("median",))
"""Functions whose results lie as sums along the same axis do."""


def _in_order(letter: str) -> Callable[[Any, Any, dict[str, Any]], Any]:
    return lambda a, result, named: layouts.alike(a, result._node, letter)


def _as_reduced(a: Any, result: Any, named: dict[str, Any]) -> Any:
    keepdims = bool(named.get("keepdims", False))
    return layouts.alike(a.sum(named.get("axis"), keepdims=keepdims), result._node, "K")


def laid(function: Function, lay: Callable[[Any, Any, dict[str, Any]], Any]) -> Function:
    """A function whose results are laid out after it, where its operand is not in C order."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if not isinstance(result, Handle) or len(result._shape) < 2:
            return result
        a = args[0] if args else kwargs[signatures.parameters(function)[0].name]
        if result is a or not isinstance(a, Handle) or kwargs.get("out") is not None:
            return result
        if layouts.is_as_asked(a, "C"):
            return result
        return lay(a, result, kwargs | ({"axis": args[1]} if len(args) > 1 else {}))

    return call


def in_order(exports: dict[str, Function]) -> dict[str, Function]:
    """A table of functions, those named above laid out as NumPy's."""
    made = dict(exports)
    for name in exports.keys() & (ORDERS.keys() | REDUCED):
        lay = _in_order(ORDERS[name]) if name in ORDERS else _as_reduced
        made[name] = laid(exports[name], lay)
    return made


def like_operand(exports: dict[str, Function]) -> dict[str, Function]:
    """The same where every result is made like the first operand (`empty_like`)."""
    return {name: laid(function, _in_order("K")) for name, function in exports.items()}
