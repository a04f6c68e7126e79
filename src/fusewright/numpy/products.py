"""Matrix products: library steps of known shape, and the sums of products that need no library."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from fusewright.base.errors import ShapeError, ValueRangeError
from fusewright.frontends.arrays import axes as axis_rules
from fusewright.frontends.arrays import (
    core,
    front,
    immediate,
    layouts,
    opaque,
    operators,
    record,
    reductions,
)
from fusewright.frontends.arrays import linalg as recording
from fusewright.frontends.arrays.core import Handle, wrap
from fusewright.frontends.arrays.handle import Array
from fusewright.frontends.arrays.views import Slice, make_view
from fusewright.ir.dtypes import FLOAT64
from fusewright.numpy.arranging import moveaxis
from fusewright.numpy.elementwise import finished, placed
from fusewright.numpy.joining import stack
from fusewright.numpy.operands import (
    Function,
    NotRecorded,
    handle_of,
    ndim_of,
    node_of,
    recorded,
)
from fusewright.numpy.ufuncs import u


def dotted(a: Any, b: Any) -> Any:
    """The sum of products of two vectors: it fuses with what made them."""
    left, right = node_of(a), node_of(b)
    if left.shape != right.shape:
        raise ShapeError(
            f"shapes {left.shape} and {right.shape} not aligned: "
            f"{left.shape[0]} (dim 0) != {right.shape[0]} (dim 0)"
        )
    if left.dtype is right.dtype is FLOAT64 and isinstance(a, Handle) and isinstance(b, Handle):
        number = immediate.total(a, b)
        if number is not None:
            return number
        product: Any = operator.mul(a, b)
        return product.sum()
    dtype = recording.product_type(left, right)
    if dtype.kind == "b":
        return reductions.reduction("any", record.map_node("logical_and", left, right))
    product = record.map_node("multiply", left, right)
    return reductions.reduction("sum", product, None, dtype.numpy)


@recorded(np.matmul)
def matmul(x1: Any, x2: Any, /, out: Any = None, **kwargs: Any) -> Any:
    """`x1 @ x2`."""
    if kwargs:
        raise NotRecorded("gufunc keyword arguments")
    a, b = handle_of(x1), handle_of(x2)
    return finished(recording.matmul(a, b), out)


@recorded(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """Of vectors the sum of products; else a matrix product."""
    if out is None and type(a) in core.handle_classes and type(b) in core.handle_classes:
        return dotted(a, b) if len(a._shape) == len(b._shape) == 1 else recording.dot(a, b)
    a, b = (v if ndim_of(v) == 0 else handle_of(v) for v in (a, b))
    if ndim_of(a) == 1 and ndim_of(b) == 1:
        return placed(dotted(a, b), out)
    return placed(recording.dot(a, b), out)


@recorded(np.vdot)
def vdot(a: Any, b: Any, /) -> Any:
    """The sum of products of the flat arrays, the first conjugated."""
    if ndim_of(a) == ndim_of(b) == 1 and not handle_of(a)._dtype.is_complex:
        return EXPORTS["inner"](a, b)
    return dotted(handle_of(a).ravel().conj(), handle_of(b).ravel())


@recorded(np.inner)
def inner(a: Any, b: Any, /) -> Any:
    """Sums of products over the last axes."""
    x, y = handle_of(a), handle_of(b)
    if not x._shape or not y._shape:
        return u.multiply(x, y)
    if len(x._shape) == 1 and len(y._shape) == 1:
        return dotted(x, y)
    if x._shape[-1] != y._shape[-1]:
        raise ShapeError(
            f"shapes {x._shape} and {y._shape} not aligned: the last extents must be equal"
        )
    dtype = recording.product_type(x, y)
    return opaque.opaque("inner", np.inner, (x, y), dtype, x._shape[:-1] + y._shape[:-1])


@recorded(np.outer)
def outer(a: Any, b: Any, out: Any = None) -> Any:
    """Every element of one with every element of the other: a broadcast product."""
    return finished(handle_of(a).ravel()[:, None] * handle_of(b).ravel()[None, :], out)


@recorded(np.vecdot)
def vecdot(x1: Any, x2: Any, /, out: Any = None, *, axis: int = -1, **kwargs: Any) -> Any:
    """Sums of products of vectors along an axis, the first conjugated."""
    if kwargs:
        raise NotRecorded("gufunc keyword arguments")
    a, b = handle_of(x1), handle_of(x2)
    if (
        a._shape[axis_rules.one_axis(axis, len(a._shape))]
        != b._shape[axis_rules.one_axis(axis, len(b._shape))]
    ):
        raise ShapeError("vecdot: the extents along the axis must be equal")
    a, b = moveaxis(a, axis, -1), moveaxis(b, axis, -1)
    product = u.multiply(a.conj(), b)
    dtype = recording.product_type(a, b).numpy
    return finished(product.sum(-1, None if dtype.kind == "b" else dtype).astype(dtype), out)


def _vector_product(original: Function, matrix_first: bool) -> Function:
    @recorded(original)
    def function(x1: Any, x2: Any, /, **kwargs: Any) -> Any:
        if kwargs:
            raise NotRecorded("gufunc keyword arguments")
        a, b = handle_of(x1), handle_of(x2)
        if matrix_first:
            return recording.matmul(a, b[..., None])[..., 0]
        return recording.matmul(a.conj()[..., None, :], b)[..., 0, :]

    return function


@recorded(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Sums of products over pairs of axes: transposes, reshapes and one matrix product."""
    a, b = handle_of(a), handle_of(b)
    if ndim_of(axes) == 0 and not isinstance(axes, tuple | list):
        first, second = list(range(-int(axes), 0)), list(range(int(axes)))
    else:
        first, second = (list(x) if isinstance(x, tuple | list) else [x] for x in axes)
    first = [axis_rules.one_axis(x, len(a._shape)) for x in first]
    second = [axis_rules.one_axis(x, len(b._shape)) for x in second]
    if [a._shape[x] for x in first] != [b._shape[x] for x in second]:
        raise ValueRangeError(
            "shape-mismatch for sum", why=f"axes {first} of {a._shape}, {second} of {b._shape}"
        )
    rest_a = [x for x in range(len(a._shape)) if x not in first]
    rest_b = [x for x in range(len(b._shape)) if x not in second]
    count = int(np.prod([a._shape[x] for x in first], dtype=int))
    shape_a, shape_b = ([m._shape[x] for x in rest] for m, rest in ((a, rest_a), (b, rest_b)))
    left = a.transpose(rest_a + first).reshape(int(np.prod(shape_a, dtype=int)), count)
    right = b.transpose(second + rest_b).reshape(count, int(np.prod(shape_b, dtype=int)))
    return recording.dot(left, right).reshape((*shape_a, *shape_b))


