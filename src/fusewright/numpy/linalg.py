"""`numpy.linalg`: norms are recorded, factorisations are library steps.

What may raise for some values (a singular matrix) runs at once, so that the error comes from
the line that made it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from fusewright.base.errors import ValueRangeError
from fusewright.frontends.arrays import axes as axis_rules
from fusewright.frontends.arrays import immediate, opaque
from fusewright.numpy import arranging, dispatch, instant, products
from fusewright.numpy.modules import lookup
from fusewright.numpy.operands import Function, NotRecorded, handle_of, library, ndim_of, recorded
from fusewright.numpy.ufuncs import u

__all__ = [name for name in np.linalg.__all__ if name != "test"]


def _real(x: Any) -> Any:
    """Inexact values: integers as float64."""
    x = handle_of(x)
    return x if x._dtype.kind in "fc" else x.astype(float)


def _square(x: Any) -> Any:
    """The squared magnitude."""
    return (x.conj() * x).real if x._dtype.is_complex else x * x


@recorded(np.linalg.norm, name="linalg.norm")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Vector and matrix norms; those that need singular values are a library step."""
    x = _real(x)
    rank = len(x._shape)
    if ord is axis is None and rank == 1 and not keepdims and not x._dtype.is_complex:
        immediate.settle(x)
        return u.sqrt(products.EXPORTS["dot"](x, x))
    if ord is None and (axis is None or isinstance(axis, int | np.integer | tuple | list)):
        return u.sqrt(_square(x).sum(None if axis is None else axis, keepdims=keepdims))
    axes = axis_rules.many_axes(axis, rank)
    if isinstance(axis, tuple | list):
        axes = tuple(axis_rules.one_axis(a, rank) for a in axis)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes[0], keepdims)
    if len(axes) != 2:
        raise NotRecorded("norms over more than two axes")
    return _matrix_norm(x, ord, axes, keepdims)


def _vector_norm(x: Any, ord: Any, axes: Any, keepdims: bool) -> Any:
    if isinstance(ord, str):
        raise NotRecorded("NumPy refuses this order")
    if ord in (None, 2):
        return u.sqrt(_square(x).sum(axes, keepdims=keepdims))
    size = u.absolute(x)
    if ord == np.inf:
        return size.max(axes, keepdims=keepdims)
    if ord == -np.inf:
        return size.min(axes, keepdims=keepdims)
    if ord == 0:
        return (x != 0).astype(size.dtype).sum(axes, keepdims=keepdims)
    if ord == 1:
        return size.sum(axes, keepdims=keepdims)
    return (size**ord).sum(axes, keepdims=keepdims) ** (1 / ord)


