"""The operators, recorded fast: one table look-up, one node, one handle.

Anything but two arrays of one shape, or an array and a Python number, goes the general way
through `record`.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, methodcaller, ne
from typing import Any

import numpy as np

from fusewright._core import native
from fusewright.base.errors import UnsupportedError
from fusewright.frontends.arrays import agreement, core, inplace, opaque, trace
from fusewright.frontends.arrays.core import Handle, wrap
from fusewright.frontends.arrays.dtypes import CONVERT, DEFAULT, result_rule
from fusewright.frontends.arrays.record import (
    is_square,
    kind_of,
    looks_at_values,
    map_node,
    node_of,
)
from fusewright.frontends.arrays.strangers import (
    PYTHON,
    STRANGER,
    defers,
    divided,
    divides,
    is_repeated,
    is_stranger,
    overrides,
    refused_in_place,
)
from fusewright.ir.dtypes import BOOL, DType
from fusewright.ir.graph import MAP, SCALAR, Node
from fusewright.ir.ops import MAP as ROWS

# NumPy's == and != answer also where its ufuncs refuse (arrays and strings).
PYTHON_COMPARISONS: dict[str, Callable[..., Any]] = {"equal": eq, "not_equal": ne}
Method = Callable[..., Any]


class Op:
    """What is known of one operation: the result's type by the operands', and with a Python number
    (by the array's type, the number's class, and whether it comes first) also the type and the
    conversion of the number.  `general` does what is not known yet, and says what it found.
    """

    __slots__ = ("general", "meaning", "name", "one", "two", "weak")

    def __init__(self, name: str, general: Method, meaning: Method | None = None) -> None:
        self.name = name
        self.general = general
        self.meaning = meaning
        self.one: dict[DType, DType] = {}
        self.two: dict[tuple[DType, DType], DType] = {}
        self.weak: dict[Any, tuple[DType, DType, Callable[[Any], Any] | None]] = {}

    def learn(self, *dtypes: DType) -> None:
        """The types of one or two operands, and the result's."""
        if len(dtypes) == 2:
            self.one[dtypes[0]] = dtypes[1]
        else:
            self.two[dtypes[0], dtypes[1]] = dtypes[2]

    def learn_weak(
        self,
        dtype: DType,
        kind: type,
        reflected: bool,
        result: DType,
        scalar: DType,
        convert: Callable[[Any], Any] | None,
    ) -> None:
        """An array's type and a number's class: the result's type, the number's, its conversion."""
        self.weak[dtype, kind, reflected] = (result, scalar, convert)

    def __call__(self, left: Any, *right: Any) -> Any:
        if not right:
            return self._of_one(left)
        if isinstance(left, Handle):
            return self.of_two(left, right[0], False)
        return self.of_two(right[0], left, True)

    def _of_one(self, operand: Any) -> Any:
        if type(operand) not in core.handle_classes:
            return self.general(operand)
        node = operand._node
        dtype = self.one.get(node.dtype)
        if dtype is None:
            return self.general(operand)
        return wrap(trace.record(Node(MAP, self.name, (node,), dtype, node.shape)))

    def of_two(self, array: Any, other: Any, reflected: bool) -> Any:
        """An array and an operand of any kind."""
        node = array._node
        shape = node.shape
        if type(other) in core.handle_classes:  # not `__class__`: lazy scalars say NumPy's
            second = other._node
            key = (second.dtype, node.dtype) if reflected else (node.dtype, second.dtype)
            dtype = self.two.get(key)
            if dtype is None or second.shape != shape:
                return self.general(array, other, reflected)
        else:
            found = self.weak.get((node.dtype, type(other), reflected))
            if found is None or (self.name == "power" and is_square(array, other)):
                return self.general(array, other, reflected)
            dtype, scalar_dtype, convert = found
            try:
                value = other if convert is None else convert(other)
            except OverflowError:
                return self.general(array, other, reflected)
            second = Node(SCALAR, "", (), scalar_dtype, (), (), value)
        args = (second, node) if reflected else (node, second)
        return wrap(trace.record(Node(MAP, self.name, args, dtype, shape)))


