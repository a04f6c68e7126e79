"""NumPy's ufuncs called with our arrays: recorded where there is an op of that name, else run by
NumPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from fusewright.frontends.arrays import (
    agreement,
    exports,
    items,
    masking,
    opaque,
    record,
    reductions,
    scans,
    sharing,
)
from fusewright.frontends.arrays.core import Handle, cast, wrap
from fusewright.frontends.arrays.dtypes import as_dtype, check_cast
from fusewright.frontends.arrays.views import identity, view_node
from fusewright.ir.dtypes import BOOL
from fusewright.ir.expr import COMPARISONS
from fusewright.ir.ops import MAP, REDUCE, SCAN

NAMES = {row.meaning: name for name, row in MAP.items() if isinstance(row.meaning, np.ufunc)} | {
    np.conjugate: "conjugate"
}
FOLD_NAMES = {MAP[fold.combine].meaning: fold.name for fold in REDUCE.values()}
SCAN_NAMES = {MAP[fold.combine].meaning: fold.name for fold in SCAN.values()}
RECORDED_KEYWORDS = frozenset(("out", "where", "dtype", "casting", "order", "subok"))


def call(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `__array_ufunc__` answers: NumPy says whether a call with rare keywords is right, and
    what becomes of one that ours refuses.
    """
    original = ufunc if method == "__call__" else getattr(ufunc, method)
    if method == "reduce" and isinstance(kwargs.get("out"), tuple) and _goes_on(sys._getframe(2)):
        (out,) = kwargs["out"]
        return original(*inputs, **{**kwargs, "out": exports.writable(out)})
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"

    def recorded(*inputs: Any, **kwargs: Any) -> Any:
        return METHODS[method](ufunc, inputs, kwargs)

    try:
        if method in RANKED and any(key not in RANKED[method] for key in kwargs):
            return agreement.agreed(name, original, recorded, inputs, kwargs)
        return recorded(*inputs, **kwargs)
    except agreement.REFUSALS as error:
        refused = [error]  # no variable of this frame holds it, which its traceback holds
    written = (0,) if method == "at" else ()
    return agreement.settled(refused.pop(), name, original, inputs, kwargs, written)


def _goes_on(caller: FrameType) -> bool:
    """Whether it is the mean or the variance of an array of NumPy's, written into one of ours: they
    divide what is there where it is NumPy's, and else forget it.
    """
    names = caller.f_code.co_name, caller.f_globals.get("__name__")
    return names[1] == "numpy._core._methods" and names[0] in ("_mean", "_var")


RANKED: dict[str, frozenset[str]] = {
    "__call__": frozenset(("out",)), "reduce": frozenset(), "accumulate": frozenset(("axis",)),
    "outer": frozenset(("out",)),
}  # fmt: skip
"""Keywords of methods that are looked at where they are used; with others NumPy is asked, on
stand-ins, whether the call is right.
"""


def _call(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = NAMES.get(ufunc)
    outs = kwargs.get("out")
    subclass = any(
        isinstance(each, np.ndarray) and type(each) is not np.ndarray
        for each in (outs if type(outs) is tuple else (outs,))
    )
    if name is None or subclass or not kwargs.keys() <= RECORDED_KEYWORDS:
        return opaque.delegate(ufunc.__name__, ufunc, inputs, kwargs)
    dtype = kwargs.get("dtype")
    return apply(
        name,
        inputs,
        kwargs.get("out"),
        kwargs.get("where", True),
        dtype,
        kwargs.get("casting", "same_kind"),
    )


def apply(
    name: str,
    inputs: tuple[Any, ...],
    out: Any = None,
    where: Any = True,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Any:
    """Record an element-wise function with NumPy's `out=`, `where=`, `dtype=` and `casting=`."""
    if isinstance(out, tuple):
        (out,) = out
    if out is None and where is True and not masking.may_refuse(name, inputs):
        found = masking.lifted(inputs)
        if found is not None:
            under, full = found
            return under.make(apply(name, full, None, True, dtype, casting)._node)
    wanted = None if dtype is None else as_dtype(dtype)
    if wanted is BOOL and name in COMPARISONS:
        wanted = None
    if wanted is not None and casting != "unsafe":
        for operand in inputs:
            if isinstance(operand, Handle | np.ndarray):
                check_cast(record.node_of(operand).dtype, wanted, casting)
    node = record.map_node(name, *inputs, dtype=wanted)
    if out is None and where is not True:  # the mask is broadcast, too
        shape = np.broadcast_shapes(node.shape, np.shape(where))
        node = record.broadcast_node(node, shape)
    if out is None:
        return wrap(node)
    if where is not True and isinstance(out, Handle):
        check_cast(node.dtype, out._dtype, casting)
        chosen = cast(record.node_of(where), BOOL)
        node = record.map_node("where", chosen, cast(node, out._dtype), out)
    elif where is not True:
        np.copyto(out, sharing.content_of(node), casting=casting, where=opaque.to_numpy(where))  # type: ignore[arg-type]
        return out
    return reductions.into(out, node, casting)


def _reduce(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = FOLD_NAMES.get(ufunc)
    if name is None:
        return opaque.delegate(f"{ufunc.__name__}.reduce", ufunc.reduce, inputs, kwargs)
    axis = kwargs.pop("axis", 0)
    out = kwargs.pop("out", None)
    return reductions.reduction(name, inputs[0], axis, kwargs.pop("dtype", None), out, **kwargs)


def _accumulate(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = SCAN_NAMES.get(ufunc)
    if name is None:
        return opaque.delegate(f"{ufunc.__name__}.accumulate", ufunc.accumulate, inputs, kwargs)
    axis, out = kwargs.get("axis", 0), kwargs.get("out")
    return scans.scan(name, inputs[0], axis, kwargs.get("dtype"), out)


def _outer(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    left, right = (record.node_of(operand) for operand in inputs)
    shape = (*left.shape, *(1,) * len(right.shape))
    spread = view_node(left, identity(left.shape), shape)
    return _call(ufunc, (wrap(spread), wrap(right)), kwargs)


def _at(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    del kwargs
    target, key, *value = inputs
    if not isinstance(target, Handle):
        ufunc.at(target, opaque.to_numpy(key), *map(opaque.to_numpy, value))
    elif len(value) == 1 and ufunc.nin == 2 and ufunc.nout == 1 and _is_update(ufunc, target):
        items.update_at(ufunc, target, key, *value)
    else:  # equal indices are changed again each time they are met
        opaque.delegate(f"{ufunc.__name__}.at", ufunc.at, inputs, written=(0,))


def _is_update(ufunc: np.ufunc, target: Handle) -> bool:
    """Whether the ufunc's loop for values of one type gives values of that type, whatever they
    are.
    """
    dtype, name = target._dtype.numpy, NAMES.get(ufunc)
    if name is not None and MAP[name].check is not None:
        return False
    try:
        return ufunc.resolve_dtypes((dtype, dtype, None))[-1] is dtype
    except TypeError:
        return False


def _reduceat(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return opaque.delegate(f"{ufunc.__name__}.reduceat", ufunc.reduceat, inputs, kwargs)


METHODS: dict[str, Callable[..., Any]] = {
    "__call__": _call,
    "reduce": _reduce,
    "accumulate": _accumulate,
    "outer": _outer,
    "at": _at,
    "reduceat": _reduceat,
}
