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
from types import EllipsisType
from typing import Any

import numpy as np

from fusewright._core import native
from fusewright.base.figures import COPIED_ELEMENTS, MOVED_ELEMENTS, USED_ELEMENTS
from fusewright.base.options import current
from fusewright.frontends.arrays import core, sharing, trace
from fusewright.frontends.arrays.core import Handle
from fusewright.frontends.arrays.dtypes import RANGES
from fusewright.frontends.arrays.views import Link, Places, Slice, nearest, root_of
from fusewright.ir.dtypes import FLOAT16, FLOAT32, FLOAT64, DType, from_numpy
from fusewright.ir.graph import ASSEMBLE, LEAF, MAP, SCALAR, VIEW, Memory, Node
from fusewright.ir.order import LANES, SHORT, sum_last

NDArray = np.ndarray[Any, np.dtype[Any]]

KINDS = "biufc"
REAL = frozenset((float, int, bool, *(np.dtype(c).type for c in "?bBhHiIlLqQefd")))
"""Values that are written as they are."""
PLAIN = frozenset((int, slice, EllipsisType, np.int64))
"""Subscripts that name a region without any array."""
DEPTH = 8
"""Operations on top of each other that are computed at once: more are worth a kernel."""
LIGHT = 128
"""Operations behind a number that is computed when it is written into an array."""
RECORDED = 12
"""Small library steps of a program that are recorded like all others."""
FILLING = 4
"""Writes of single elements in a row after which an array is computed, to be filled in memory."""

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


def element(source: Node, places: Places) -> Any:
    """A single element of a value in memory, read now as NumPy's number; None where it has to be
    recorded.
    """
    if trace.is_held():
        return None
    if is_constant(source):
        return source.dtype.numpy.type(source.args[0].value)
    if source.kind != LEAF:
        return None
    memory, offset, strides = source.value
    for (_, start, _), stride in zip(places, strides, strict=True):
        offset += start * stride
    return _scalar(memory, source.dtype, offset)


def is_constant(node: Node) -> bool:
    """Whether a value is one number everywhere (`zeros`)."""
    return node.kind == VIEW and not node.attr and node.args[0].kind == SCALAR


def item(handle: Handle, key: int) -> Any:
    """`handle[key]` of a row in memory; None for any other handle, and out of bounds."""
    node = handle._node
    if node.kind != LEAF or len(node.shape) != 1 or trace.is_held():
        return None
    extent = node.shape[0]
    if key < 0:
        key += extent
    if not 0 <= key < extent:
        return None
    memory, offset, strides = node.value
    return _scalar(memory, node.dtype, offset + key * strides[0])


def _scalar(memory: Memory, dtype: DType, offset: int) -> Any:
    return np.ndarray((), dtype.numpy, memory.owner, offset)[()]


def _read(memory: Memory, dtype: DType, offset: int) -> Any:
    return np.ndarray((), dtype.numpy, memory.owner, offset).item()


def number(node: Node) -> Any:
    """A value without dims as a Python number; None where it takes a kernel to know it."""
    if node.kind == LEAF:
        return _read(node.value[0], node.dtype, node.value[1])
    if node.kind == SCALAR:
        return _rounded(node.value, node.dtype)
    if node.kind not in (MAP, VIEW) or trace.is_held() or current().contract:
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
        return _read(node.value[0], dtype, node.value[1])
    if kind == SCALAR:
        return _rounded(node.value, dtype)
    if kind == VIEW:
        read = element(node.args[0], node.attr)
        return None if read is None else read.item()
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
    if dtype is FLOAT16 or dtype.kind not in "iuf":
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
    root: Handle = handle
    link: Link | None = None
    if type(handle) is core.view_class and (
        type(handle._link) is Slice or handle._link.writes_through
    ):
        root, link = nearest(handle._base, handle._link)
    if type(root) is not core.array_class or trace.is_held():
        return False
    if root._node.kind == ASSEMBLE and _is_being_filled(root._node):
        trace.evaluate(root._node)
    if type(value) not in REAL:
        value = _known(value, handle)
        if value is None:
            return False
    if link is not None:
        sharing.forget_value(handle)  # it holds the node
    if not _is_alone(root):
        return False
    node = root._node
    if link is not None:
        node = link.get(node)
    return _moved(sharing.window(node), key, value)


def _moved(target: NDArray, key: Any, value: Any) -> bool:
    """Let NumPy write, where the region is small and NumPy agrees."""
    try:
        one = target.ndim == 1 and type(key) is int
        if not one and (not _is_plain(key) or target[key].size > MOVED_ELEMENTS):
            return False
        target[key] = value
    except (ArithmeticError, IndexError, TypeError, ValueError):
        return False  # the general way says what is wrong
    return True


def _is_plain(key: Any) -> bool:
    if type(key) is tuple:
        return all(type(entry) in PLAIN for entry in key)
    return type(key) in PLAIN


listeners: list[Any] = []
"""Who wants to hear of library steps (`opaque` tells them): then none is taken here."""