if native is not None:
    Op = native.Op  # type: ignore[misc]

NUMBERS = (bool, int, float, complex, np.float64)
"""Classes of numbers whose types are remembered."""
ops: dict[str, Any] = {}


def op_of(name: str) -> Any:
    """The one `Op` of a name with one or two operands."""
    found = ops.get(name)
    if found is None:
        general = _one_general if ROWS[name].arity == 1 else _two_general
        meaning = PYTHON_COMPARISONS.get(name, ROWS[name].meaning)
        found = ops[name] = Op(name, general(name), meaning)
    return found


def _one_general(name: str) -> Method:
    def general(operand: Any) -> Any:
        try:
            result = wrap(map_node(name, operand))
        except agreement.REFUSALS as error:
            return agreement.settled(error, name, ROWS[name].meaning, (operand,), {})
        if isinstance(operand, Handle):
            ops[name].learn(operand._dtype, result._dtype)
        return result

    return general


def _two_general(name: str) -> Method:
    """Any operands; what was found out about their types is remembered."""
    function = PYTHON_COMPARISONS.get(name, ROWS[name].meaning)

    def general(self: Handle, other: Any, reflected: bool) -> Any:
        if defers(other) or (name == "multiply" and is_repeated(self, other)):
            return NotImplemented
        left, right = (other, self) if reflected else (self, other)
        if is_stranger(other):
            return opaque.delegate(name, PYTHON[name], (left, right), why=STRANGER)
        if overrides(other):
            return ROWS[name].meaning(left, right)  # NumPy asks the other's `__array_ufunc__`
        if type(other) is core.masked_class and not self._shape and not name.endswith("power"):
            return NotImplemented  # a number meets elements under a mask: their operator knows how
        try:
            result = wrap(map_node(name, left, right))
        except UnsupportedError:
            return opaque.delegate(name, function, (left, right), why=opaque.foreign(left, right))
        except agreement.REFUSALS as error:
            return agreement.settled(error, name, function, (left, right), {})
        _learn(ops[name], self, other, reflected, result._dtype)
        return result

    return general


def _learn(op: Any, self: Handle, other: Any, reflected: bool, result: DType) -> None:
    """Remember the types of two operands, but for those whose values have to be looked at."""
    left, right = (other, self) if reflected else (self, other)
    if op.name == "power" and is_square(left, right):
        op_of("square").learn(result, result)
        return
    if looks_at_values(op.name, kind_of(left), kind_of(right)):
        return
    if type(other) is np.ndarray and not other.ndim:
        other = other[()]
    if isinstance(other, Handle | np.ndarray):
        op.learn(kind_of(left), kind_of(right), result)
    elif type(other) in DEFAULT or isinstance(other, np.generic):
        kinds = (kind_of(left), kind_of(right))
        if isinstance(other, np.generic):
            op.learn(*kinds, result)
        dtype, wanted = result_rule(op.name, kinds)
        scalar = wanted[not reflected]
        convert = _converter(type(other), scalar)
        op.learn_weak(self._dtype, type(other), reflected, dtype, scalar, convert)


def learn_where(x: Any, y: Any) -> None:
    """Remember the types of `where` of values that have a type and a Python number."""
    for value, number, reflected in ((x, y, False), (y, x, True)):
        kind = kind_of(value)
        if isinstance(kind, DType) and type(number) in NUMBERS:
            pair = kind, kind_of(number)
            dtype, wanted = result_rule("where", (BOOL, *(pair[::-1] if reflected else pair)))
            scalar = wanted[1 if reflected else 2]
            convert = _converter(type(number), scalar)
            op_of("where").learn_weak(kind, type(number), reflected, dtype, scalar, convert)


