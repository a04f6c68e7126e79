"""Boolean selection without evaluation: `z[m] = z[m] ** 2 + c[m]` recorded at full size.

How many elements a mask selects depends on the data, so `x[m]` has no recorded form.  What programs
do with it mostly has: functions of elements under one mask, stored under the same mask, are the
full-size functions stored with `where`.  A `Masked` handle remembers the full-size value and the
mask; any other use picks the elements out: few ones before the functions are computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import getitem
from typing import Any, NamedTuple

import numpy as np

from fusewright.base.figures import KERNEL_ELEMENTS
from fusewright.frontends.arrays import core, inplace, opaque, sharing, trace
from fusewright.frontends.arrays import dtypes as rules
from fusewright.frontends.arrays.core import Handle, cast, wrap_array
from fusewright.frontends.arrays.operators import Operators
from fusewright.ir.graph import (
    MAP,
    OPAQUE,
    REDUCE,
    SCALAR,
    VIEW,
    Node,
    is_shared,
    operands_first,
)

Method = Callable[..., Any]


PICK = "a[mask]"
"""What stands for the value of a `Masked` handle: a value and a mask, and nothing computes it."""
_VALUE = vars(Handle)["_node"]
_CLASS = vars(object)["__class__"]


class Under(NamedTuple):
    """What picks elements, and the full-size values that the program has picked them from."""

    mask: Node
    roots: tuple[Node, ...]

    def make(self, full: Node) -> Handle:
        """The elements of a value of the mask's shape."""
        handle = Handle.__new__(core.masked_class)
        handle._flags = 0
        self.hold(handle, full)
        return handle

    def hold(self, handle: Handle, full: Node) -> None:
        """The same in a handle that is there."""
        held = Node(OPAQUE, PICK, (full, self.mask), full.dtype, full.shape, self.roots)
        _VALUE.__set__(handle, held)


def _held(value: Any) -> Node | None:
    if type(value) is not core.masked_class:
        return None
    held: Node = _VALUE.__get__(value)
    return held if held.op == PICK else None  # another thread may pick meanwhile


def parts(value: Any) -> tuple[Node, Node] | None:
    """The full-size value and the mask of what has not been picked out."""
    held = _held(value)
    return None if held is None else held.args  # type: ignore[return-value]


def alike(handle: Any, full: Node) -> Handle:
    """Other elements picked as those of a handle are."""
    held = _held(handle)
    assert held is not None, "of what has not been picked out"
    return Under(held.args[1], held.attr).make(full)


def node_of(handle: Handle) -> Node:
    """The elements picked out: the handle is an array like any other from then on."""
    held = _held(handle)
    if held is not None:
        full, mask = held.args
        become(handle, _picked_early(full, mask, held.attr) or picked(full, mask))
    return _VALUE.__get__(handle)  # type: ignore[no-any-return]


def _is_of_few(mask: Node) -> bool:
    """Extents decide, as a sum of what is picked out has another order."""
    return math.prod(mask.shape) <= KERNEL_ELEMENTS and not trace.is_lazy()


def is_picked_to_reduce(value: Any) -> bool:
    """Whether elements under a mask have been picked out now: where all elements are few, that is
    done before a kernel for them has been started.
    """
    found = parts(value)
    if found is None or not _is_of_few(found[1]):
        return False
    node_of(value)
    return True


def is_picked_for(target: Handle, value: Any) -> bool:
    """Whether what is written under a mask to a part of an array is picked out first.  What is
    recorded there goes through the whole array.
    """
    found = parts(value)
    if found is None or type(target) is not core.view_class:
        return False
    return _is_of_few(found[1])


def become(handle: Handle, node: Node) -> None:
    """An array of that value, in the place of a `Masked` one."""
    _VALUE.__set__(handle, node)
    _CLASS.__set__(handle, core.array_class)


def select(node: Node, mask: Node) -> Any:
    """`x[m]`: remembered where the mask has the array's shape, else picked out now."""
    if node.shape and mask.shape == node.shape and not _is_visible(node, mask):
        return Under(mask, (node,)).make(node)
    return wrap_array(picked(node, mask))


