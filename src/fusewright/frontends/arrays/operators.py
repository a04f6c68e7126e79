"""The operators, recorded fast: one table look-up, one node, one handle.

Anything but two arrays of one shape, or an array and a Python number, goes the general way
through `record`.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, methodcaller, ne
from typing import Any

import numpy as np

from fusewright.base.errors import OverflowIntError, UnsupportedError, ValueRangeError
from fusewright.frontends.arrays import core, inplace, opaque, trace
from fusewright.frontends.arrays.core import Handle, wrap
from fusewright.frontends.arrays.dtypes import CONVERT, DEFAULT, result_rule
from fusewright.frontends.arrays.record import kind_of, map_node, node_of
from fusewright.ir.dtypes import BOOL, DType
from fusewright.ir.graph import MAP, SCALAR, Node
from fusewright.ir.ops import MAP as ROWS

# NumPy's == and != answer also where its ufuncs refuse (arrays and strings).
PYTHON_COMPARISONS: dict[str, Callable[..., Any]] = {"equal": eq, "not_equal": ne}
Method = Callable[..., Any]
_new = object.__new__
_blank = Node.__new__
_pending = trace.pending
_append = trace.pending.append
Weak = dict[tuple[DType, type], tuple[DType, DType, Callable[[Any], Any] | None]]


def make_operator(name: str, reflected: bool = False) -> Method:
    """The method of one binary operator."""
    table: dict[tuple[DType, DType], DType] = {}
    weak: Weak = {}

    def operator(self: Handle, other: Any) -> Any:
        kind = type(other)  # not `__class__`: lazy scalars answer with NumPy's
        node = self._node
        shape = node.shape
        if kind in core.handle_classes:
            second = other._node
            theirs = second.shape
            dtype = table.get((node.dtype, second.dtype))
            if dtype is None or (theirs is not shape and theirs != shape):
                return _general(name, reflected, table, weak, self, other)
        else:
            found = weak.get((node.dtype, kind))
            if found is None:
                return _general(name, reflected, table, weak, self, other)
            dtype, scalar_dtype, convert = found
            try:
                value = other if convert is None else convert(other)
            except OverflowIntError:
                return _general(name, reflected, table, weak, self, other)
            second = Node(SCALAR, "", (), scalar_dtype, (), (), value)
        # What Node(MAP, name, args, dtype, shape) does, without the call: 60 ns of 400.
        result = _blank(Node)
        result.kind = MAP
        result.op = name
        result.args = (second, node) if reflected else (node, second)
        result.dtype = dtype
        result.shape = shape
        result.attr = ()
        result.value = result.line = None
        result.demands = 0
        _append(result)
        if len(_pending) > trace.gate:
            trace.passed_gate(result)
        handle = _new(core.array_class if shape else core.scalar_class)
        handle._node = result
        handle._flags = 0
        return handle

    operator.__name__ = operator.__qualname__ = name
    return operator


def _general(
    name: str, reflected: bool, table: dict[Any, DType], weak: Weak, self: Handle, other: Any
) -> Any:
    """Any operands; what was found out about their types is remembered for the fast way."""
    if _defers(other):
        return NotImplemented
    left, right = (other, self) if reflected else (self, other)
    if overrides(other):
        return ROWS[name].meaning(left, right)  # NumPy asks the other's `__array_ufunc__`
    if type(other) is core.masked_class and not self._shape and not name.endswith("power"):
        return NotImplemented  # a number meets elements under a mask: their operator knows how
    try:
        result = wrap(map_node(name, left, right))
    except UnsupportedError:
        function = PYTHON_COMPARISONS.get(name, ROWS[name].meaning)
        return opaque.delegate(name, function, (left, right), why="a type NumPy alone knows")
    kind = type(other)
    if isinstance(other, Handle):
        table[self._dtype, other._dtype] = result._dtype
    elif kind in DEFAULT or isinstance(other, np.generic):
        dtype = self._dtype
        kinds = (kind_of(other), dtype) if reflected else (dtype, kind_of(other))
        rule, wanted = result_rule(name, kinds)
        weak[dtype, kind] = (rule, wanted[not reflected], _converter(kind, wanted[not reflected]))
    return result


def _converter(kind: type, dtype: DType) -> Callable[[Any], Any] | None:
    """From a scalar operand to a run-time parameter."""
    if issubclass(kind, np.generic):
        return methodcaller("item")
    if (kind is float and dtype.kind == "f") or kind is bool:
        return None
    if dtype.kind == "f":
        return float
    convert = CONVERT[dtype.kind]
    return lambda value: convert(value, dtype)


def _defers(other: Any) -> bool:
    """Whether Python shall ask the other operand's own method (NumPy's rule)."""
    kind = type(other)
    if kind in DEFAULT or isinstance(other, Handle | np.ndarray | np.generic | list | tuple):
        return False
    missing = object()
    if getattr(kind, "__array_ufunc__", missing) is missing:
        return float(getattr(other, "__array_priority__", -1.0)) > Operators.__array_priority__
    return kind.__array_ufunc__ is None


def overrides(operand: Any) -> bool:
    """Whether another library decides what a ufunc of this operand means."""
    kind = type(operand)
    if kind in DEFAULT or issubclass(kind, Handle):
        return False
    protocol = getattr(kind, "__array_ufunc__", None)
    return protocol is not None and protocol is not np.ndarray.__array_ufunc__


def make_function(name: str) -> Method:
    """The method of one unary operator."""
    table: dict[DType, DType] = {}

    def operator(self: Handle) -> Any:
        node = self._node
        dtype = table.get(node.dtype)
        if dtype is None:
            dtype = table[node.dtype] = result_rule(name, (node.dtype,))[0]
        result = _blank(Node)  # as above
        result.kind = MAP
        result.op = name
        result.args = (node,)
        result.dtype = dtype
        result.shape = shape = node.shape
        result.attr = ()
        result.value = result.line = None
        result.demands = 0
        _append(result)
        if len(_pending) > trace.gate:
            trace.passed_gate(result)
        handle = _new(core.array_class if shape else core.scalar_class)
        handle._node = result
        handle._flags = 0
        return handle

    operator.__name__ = operator.__qualname__ = name
    return operator


def where_arrays(condition: Any, x: Any, y: Any) -> Any:
    """`where` of three arrays of one shape and two types; None for anything else."""
    known = core.handle_classes
    if type(condition) in known and type(x) in known and type(y) in known:
        args = (condition._node, x._node, y._node)
        first, node, second = args
        shape, dtype = node.shape, node.dtype
        fits = first.shape == shape == second.shape and shape
        if fits and dtype is second.dtype and first.dtype is BOOL:
            result = Node(MAP, "where", args, dtype, shape)
            _append(result)
            if len(_pending) > trace.gate:
                trace.passed_gate(result)
            return core.wrap_array(result)
    return None


def make_inplace(binary: Method) -> Method:
    """The method of one in-place operator: the value is computed first, then written."""

    def operator(self: Handle, other: Any) -> Any:
        inplace.check_writable(self)
        result = binary(self, other)
        if result is NotImplemented:
            return result
        inplace.store(self, result._node if isinstance(result, Handle) else node_of(result))
        return self

    operator.__name__ = operator.__qualname__ = f"inplace {binary.__name__}"
    return operator


_add, _subtract, _multiply, _divide, _floor_divide, _remainder = map(
    make_operator, ("add", "subtract", "multiply", "divide", "floor_divide", "remainder")
)
general_power, _and, _or, _xor, _left, _right = map(
    make_operator,
    ("power", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"),
)
_square, _sqrt, _reciprocal, _positive = map(
    make_function, ("square", "sqrt", "reciprocal", "positive")
)


def _cube(self: Any) -> Any:
    return _multiply(_square(self), self)


FLOAT_POWERS: dict[float, Method] = {
    -1.0: _reciprocal,
    0.5: _sqrt,
    1.0: _positive,
    2.0: _square,
    3.0: _cube,
}
INTEGER_POWERS: dict[float, Method] = {1.0: _positive, 2.0: _square, 3.0: _cube}
SHORT_POWERS = {
    ("f", int): FLOAT_POWERS,
    ("f", float): FLOAT_POWERS,
    ("c", int): FLOAT_POWERS,
    ("c", float): FLOAT_POWERS,
    ("i", int): INTEGER_POWERS,
    ("u", int): INTEGER_POWERS,
    ("b", int): {2.0: _square},
}


def power(self: Any, exponent: Any) -> Any:
    """`self ** exponent`; common Python exponents have ops of their own, as in NumPy."""
    if hasattr(type(exponent), "_record_as"):
        exponent = float(exponent)  # which op it is depends on the value
    kind = type(exponent)
    if kind is int or kind is float:
        letter = self._dtype.kind
        short = SHORT_POWERS.get((letter, kind), {}).get(exponent)
        if short is not None:
            return short(self)
        if kind is int and exponent < 0 and letter in "biu":
            raise _negative_power(exponent)
    return general_power(self, exponent)


def _negative_power(exponent: int) -> Exception:
    return ValueRangeError(
        "Integers to negative integer powers are not allowed.",
        why=f"the exponent is {exponent}, and the result would not be an integer",
        help="convert the array to float first",
    )


class Operators(Handle):
    """Python's operators."""

    __slots__ = ()
    __array_priority__ = 1000.0

    __add__, __radd__, __iadd__ = _add, make_operator("add", True), make_inplace(_add)
    __sub__, __rsub__ = _subtract, make_operator("subtract", True)
    __isub__ = make_inplace(_subtract)
    __mul__, __rmul__ = _multiply, make_operator("multiply", True)
    __imul__ = make_inplace(_multiply)
    __truediv__, __rtruediv__ = _divide, make_operator("divide", True)
    __itruediv__ = make_inplace(_divide)
    __floordiv__, __rfloordiv__ = _floor_divide, make_operator("floor_divide", True)
    __ifloordiv__ = make_inplace(_floor_divide)
    __mod__, __rmod__ = _remainder, make_operator("remainder", True)
    __imod__ = make_inplace(_remainder)
    __pow__, __rpow__, __ipow__ = power, make_operator("power", True), make_inplace(power)
    __and__, __rand__, __iand__ = _and, make_operator("bitwise_and", True), make_inplace(_and)
    __or__, __ror__, __ior__ = _or, make_operator("bitwise_or", True), make_inplace(_or)
    __xor__, __rxor__, __ixor__ = _xor, make_operator("bitwise_xor", True), make_inplace(_xor)
    __lshift__, __rlshift__ = _left, make_operator("left_shift", True)
    __ilshift__ = make_inplace(_left)
    __rshift__, __rrshift__ = _right, make_operator("right_shift", True)
    __irshift__ = make_inplace(_right)
    __eq__, __ne__ = make_operator("equal"), make_operator("not_equal")
    __lt__, __le__ = make_operator("less"), make_operator("less_equal")
    __gt__, __ge__ = make_operator("greater"), make_operator("greater_equal")
    __neg__, __pos__ = make_function("negative"), _positive
    __abs__, __invert__ = make_function("absolute"), make_function("invert")

    __hash__ = None  # type: ignore[assignment]

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return _floor_divide(self, other), _remainder(self, other)

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return Operators.__rfloordiv__(self, other), Operators.__rmod__(self, other)
