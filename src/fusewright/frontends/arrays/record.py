"""Recording element-wise operations: any operands in, one MAP node out.

This is the general way; `operators` has a faster one for the common operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fusewright.base.errors import ShapeError, ValueRangeError
from fusewright.frontends.arrays import core, sharing, trace
from fusewright.frontends.arrays import dtypes as rules
from fusewright.frontends.arrays.core import Handle, cast
from fusewright.frontends.arrays.dtypes import Kind
from fusewright.ir.dtypes import BOOL, FLOAT32, FLOAT64, INT64, UINT64, DType
from fusewright.ir.expr import COMPARISONS
from fusewright.ir.graph import IOTA, MAP, SCALAR, VIEW, Node, scalar
from fusewright.ir.ops import MAP as ROWS

Shape = tuple[int, ...]


def map_node(name: str, *operands: Any, dtype: DType | None = None) -> Node:
    """Record an element-wise function of arrays, NumPy arrays, Python scalars, lists.

    `dtype` asks for the loop with this result type, as NumPy's `dtype=` does.
    """
    if dtype is None:
        if name == "power" and is_square(*operands):
            name, operands = "square", operands[:1]
        quick = _map_known(name, operands)
        if quick is not None:
            return quick
    kinds = tuple(kind_of(operand) for operand in operands)
    if looks_at_values(name, *kinds):
        _check_values(name, operands)
    if name in COMPARISONS and int in kinds:
        operands, kinds = _in_range(operands, kinds)
    result, wanted = rules.result_rule(name, kinds)
    if dtype is not None and dtype is not result:
        result, wanted = rules.result_rule(name, (dtype,) * len(kinds))
    nodes = tuple(
        as_node(operand, to) for operand, kind, to in zip(operands, kinds, wanted, strict=True)
    )
    if dtype is not None:  # another loop than the operands' own: the casts to it are steps
        nodes = tuple(cast(node, to) for node, to in zip(nodes, wanted, strict=True))
    shape = broadcast_shapes(name, [node.shape for node in nodes])
    return trace.record(Node(MAP, name, nodes, result, shape))


def is_square(base: Any, exponent: Any) -> bool:
    """Whether it is the power by 2 of single or double numbers, which NumPy's loop takes by a
    multiplication, too.
    """
    if hasattr(type(exponent), "_record_as"):
        exponent = float(exponent)  # which operation it is depends on the value
    is_two = type(exponent) in (int, float) and exponent == 2
    return is_two and kind_of(base) in (FLOAT32, FLOAT64)


def looks_at_values(name: str, *kinds: Kind) -> bool:
    """Whether an operation on operands of these types raises for some of their values."""
    check = ROWS[name].check
    if check is None:
        return False
    kind = kinds[check.place]
    signed = kind is int or (isinstance(kind, DType) and kind.kind == "i")
    return signed and rules.result_rule(name, kinds)[1][check.place].kind == "i"


def _check_values(name: str, operands: tuple[Any, ...]) -> None:
    check = ROWS[name].check
    if check is None or trace.is_held():  # a function that is being recorded has no values yet
        return
    operand = operands[check.place]
    if isinstance(operand, Handle):
        operand = operand._node
    if isinstance(operand, Node):
        operand = operand.value if operand.kind == SCALAR else sharing.content_of(operand)
    if check.wrong(operand):
        raise ValueRangeError(check.message, why=f"a value is wrong for {name}", help=check.help)


NUMBERS = frozenset((int, float, complex))
_known: dict[tuple[Any, ...], rules.Rule | None] = {}
"""By operation and types of operands, the rule; None where values have to be looked at."""


def _map_known(name: str, operands: tuple[Any, ...]) -> Node | None:
    """The common case: arrays of ours, values, and Python's numbers."""
    nodes: list[Any] = []
    key: list[Any] = [name]
    for operand in operands:
        kind = type(operand)  # not `__class__`: lazy scalars answer with NumPy's
        if kind in NUMBERS:
            nodes.append(None)
            key.append(kind)
            continue
        if kind is not Node and kind not in core.handle_classes:
            return None
        node = operand if kind is Node else operand._node
        nodes.append(node)
        key.append(node.dtype)
    found = tuple(key)
    rule = _known[found] if found in _known else _find_known(found)
    if rule is None:
        return None
    shape, result, wanted = None, rule[0], rule[1]
    for place, node in enumerate(nodes):
        if node is None:
            nodes[place] = rules.scalar_node(operands[place], wanted[place])
        elif shape is None:
            shape = node.shape
        elif node.shape != shape:
            shape = broadcast_shapes(name, [shape, node.shape])
    return trace.record(Node(MAP, name, tuple(nodes), result, shape or ()))


def _find_known(key: tuple[Any, ...]) -> rules.Rule | None:
    name, kinds = key[0], key[1:]
    compared = name in COMPARISONS and int in kinds
    looked_at = compared or looks_at_values(name, *kinds)
    found = _known[key] = None if looked_at else rules.result_rule(name, kinds)
    return found


