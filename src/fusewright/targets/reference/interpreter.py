"""The oracle: every node is computed by NumPy on its own, in recorded order, into an array of its
own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusewright.ir import bfloat16, graph, ops
from fusewright.ir.dtypes import BFLOAT16, FLOAT32, DType
from fusewright.ir.graph import Node, memory_of
from fusewright.ir.products import operations
from fusewright.targets.reference import products

NDArray = np.ndarray[Any, np.dtype[Any]]
Results = dict[int, Any]


def evaluate(nodes: Sequence[Node]) -> None:
    """Turn every node given into a leaf, in place; what has several results stays: its parts are
    the leaves.
    """
    results: Results = {}
    with np.errstate(**_treatments()):
        for node in graph.operands_first(nodes):
            results[id(node)] = MEANINGS[node.kind](node, [results[id(arg)] for arg in node.args])
    for node in nodes:
        if node.kind != graph.LEAF and not isinstance(results[id(node)], tuple):
            store(node, results[id(node)])


def _treatments() -> dict[str, Any]:
    """Floating-point errors raise or call where the program wants that; nothing is warned of."""
    wanted = np.geterr().items()
    return {kind: how if how in ("raise", "call") else "ignore" for kind, how in wanted}


def store(node: Node, value: Any) -> None:
    """The value, in fresh C-ordered memory, is what the node is from now on."""
    result = np.array(value, dtype=node.dtype.numpy, order="C", copy=True).reshape(node.shape)
    node.become_leaf(
        memory_of(result), 0, graph.contiguous_strides(node.shape, node.dtype.itemsize)
    )


def as_ndarray(node: Node) -> NDArray:
    """A window on a leaf's memory."""
    memory, offset, strides = node.value
    return np.ndarray(node.shape, node.dtype.numpy, memory.owner, offset, strides)


def _leaf(node: Node, _args: list[Any]) -> Any:
    return as_ndarray(node)


def _scalar(node: Node, _args: list[Any]) -> Any:
    return _of_type(np.array(node.value), node.dtype)


def _of_type(value: Any, dtype: DType) -> Any:
    """Computed values in a type; bfloat16 is rounded from float32."""
    if dtype is BFLOAT16:
        return bfloat16.narrowed(value)
    return value.astype(dtype.numpy, copy=False)


def _computed(node: Node, args: list[Any]) -> list[Any]:
    """A node's operands as they are computed with: bfloat16 widened to float32."""
    return [
        bfloat16.widened(value) if arg.dtype is BFLOAT16 else value
        for arg, value in zip(node.args, args, strict=True)
    ]


def _map(node: Node, args: list[Any]) -> Any:
    args, dtype = _computed(node, args), node.dtype
    if node.op == "cast":
        return _of_type(args[0], dtype)
    if node.op == "where":
        return np.where(args[0], *(_of_type(each, dtype) for each in args[1:]))
    meaning = ops.MAP[node.op].meaning
    if dtype.is_complex:
        meaning = ops.COMPLEX.get(node.op, meaning)
    result = meaning(*args)
    return np.broadcast_to(_of_type(np.asarray(result), dtype), node.shape)


def _view(node: Node, args: list[Any]) -> Any:
    source = args[0]
    offset = 0
    strides = [0] * len(node.shape)
    for (dim, start, step), stride in zip(node.attr, source.strides, strict=True):
        offset += start * stride
        if dim >= 0:
            strides[dim] += step * stride
    if 0 in node.shape:
        return np.empty(node.shape, source.dtype)
    index = tuple(slice(start, start + 1) for _, start, _ in node.attr)
    first = source[index]
    return np.lib.stride_tricks.as_strided(first, node.shape, strides)


def _reduce(node: Node, args: list[Any]) -> Any:
    """NumPy's order of a rounded product follows the layout in memory, which differs between a view
    and the copy of it that a fused kernel leaves: the operand is laid out in C order first.
    """
    axes, keepdims = node.attr
    (value,) = _computed(node, args)
    if node.op == "prod" and node.dtype.kind in "fc":
        value = np.asarray(value, order="C")
    found = ops.REDUCE[node.op].meaning(
        value, axis=axes, keepdims=keepdims, dtype=_accumulated(node.dtype)
    )
    return _of_type(np.asarray(found), node.dtype)


def _accumulated(dtype: DType) -> Any:
    """The type in which values are collected."""
    return FLOAT32.numpy if dtype is BFLOAT16 else dtype.numpy


def _scan(node: Node, args: list[Any]) -> Any:
    (value,) = _computed(node, args)
    found = ops.SCAN[node.op].meaning(value, axis=node.attr, dtype=_accumulated(node.dtype))
    return _of_type(found, node.dtype)


def _assemble(node: Node, args: list[Any]) -> Any:
    result = np.empty(node.shape, node.dtype.numpy)
    for places, piece in zip(node.attr, args, strict=True):
        if 0 in piece.shape:
            continue
        index = tuple(
            _positions(start, step, count)
            for (start, step), count in zip(places, piece.shape, strict=True)
        )
        result[index] = piece
    return result


def _positions(start: int, step: int, count: int) -> slice:
    stop = start + step * count
    return slice(start, stop if stop >= 0 else None, step)


def _gather(node: Node, args: list[Any]) -> Any:
    source, indices = args[0], args[1:]
    position, operands = node.attr
    gathered = [dim for dim, operand in enumerate(operands) if operand >= 0]
    order = gathered + [dim for dim, operand in enumerate(operands) if operand < 0]
    chosen = source.transpose(order)[tuple(indices[operands[dim] - 1] for dim in gathered)]
    rank = indices[0].ndim
    return np.moveaxis(chosen, range(rank), range(position, position + rank))


def _iota(node: Node, args: list[Any]) -> Any:
    start, step = (arg.astype(node.dtype.numpy) for arg in args)
    count = np.arange(node.shape[0]).astype(node.dtype.numpy, copy=False)
    count *= step  # in place: the first pages a process touches are the dearest
    count += start
    return count


def _reshape(node: Node, args: list[Any]) -> Any:
    return args[0].reshape(node.shape)


def _opaque(node: Node, args: list[Any]) -> Any:
    return node.value(*args)


def _product(node: Node, args: list[Any]) -> Any:
    is_small = operations(node) <= products.MOST
    left, right = args
    return (products.product if is_small else products.large_product)(left, right, node.dtype)


def _part(node: Node, args: list[Any]) -> Any:
    return args[0][node.attr]


MEANINGS: tuple[Callable[[Node, list[Any]], Any], ...] = (
    _leaf,
    _scalar,
    _map,
    _view,
    _reduce,
    _scan,
    _assemble,
    _gather,
    _iota,
    _reshape,
    _opaque,
    _part,
    _product,
)