def library(function: Callable[..., Any], *operands: Handle) -> Any:
    """A step that NumPy runs anyhow, at once; None where operands are not computed yet or not
    small, and for the first ones of a program: a short one can be looked at as a whole.
    """
    for operand in operands:
        if not is_light(operand._node, USED_ELEMENTS):
            return None
    if listeners or current().strict or not is_now():
        return None
    trace.evaluate(*[sharing.stored_node(operand) for operand in operands])
    try:
        result = function(*[sharing.window(operand._node) for operand in operands])
    except (ArithmeticError, IndexError, TypeError, ValueError):
        return None  # the general way says what is wrong
    return result if not isinstance(result, np.ndarray) else adopt(result)


_steps = 0


def is_now() -> bool:
    """Whether small work need not be recorded: asked once for each step."""
    global _steps
    if trace.is_held() or not current().interpret or current().spans:
        return False
    _steps += _steps <= RECORDED
    return _steps > RECORDED


def total(left: Any, right: Any = None, mean: bool = False) -> Any:
    """The sum (or mean) of a short vector in memory, or of the products of two, in the order of
    compiled code (decision 0006); None where it is recorded.
    """
    nodes = [_short(left)] if right is None else [_short(left), _short(right)]
    first = nodes[0]
    if first is None or (mean and first.shape == (0,)):
        return None
    for node in nodes:
        if node is None or node.dtype is not first.dtype or node.shape != first.shape:
            return None
    if not is_now():
        return None
    values = [sharing.window(node) for node in nodes if node is not None]
    with np.errstate(all="ignore"):
        product = values[0] if right is None else values[0] * values[1]
        sum_ = sum_last(product, LANES[first.dtype])[()]
        return sum_ / sum_.dtype.type(len(product)) if mean else sum_


def _short(vector: Any) -> Node | None:
    """The value of a short vector in memory; of a part of what is not computed, that is first."""
    if type(vector) not in core.handle_classes or len(vector._shape) != 1:
        return None
    if vector._shape[0] > SHORT or vector._dtype not in LANES:
        return None
    if type(vector) is core.view_class and vector._node.kind != LEAF:
        base = vector._base._node
        if base.kind != LEAF and is_light(base, USED_ELEMENTS) and is_now():
            trace.evaluate(base)
    node: Node = vector._node
    return node if node.kind == LEAF else None


def adopt(result: NDArray) -> Any:
    """An array of what NumPy has just made; types without a row stay NumPy's."""
    if result.dtype.kind not in KINDS or from_numpy(result.dtype) is None:
        return result
    make = sharing.owned if result.base is None else sharing.copied
    return core.wrap_array(make(result))


def _known(value: Any, handle: Handle) -> Any:
    """An operand of ours whose values are known, as NumPy takes it."""
    if type(value) is core.scalar_class:
        known = number(value._node)
        waits = root_of(handle)._node.kind == LEAF and current().interpret  # for this number alone
        if known is None and waits and is_light(value._node):
            trace.evaluate(value._node)
            known = number(value._node)
        return known
    if type(value) not in core.handle_classes:
        return None
    node = value._node
    if (
        node.kind != LEAF
        or node.dtype is not handle._dtype
        or math.prod(node.shape) > MOVED_ELEMENTS
    ):
        return None
    return sharing.window(node)


def is_light(node: Node, most: int = MOVED_ELEMENTS) -> bool:
    """Whether a value is computed from few and small ones, so that nothing is gained by waiting."""
    seen, stack = {node}, [node]
    while stack:
        here = stack.pop()
        if len(seen) > LIGHT or math.prod(here.shape) > most:
            return False
        fresh = set(here.args) - seen
        seen |= fresh
        stack.extend(fresh)
    return True


def _is_alone(root: Handle) -> bool:
    """Whether the handle's value is in memory, and nobody else can see it."""
    node = root._node
    if node.kind == VIEW:
        return _gets_memory(root, node)
    if node.kind != LEAF:
        return False
    memory = node.value[0]
    # 3: the holder's reference, the variable's and the call's
    alone = getrefcount(root._node) <= 3 and getrefcount(node.value[0]) <= 3
    return alone and memory.writable and not memory.external


def gets_alone(handle: Handle, operands: tuple[Node, ...]) -> bool:
    """Compute an array and what is to be written into it; whether the array's memory may be
    written at once, because nobody else can see what it held.
    """
    root = root_of(handle)
    if type(root) is not core.array_class or trace.is_held():
        return False
    trace.evaluate(root._node, *operands)
    sharing.forget_value(handle)
    if not _is_alone(root):
        trace.release()  # what was computed on the way is dead, and still there
    return _is_alone(root) and handle._node.kind == LEAF


def _is_being_filled(node: Node) -> bool:
    """Whether the last few writes were of single elements: there will be more of them."""
    for _ in range(FILLING):
        if node.kind != ASSEMBLE or len(node.args) != 2 or math.prod(node.args[1].shape) > 1:
            return False
        node = node.args[0]
    return True


def _gets_memory(root: Handle, node: Node) -> bool:
    """Give a small constant (`zeros`) memory: it is about to be filled element by element."""
    if not is_constant(node) or math.prod(node.shape) > COPIED_ELEMENTS:
        return False
    value = np.full(node.shape, node.args[0].value, node.dtype.numpy)
    root._node = sharing.adopted(value)
    return True


def settle(handle: Handle) -> None:
    """Compute what is light, so that a number made of it is known at once."""
    node = handle._node
    if node.kind != LEAF and is_light(node) and is_now():
        trace.evaluate(node)


if native is not None:
    settle = native.settle