def _converter(kind: type, dtype: DType) -> Callable[[Any], Any] | None:
    """From a scalar operand to a run-time parameter."""
    if issubclass(kind, np.generic) and dtype is not BOOL:  # of that logical loops take the truth
        return methodcaller("item")
    if (kind is float and dtype.kind == "f") or kind is bool:
        return None
    if dtype.kind == "f":
        return float
    convert = CONVERT[dtype.kind]
    return lambda value: convert(value, dtype)


def make_operator(name: str, reflected: bool = False) -> Method:
    """The method of one binary operator."""
    op = op_of(name)

    def operator(self: Handle, other: Any) -> Any:
        return op.of_two(self, other, reflected)

    operator.__name__ = operator.__qualname__ = name
    return operator


def make_function(name: str) -> Method:
    """The method of one unary operator."""
    op = op_of(name)

    def operator(self: Handle) -> Any:
        return op(self)

    operator.__name__ = operator.__qualname__ = name
    return operator


def make_inplace(binary: Method) -> Method:
    """The method of one in-place operator: the value is computed first, then written."""

    def operator(self: Handle, other: Any) -> Any:
        try:
            inplace.check_writable(self)
            result = refused_in_place(binary.__name__, self, other, None)
            if result is not NotImplemented:
                return result
            result = binary(self, other)
            if result is not NotImplemented:
                store(self, result)
                return self
        except agreement.REFUSALS as error:
            return refused_in_place(binary.__name__, self, other, error)
        return result

    operator.__name__ = operator.__qualname__ = f"inplace {binary.__name__}"
    return operator


def store(handle: Handle, result: Any) -> None:
    """Write what an in-place operator computed."""
    inplace.store(handle, result._node if isinstance(result, Handle) else node_of(result))


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


def power(self: Any, exponent: Any, modulus: Any = None) -> Any:
    """`self ** exponent`; common exponents have ops of their own, as in NumPy."""
    if modulus is not None:
        return NotImplemented
    kind = type(exponent)
    if kind is not int and kind is not float and hasattr(kind, "_record_as"):
        kind, exponent = float, float(exponent)  # which op it is depends on the value
    if kind is int or kind is float:
        short = SHORT_POWERS.get((self._dtype.kind, kind), {}).get(exponent)
        if short is not None:
            return short(self)
    elif kind in (np.ndarray, list, tuple) or isinstance(exponent, np.generic):
        return _power_by_one(self, exponent)
    return general_power(self, exponent)


def _power_by_one(self: Any, exponent: Any) -> Any:
    """A power by an array or a number of NumPy's: of the one exponent 0.5 NumPy takes the root."""
    value = np.asarray(exponent)
    if value.size != 1 or value.dtype.kind != "f" or value.item() != 0.5:
        return general_power(self, exponent)
    return _sqrt(_multiply(self, np.ones_like(value)))


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

    __divmod__, __rdivmod__ = divided, divides


def _power(array: Any, other: Any, reflected: bool) -> Any:
    """What `**` means, as the native core asks it."""
    return op_of("power").of_two(array, other, True) if reflected else power(array, other)


if native is not None:
    _POWER = native.Op("power", _power)
    NATIVE = (
        "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "bitwise_and",
        "bitwise_or", "bitwise_xor", "left_shift", "right_shift", _POWER, "less", "less_equal",
        "equal", "not_equal", "greater", "greater_equal", "negative", "positive", "absolute",
        "invert", "square",
    )  # fmt: skip
    native.set_operators(
        tuple(op_of(each) if isinstance(each, str) else each for each in NATIVE),
        inplace.check_writable,
        store,
        NUMBERS,
        refused_in_place,
    )

    class NativeOperators(native.Operators):  # type: ignore[misc]
        """Python's operators, compiled ahead of time but for the rarest."""

        __slots__ = ()
        __array_priority__ = 1000.0
        __ipow__ = make_inplace(power)

        __divmod__, __rdivmod__ = divided, divides

    Operators = NativeOperators  # type: ignore[misc]