def _matrix_norm(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if ord in ("fro", "f"):
        return u.sqrt(_square(x).sum(axes, keepdims=keepdims))
    if ord not in (1, -1, np.inf, -np.inf):
        raise NotRecorded("a norm of singular values")
    rows, columns = axes if abs(ord) == 1 else axes[::-1]
    sums = u.absolute(x).sum(rows, keepdims=True)
    found = sums.max(columns, keepdims=True) if ord > 0 else sums.min(columns, keepdims=True)
    return found if keepdims else found.squeeze(axes)[()]


@recorded(np.linalg.vector_norm, name="linalg.vector_norm")
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The norm of vectors along axes; of the flat array without any."""
    x = _real(x)
    return _vector_norm(x, ord, axis_rules.many_axes(axis, len(x._shape)), keepdims)


@recorded(np.linalg.matrix_norm, name="linalg.matrix_norm")
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of the matrices in the last two axes."""
    x = _real(x)
    if len(x._shape) < 2:
        raise NotRecorded("NumPy refuses these operands")
    return _matrix_norm(x, ord, (len(x._shape) - 2, len(x._shape) - 1), keepdims)


def _checked(a: Any, square: bool) -> Any:
    """Matrices NumPy's LAPACK takes."""
    a = handle_of(a)
    if len(a._shape) < 2:
        raise LinAlgError(
            f"{len(a._shape)}-dimensional array given. Array must be at least two-dimensional"
        )
    if square and a._shape[-1] != a._shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    return _real(a)


@recorded(np.linalg.det, name="linalg.det")
def det(a: Any) -> Any:
    """Determinants: a library step of known shape."""
    a = _checked(a, True)
    return opaque.opaque("linalg.det", np.linalg.det, (a,), a.dtype, a._shape[:-2])


@recorded(np.linalg.slogdet, name="linalg.slogdet")
def slogdet(a: Any) -> Any:
    """Sign and logarithm of determinants: a library step of known shape."""
    a = _checked(a, True)
    shape = a._shape[:-2]
    results = [(a.dtype, shape), (a.real.dtype, shape)]
    sign, log = opaque.opaque_parts("linalg.slogdet", np.linalg.slogdet, (a,), results)
    return type(np.linalg.slogdet(np.eye(1)))(sign, log)


@recorded(np.linalg.qr, name="linalg.qr")
def qr(a: Any, mode: str = "reduced") -> Any:
    """The QR factorisation: a library step of known shapes."""
    a = _checked(a, False)
    if mode not in ("reduced", "complete", "r"):
        raise NotRecorded("this mode of qr")
    *batch, rows, columns = a._shape
    inner = rows if mode == "complete" else min(rows, columns)
    triangle = (*batch, inner, columns)
    if mode == "r":
        return opaque.opaque("linalg.qr", lambda x: np.linalg.qr(x, "r"), (a,), a.dtype, triangle)
    results = [(a.dtype, (*batch, rows, inner)), (a.dtype, triangle)]
    factorise: Any = np.linalg.qr
    parts = opaque.opaque_parts("linalg.qr", lambda x: tuple(factorise(x, mode)), (a,), results)
    return type(np.linalg.qr(np.eye(1)))(*parts)


@recorded(np.linalg.outer, name="linalg.outer")
def outer(x1: Any, x2: Any, /) -> Any:
    """The outer product of two vectors."""
    if ndim_of(x1) != 1 or ndim_of(x2) != 1:
        raise NotRecorded("operands that are no vectors")
    return products.outer(x1, x2)


@recorded(np.linalg.diagonal, name="linalg.diagonal")
def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The diagonals of the matrices in the last two axes."""
    return arranging.diagonal(x, offset, -2, -1)


@recorded(np.linalg.trace, name="linalg.trace")
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The traces of the matrices in the last two axes."""
    return arranging.trace(x, offset, -2, -1, dtype)


@recorded(np.linalg.cross, name="linalg.cross")
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The vector product of three-dimensional vectors."""
    if np.shape(x1)[axis] != 3 or np.shape(x2)[axis] != 3:
        raise ValueRangeError(
            "Both input arrays must be (arrays of) 3-dimensional vectors",
            why=f"the shapes are {np.shape(x1)} and {np.shape(x2)}",
        )
    return products.cross(x1, x2, axis=axis)


def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """A chain of products in the cheapest order NumPy finds."""
    return library(np.linalg.multi_dot, "linalg.multi_dot")(list(arrays), out=out)


EXPORTS: dict[str, Function] = {
    "norm": norm,
    "vector_norm": vector_norm,
    "matrix_norm": matrix_norm,
    "det": det,
    "slogdet": slogdet,
    "qr": qr,
    "outer": outer,
    "diagonal": diagonal,
    "trace": trace,
    "cross": cross,
    "multi_dot": multi_dot,
    "matmul": products.matmul,
    "tensordot": products.tensordot,
    "vecdot": products.vecdot,
    "matrix_transpose": arranging.matrix_transpose,
    **{
        name: library(getattr(np.linalg, name), f"linalg.{name}")
        for name in [
            "solve",
            "inv",
            "cholesky",
            "eig",
            "eigh",
            "eigvals",
            "eigvalsh",
            "svd",
            "svdvals",
            "lstsq",
            "pinv",
            "matrix_rank",
            "cond",
            "tensorinv",
            "tensorsolve",
            "matrix_power",
        ]
    },
}
RECORDED = EXPORTS | instant.quick("linalg", EXPORTS)
EXPORTS = dispatch.in_front_of(np.linalg, RECORDED)
dispatch.annotate("linalg", EXPORTS, np.linalg)
globals().update(EXPORTS)
__getattr__ = lookup("linalg", EXPORTS)