@recorded(np.kron)
def kron(a: Any, b: Any) -> Any:
    """The Kronecker product: a broadcast product, reshaped."""
    a, b = handle_of(a), handle_of(b)
    rank = max(len(a._shape), len(b._shape))
    if rank == 0:
        return u.multiply(a, b)
    left, right = ((1,) * (rank - len(m._shape)) + m._shape for m in (a, b))
    spread_a = a.reshape([n for extent in left for n in (extent, 1)])
    spread_b = b.reshape([n for extent in right for n in (1, extent)])
    return (spread_a * spread_b).reshape([x * y for x, y in zip(left, right, strict=True)])


@recorded(np.cross)
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    """The vector product of three-dimensional vectors."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = moveaxis(handle_of(a), axisa, -1), moveaxis(handle_of(b), axisb, -1)
    if a._shape[-1:] != (3,) or b._shape[-1:] != (3,):
        raise NotRecorded("vectors of two dimensions")
    x, y = ([m[..., n] for n in range(3)] for m in (a, b))
    parts = [
        x[1] * y[2] - x[2] * y[1],
        x[2] * y[0] - x[0] * y[2],
        x[0] * y[1] - x[1] * y[0],
    ]
    product = layouts.new(stack(parts, -1)._node, "C")
    return product if axisc == -1 else moveaxis(product, -1, axisc)


@recorded(np.einsum)
def einsum(*operands: Any, out: Any = None, optimize: Any = False, **kwargs: Any) -> Any:
    """Element-wise products and sums are recorded, and a product of two matrices where `matmul` is;
    other contractions are library steps.
    """
    spelled = operands[0]
    if kwargs or not isinstance(spelled, str) or "." in spelled:
        raise NotRecorded("this spelling of einsum")
    terms, result = _subscripts(spelled)
    handles = [handle_of(operand) for operand in operands[1:]]
    if len(terms) == len(handles) == 1 and out is None and set(terms[0]) == set(result):
        return _arrangement(terms[0], result, handles[0])
    sizes = _sizes(terms, handles)
    if not set(result) <= sizes.keys() or len(set(result)) != len(result):
        raise ValueRangeError(f"einstein sum subscripts string {spelled!r} names unknown axes")
    if _is_contraction(terms, result):
        matrices = _matrices(terms, result, handles)
        if matrices is not None and recording.is_compiled(*matrices):
            return finished(recording.matmul(*matrices), out)
        dtype = recording.product_type(*handles)
        shape = tuple(sizes[label] for label in result)

        def step(*arrays: Any) -> Any:
            return np.einsum(spelled, *arrays, optimize=optimize)

        return placed(opaque.opaque("einsum", step, handles, dtype, shape), out)
    return placed(_sum_of_products(terms, result, handles), out)


def _arrangement(term: str, result: str, handle: Any) -> Any:
    """One operand whose labels all stay: a view, with diagonals where a label repeats."""
    sizes = dict(zip(term, handle._shape, strict=False))
    fits = len(term) == len(handle._shape) and len(set(result)) == len(result)
    if not fits or any(sizes[a] != n for a, n in zip(term, handle._shape, strict=True)):
        raise NotRecorded("operands NumPy refuses")
    places = tuple((result.index(label), 0, 1) for label in term)
    return make_view(handle, Slice(places, tuple(sizes[label] for label in result)))


def _subscripts(spelled: str) -> tuple[list[str], str]:
    """The labels of each operand and of the result.

    >>> _subscripts("ij,jk")
    (['ij', 'jk'], 'ik')
    """
    left, arrow, result = spelled.replace(" ", "").partition("->")
    if not arrow:
        labels = left.replace(",", "")
        result = "".join(sorted(label for label in set(labels) if labels.count(label) == 1))
    return left.split(","), result


def _sizes(terms: Sequence[str], handles: Sequence[Any]) -> dict[str, int]:
    if len(terms) != len(handles):
        raise ValueRangeError(f"einsum: {len(terms)} terms for {len(handles)} operands")
    sizes: dict[str, int] = {}
    for term, handle in zip(terms, handles, strict=True):
        if len(term) != len(handle._shape) or len(set(term)) != len(term):
            raise NotRecorded("a diagonal, or operands NumPy refuses")
        for label, extent in zip(term, handle._shape, strict=True):
            if sizes.setdefault(label, extent) != extent:
                if 1 in (extent, sizes[label]):
                    raise NotRecorded("broadcast labels")
                raise ShapeError(
                    f"operands could not be broadcast together: label {label!r} is both "
                    f"{sizes[label]} and {extent}"
                )
    return sizes


def _is_contraction(terms: Sequence[str], result: str) -> bool:
    """Whether a label is summed over while two operands have labels of their own: a matrix
    product.
    """
    summed = set("".join(terms)) - set(result)
    if not summed or len(terms) < 2:
        return False
    private = sum(
        bool(set(term) & set(result) - set("".join([*terms[:n], *terms[n + 1 :]])))
        for n, term in enumerate(terms)
    )
    return private >= 2 or len(terms) > 2


def _matrices(terms: Sequence[str], result: str, handles: Sequence[Any]) -> tuple[Any, Any] | None:
    """The operands turned so that `left @ right` is the result, where one product is."""
    for first, second in ((0, 1), (1, 0)) if len(terms) == 2 and len(result) > 1 else ():
        left, right = terms[first], terms[second]
        batch, row, column = result[:-2], result[-2], result[-1]
        summed = "".join((set(left) & set(right)) - set(result))
        wanted = batch + row + summed, batch + summed + column
        is_one = len(summed) == 1 and set(left) == set(wanted[0]) and set(right) == set(wanted[1])
        if is_one:
            a, b = handles[first], handles[second]
            return (
                a.transpose([left.index(label) for label in wanted[0]]),
                b.transpose([right.index(label) for label in wanted[1]]),
            )
    return None


def _sum_of_products(terms: Sequence[str], result: str, handles: Sequence[Any]) -> Any:
    labels = result + "".join(sorted(set("".join(terms)) - set(result)))
    dtype = recording.product_type(*handles)
    product: Any = None
    for term, handle in zip(terms, handles, strict=True):
        order = [term.index(label) for label in labels if label in term]
        spread = tuple(slice(None) if label in term else None for label in labels)
        factor = handle.transpose(order)[spread] if order else handle
        product = factor if product is None else u.multiply(product, factor)
    axes = tuple(range(len(result), len(labels)))
    if not axes:
        return wrap(product._node)
    return product.sum(axes, None if dtype.kind == "b" else dtype.numpy).astype(dtype.numpy)


def einsum_path(subscripts: Any, *operands: Any, **kwargs: Any) -> Any:
    """NumPy's plan, from the shapes alone."""
    stand_ins = [np.broadcast_to(np.zeros(()), handle_of(x)._shape) for x in operands]
    return np.einsum_path(subscripts, *stand_ins, **kwargs)


_SUMS = (recording.SMALL, operators.op_of("multiply"), Array.sum)
EXPORTS: dict[str, Function] = {
    "matmul": front.at_once(np.matmul, matmul, recording.SMALL),
    **{
        function.__name__: front.at_once(getattr(np, function.__name__), function, *_SUMS)
        for function in (dot, inner)
    },
    "vdot": vdot, "outer": outer,
    "vecdot": vecdot, "matvec": _vector_product(np.matvec, True),
    "vecmat": _vector_product(np.vecmat, False), "tensordot": tensordot, "kron": kron,
    "cross": cross, "einsum": einsum, "einsum_path": einsum_path,
}  # fmt: skip