def _is_visible(*nodes: Node) -> bool:
    """Whether somebody outside can write to one of the values meanwhile."""
    return any(map(is_shared, nodes))


def picked(node: Node, mask: Node) -> Node:
    """The elements under a mask: their number depends on the data, so NumPy picks them now."""
    trace.evaluate(node, mask)
    values, chosen = sharing.content_of(node), sharing.content_of(mask)
    chosen = opaque.in_numpy("a[mask]", getitem, values, chosen)
    return sharing.owned(chosen)


FEW = 4
"""One element of so many is few: picking them out of several values costs less than computing
all."""
MANY = 64
"""Functions that are not looked through."""


def _picked_early(full: Node, mask: Node, roots: tuple[Node, ...]) -> Node | None:
    """The functions of elements that are picked out first: of one value, or few of several; None
    where the functions look at more than elements.
    """
    if full in roots or trace.is_held():
        return None
    trace.evaluate(mask)
    count = int(np.count_nonzero(sharing.content_of(mask)))
    if len(roots) > 1 and count * FEW > math.prod(mask.shape):
        return None
    functions = _functions(full, roots)
    if functions is None:
        return None
    trace.evaluate(*roots)
    made = {id(root): picked(root, mask) for root in roots}
    for node in functions:
        args = tuple(made.get(id(arg), arg) for arg in node.args)
        made[id(node)] = trace.record(Node(MAP, node.op, args, node.dtype, (count,), node.attr))
    return made[id(full)]


def _functions(full: Node, roots: tuple[Node, ...]) -> list[Node] | None:
    """What is computed of elements, operands first; None where it is much, or of something else."""
    found: list[Node] = []
    for node in operands_first((full,), roots):
        if node.shape and (node.kind != MAP or len(found) == MANY):
            return None
        if node.shape:
            found.append(node)
    return found


def is_same(mask: Node, other: Node) -> bool:
    """Whether two masks select the same elements: what they are computed from says it, or, as any
    other answer would need their values too, what is in them.
    """
    if mask is other:
        return True
    if mask.shape != other.shape:
        return False
    if is_alike(mask, other):
        return True
    return bool(np.array_equal(sharing.content_of(mask), sharing.content_of(other)))


def is_alike(node: Node, other: Node, depth: int = 8) -> bool:
    """Whether two values are surely the same, as `x > 0` written twice."""
    if node is other:
        return True
    kind = node.kind
    if kind != other.kind or kind not in REPEATABLE or not depth:
        return False
    if (node.op, node.dtype, node.shape) != (other.op, other.dtype, other.shape):
        return False
    if kind == SCALAR:
        return repr(node.value) == repr(other.value)
    pairs = zip(node.args, other.args, strict=True)
    return node.attr == other.attr and all(is_alike(a, b, depth - 1) for a, b in pairs)


REPEATABLE = frozenset((SCALAR, MAP, VIEW, REDUCE))
"""Kinds of values that their operation and operands determine."""


def full_size(value: Any, mask: Node) -> Node | None:
    """The value whose elements under the mask these are; None where they are not known to be."""
    found = parts(value)
    return found[0] if found is not None and is_same(found[1], mask) else None


def lifted(operands: tuple[Any, ...]) -> tuple[Under, tuple[Any, ...]] | None:
    """Operands under one mask as that mask and their full-size values; None where there is no such
    mask, or an operand is neither under it nor a single number.
    """
    held = [found for found in map(_held, operands) if found is not None]
    if not held:
        return None
    mask, out = held[0].args[1], list[Any]()
    for operand in operands:
        full = full_size(operand, mask)
        if full is not None:
            out.append(wrap_array(full))
        elif _is_number(operand):
            out.append(operand)
        else:
            return None
    roots = dict.fromkeys(root for found in held for root in found.attr)
    return Under(mask, tuple(roots)), tuple(out)


def _is_number(operand: Any) -> bool:
    kind = type(operand)
    if kind in rules.DEFAULT or kind is core.scalar_class or hasattr(kind, "_record_as"):
        return True
    if kind is core.array_class or kind is core.view_class:
        return not operand._shape
    return isinstance(operand, np.generic | np.ndarray) and operand.ndim == 0


