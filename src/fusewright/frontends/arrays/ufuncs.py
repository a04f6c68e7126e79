"""NumPy's ufuncs called with our arrays: recorded where there is an op of that name, else run by
NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fusewright.frontends.arrays import (
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
    """What `__array_ufunc__` answers."""
    return METHODS[method](ufunc, inputs, kwargs)


def _call(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = NAMES.get(ufunc)
    if name is None or not kwargs.keys() <= RECORDED_KEYWORDS:
        return _delegated(ufunc, inputs, kwargs, ufunc.__name__)
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
            mask, full = found
            return masking.make(apply(name, full, None, True, dtype, casting)._node, mask)
    wanted = None if dtype is None else as_dtype(dtype)
    if wanted is BOOL and name in COMPARISONS:
        wanted = None
    if wanted is not None and casting != "unsafe":
        for operand in inputs:
            if isinstance(operand, Handle | np.ndarray):
                check_cast(record.node_of(operand).dtype, wanted, casting)
    node = record.map_node(name, *inputs, dtype=wanted)
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


def _delegated(ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> Any:
    """NumPy computes; results for `out` arrays of ours are written to them."""
    outs = kwargs.pop("out", None)
    if outs is None:
        return opaque.delegate(name, ufunc, inputs, kwargs)
    outs = outs if isinstance(outs, tuple) else (outs,)
    if not any(isinstance(out, Handle) for out in outs):
        return opaque.delegate(name, ufunc, inputs, {**kwargs, "out": outs})
    results = opaque.delegate(name, ufunc, inputs, kwargs)
    results = results if isinstance(results, tuple) else (results,)
    written = tuple(
        result if out is None else reductions.into(out, record.node_of(result))
        for out, result in zip(outs, results, strict=True)
    )
    return written[0] if len(written) == 1 else written


def _reduce(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = FOLD_NAMES.get(ufunc)
    if name is None:
        return _delegated(ufunc.reduce, inputs, kwargs, f"{ufunc.__name__}.reduce")
    axis = kwargs.pop("axis", 0)
    out = kwargs.pop("out", None)
    return reductions.reduction(name, inputs[0], axis, kwargs.pop("dtype", None), out, **kwargs)


def _accumulate(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = SCAN_NAMES.get(ufunc)
    if name is None:
        return _delegated(ufunc.accumulate, inputs, kwargs, f"{ufunc.__name__}.accumulate")
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
    if isinstance(target, Handle):
        items.update_at(ufunc, target, key, *value)
    else:
        ufunc.at(target, opaque.to_numpy(key), *map(opaque.to_numpy, value))


def _reduceat(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _delegated(ufunc.reduceat, inputs, kwargs, f"{ufunc.__name__}.reduceat")


METHODS: dict[str, Callable[..., Any]] = {
    "__call__": _call,
    "reduce": _reduce,
    "accumulate": _accumulate,
    "outer": _outer,
    "at": _at,
    "reduceat": _reduceat,
}
