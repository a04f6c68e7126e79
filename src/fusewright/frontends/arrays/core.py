"""The handle all of this package works on: a mutable name for an immutable recorded value.

`Handle` is the storage of the public `Array`; functions of this package take handles and make new
ones with `wrap`.  The public classes are built on top of those functions, so `handle` puts them
into the slots below when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright._core import native
from fusewright.frontends.arrays import trace
from fusewright.ir.dtypes import DType
from fusewright.ir.graph import MAP, Node

READ_ONLY = 1
OWNS, TURNED = 2, 4
"""A view that is the only name of the memory it shows (see `layouts`); one of a whole array, its
dims in another order.
"""

private: Callable[[Node], Node] = None  # type: ignore[assignment]
"""What a function that gives its operand back makes a new value of: `sharing.private`.  The extreme
of one element is the element, and its memory may be somebody else's.
"""


class Handle:
    """A name for a value.  A root owns its value; a `View` finds it in another handle's (see
    `handle.View`).
    """

    __slots__ = ("_node", "_flags", "__weakref__")

    _node: Node
    _flags: int
    _base: Handle | None = None

    @property
    def _dtype(self) -> DType:
        return self._node.dtype

    @property
    def _shape(self) -> tuple[int, ...]:
        return self._node.shape

    def _write(self, node: Node) -> None:
        """The handle's new value: same shape, same dtype."""
        raise NotImplementedError


if native is not None:  # the same, compiled ahead of time
    Handle = native.Handle  # type: ignore[misc]

_new = Handle.__new__

if TYPE_CHECKING:

    class ViewHandle(Handle):
        """What `handle.View` keeps: whose value it shows (`_base`), by which `views.Link`, and the
        value of a version of that.
        """

        _base: Handle
        _link: Any
        _version: Node | None
        _cached: Any


array_class: type[Handle] = None  # type: ignore[assignment]
scalar_class: type[Handle] = None  # type: ignore[assignment]
view_class: type[ViewHandle] = None  # type: ignore[assignment]
masked_class: type[Handle] = None  # type: ignore[assignment]
handle_classes: frozenset[type] = frozenset()
"""Those whose value is recorded: an operator may take `_node` without a second thought."""


lay_out: Callable[[Node], Handle] = None  # type: ignore[assignment]
"""What makes an array of a value that is not to lie in C order: `layouts.laid_out`."""


def wrap(node: Node) -> Handle:
    """A new handle on a recorded value: an array, or a lazy scalar for a result without
    dimensions (as in NumPy).
    """
    if node.layout is not None:
        return lay_out(node)
    handle = _new(array_class if node.shape else scalar_class)
    handle._node = private(node)
    handle._flags = 0
    return handle


def wrap_array(node: Node) -> Handle:
    """A new array, also where it has no dimensions."""
    return array_on(private(node)) if node.layout is None else lay_out(node)


def array_on(node: Node) -> Handle:
    """A new array that owns a value."""
    handle = _new(array_class)
    handle._node = node
    handle._flags = 0
    return handle


def record(
    kind: int,
    args: tuple[Node, ...],
    dtype: DType,
    shape: tuple[int, ...],
    attr: Any = (),
    op: str = "",
    value: Any = None,
) -> Node:
    """Record one operation."""
    return trace.record(Node(kind, op, args, dtype, shape, attr, value))


def cast(node: Node, dtype: DType) -> Node:
    """The value in another element type; the value itself where it has it already."""
    if node.dtype is dtype:
        return node
    return record(MAP, (node,), dtype, node.shape, op="cast")


if native is not None:
    wrap = native.wrap


def evaluate(*handles: Handle) -> None:
    """Compute the values of several arrays at once."""
    trace.evaluate(*(handle._node for handle in handles))


def handles_in(value: Any) -> list[Handle]:
    """The arrays and lazy numbers in nested tuples, lists, dicts and dataclasses, in order."""
    found: list[Handle] = []
    _collect((value,), found, set())
    return found


def _collect(parts: Iterable[Any], found: list[Handle], opened: set[int]) -> None:
    for item in parts:
        if isinstance(item, Handle):
            found.append(item)
        elif type(item) not in _LEAVES and id(item) not in opened:
            opened.add(id(item))  # a list may hold itself
            _collect(_parts(item), found, opened)


_LEAVES = frozenset((float, int, bool, complex, str, bytes, type(None), np.ndarray))
"""What is looked at no further, to be quick."""


def _parts(value: Any) -> Iterable[Any]:
    """What a container holds."""
    if isinstance(value, tuple | list):
        return value
    if isinstance(value, dict):
        return value.values()
    fields = getattr(type(value), "__dataclass_fields__", ())
    return [getattr(value, name, None) for name in fields]