def kind_of(operand: Any) -> Kind:
    """The dtype of an array, or the class of a Python scalar (weak)."""
    if isinstance(operand, Handle):
        return operand._dtype
    if isinstance(operand, Node):
        return operand.dtype
    kind = type(operand)
    if kind in rules.WEAK:
        return kind
    if kind is bool:
        return BOOL
    if isinstance(operand, np.generic | np.ndarray):
        return rules.row_of(operand.dtype)
    if hasattr(kind, "_record_as"):  # a float argument of a function under `fw.jit`
        return float
    return rules.row_of(sharing.numpy_array(operand).dtype)


def as_node(operand: Any, weak: DType) -> Node:
    """The recorded value of an operand; Python scalars take the type `weak`."""
    if isinstance(operand, Handle):
        return operand._node
    if isinstance(operand, Node):
        return operand
    if type(operand) in rules.DEFAULT:
        return rules.scalar_node(operand, weak)
    if isinstance(operand, np.generic):
        row = rules.row_of(operand.dtype)
        return scalar(operand.item(), row)
    if hasattr(type(operand), "_record_as"):
        return operand._record_as(weak)  # type: ignore[no-any-return]
    return sharing.snapshot(sharing.numpy_array(operand))


def node_of(operand: Any) -> Node:
    """The recorded value of an operand that stands alone."""
    kind = kind_of(operand)
    return as_node(operand, kind if isinstance(kind, DType) else rules.DEFAULT[kind])


def broadcast_shapes(name: str, shapes: Sequence[Shape]) -> Shape:
    """NumPy's broadcasting; a `ShapeError` that shows the shapes where they do not fit."""
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return first
    rank = max(map(len, shapes))
    result = [1] * rank
    for shape in shapes:
        for dim, extent in enumerate(shape, rank - len(shape)):
            if extent != 1 and extent != result[dim]:
                if result[dim] != 1:
                    raise mismatch(name, shapes)
                result[dim] = extent
    return tuple(result)


def mismatch(name: str, shapes: Sequence[Shape]) -> ShapeError:
    """Two shapes that do not broadcast, drawn one above the other."""
    distinct = list(dict.fromkeys(shape for shape in shapes if shape))
    rank = max(len(shape) for shape in distinct)
    rows = [[""] * (rank - len(s)) + [str(n) for n in s] for s in distinct]
    width = [max(len(row[d]) for row in rows) for d in range(rank)]
    drawn = ["  ".join(cell.rjust(w) for cell, w in zip(r, width, strict=True)) for r in rows]
    clash = [d for d in range(rank) if len({row[d] for row in rows} - {"", "1"}) > 1]
    marks = "  ".join(("^" if d in clash else " ").rjust(w) for d, w in enumerate(width))
    spelled = " and ".join(map(str, distinct))
    return ShapeError(
        f"operands could not be broadcast together with shapes {spelled} in {name}",
        why="aligned at the right, extents must be equal or 1:\n   "
        + "\n   ".join([*drawn, marks.rstrip()]),
        help="insert axes of extent 1 with x[:, None], or check which array has the wrong length",
    )


def _in_range(
    operands: tuple[Any, ...], kinds: tuple[Kind, ...]
) -> tuple[tuple[Any, ...], tuple[Kind, ...]]:
    """NumPy compares an integer array with any Python integer by value: widen so that both fit."""
    out, out_kinds = list(operands), list(kinds)
    for this, other in ((0, 1), (1, 0)):
        array, value = kinds[other], operands[this]
        if kinds[this] is not int or not isinstance(array, DType) or not array.is_integer:
            continue
        low, high = rules.RANGES[array]
        if low <= value <= high:
            continue
        fits64 = -(2**63) <= value < 2**63 and array is not UINT64
        out_kinds[this] = out_kinds[other] = INT64 if fits64 else FLOAT64
        out[other] = cast(as_node(operands[other], array), INT64 if fits64 else FLOAT64)
        out[this] = (
            scalar(value, INT64)
            if fits64
            else scalar(float("inf") * (1 if value > 0 else -1), FLOAT64)
        )
    return tuple(out), tuple(out_kinds)


def broadcast_node(node: Node, shape: Shape, name: str = "broadcast_to") -> Node:
    """The value repeated to a shape (stride 0: no copy); itself where it has the shape."""
    if node.shape == shape:
        return node
    lead = len(shape) - len(node.shape)
    fits = lead >= 0 and all(
        have in (1, want) for have, want in zip(node.shape, shape[lead:], strict=True)
    )
    if not fits:
        raise mismatch(name, [node.shape, shape])
    attr = tuple(
        (-1, 0, 0) if have == 1 and shape[lead + dim] != 1 else (lead + dim, 0, 1)
        for dim, have in enumerate(node.shape)
    )
    return trace.record(Node(VIEW, "", (node,), node.dtype, shape, attr))


def iota(count: int) -> Node:
    """0, 1, ..., count - 1 as int64."""
    args = (scalar(0, INT64), scalar(1, INT64))
    return trace.record(Node(IOTA, "", args, INT64, (count,)))


def placed(node: Node, axis: int, rank: int) -> Node:
    """A one-dimensional value along one axis of several, the others of extent 1."""
    if rank == 1:
        return node
    shape = tuple(node.shape[0] if dim == axis else 1 for dim in range(rank))
    return trace.record(Node(VIEW, "", (node,), node.dtype, shape, ((axis, 0, 1),)))