def may_refuse(name: str, operands: tuple[Any, ...]) -> bool:
    """Whether NumPy refuses some values: only those that the mask selects may then be looked at."""
    exponent = operands[-1]
    return name == "power" and isinstance(exponent, Handle) and exponent._dtype.is_integer


def operator(method: Method) -> Method:
    """The method of one operator: at full size where the operands are under one mask."""

    def operate(*operands: Any) -> Any:
        found = lifted(operands)
        if found is None:
            return method(*operands)
        under, full = found
        result = method(*full)
        return under.make(result._node) if isinstance(result, Handle) else result

    operate.__name__ = operate.__qualname__ = method.__name__
    return operate


def _power(self: Any, exponent: Any, modulus: Any = None) -> Any:
    if modulus is not None:
        return NotImplemented
    return (_O.__pow__ if may_refuse("power", (exponent,)) else _lifted_power)(self, exponent)


def in_place(binary: Method, general: Method) -> Method:
    """The method of one in-place operator."""

    def operate(self: Any, other: Any) -> Any:
        inplace.check_writable(self)
        found = parts(self)
        both = None if found is None else lifted((self, other))
        if found is None or both is None:
            return general(self, other)  # which says what NumPy says first
        full = full_size(binary(self, other), found[1])
        if full is None:
            return general(self, other)
        rules.check_cast(full.dtype, found[0].dtype)
        both[0].hold(self, cast(full, found[0].dtype))
        return self

    operate.__name__ = operate.__qualname__ = general.__name__
    return operate


_O = Operators
_add, _sub, _mul, _div = map(operator, (_O.__add__, _O.__sub__, _O.__mul__, _O.__truediv__))
_floor, _mod, _lifted_power = map(operator, (_O.__floordiv__, _O.__mod__, _O.__pow__))
_and, _or, _xor = map(operator, (_O.__and__, _O.__or__, _O.__xor__))
_left, _right = map(operator, (_O.__lshift__, _O.__rshift__))


class MaskedOperators:
    """Python's operators on elements under a mask."""

    __slots__ = ()

    __add__, __radd__, __iadd__ = _add, operator(_O.__radd__), in_place(_add, _O.__iadd__)
    __sub__, __rsub__, __isub__ = _sub, operator(_O.__rsub__), in_place(_sub, _O.__isub__)
    __mul__, __rmul__, __imul__ = _mul, operator(_O.__rmul__), in_place(_mul, _O.__imul__)
    __truediv__, __rtruediv__ = _div, operator(_O.__rtruediv__)
    __itruediv__ = in_place(_div, _O.__itruediv__)
    __floordiv__, __rfloordiv__ = _floor, operator(_O.__rfloordiv__)
    __ifloordiv__ = in_place(_floor, _O.__ifloordiv__)
    __mod__, __rmod__, __imod__ = _mod, operator(_O.__rmod__), in_place(_mod, _O.__imod__)
    __pow__, __ipow__ = _power, in_place(_power, _O.__ipow__)
    __and__, __rand__, __iand__ = _and, operator(_O.__rand__), in_place(_and, _O.__iand__)
    __or__, __ror__, __ior__ = _or, operator(_O.__ror__), in_place(_or, _O.__ior__)
    __xor__, __rxor__, __ixor__ = _xor, operator(_O.__rxor__), in_place(_xor, _O.__ixor__)
    __lshift__, __ilshift__ = _left, in_place(_left, _O.__ilshift__)
    __rshift__, __irshift__ = _right, in_place(_right, _O.__irshift__)
    __eq__, __ne__ = operator(_O.__eq__), operator(_O.__ne__)
    __lt__, __le__ = operator(_O.__lt__), operator(_O.__le__)
    __gt__, __ge__ = operator(_O.__gt__), operator(_O.__ge__)
    __neg__, __pos__ = operator(_O.__neg__), operator(_O.__pos__)
    __abs__, __invert__ = operator(_O.__abs__), operator(_O.__invert__)

    __hash__ = None  # type: ignore[assignment]
