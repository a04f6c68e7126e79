"""What a name or an expression of a kernel can stand for while it is translated."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import field
from enum import IntEnum
from types import FunctionType
from typing import Any, Literal

from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.ir.dtypes import DType
from fusewright.ir.expr import Expr

Origin = Literal["python", "numpy", "either"]
"""Whether CPython would hold a Python number or a NumPy scalar; `either` where both can come."""

Step = str | int
Path = tuple[Step, ...]
"""How an argument is reached: the parameter (or a captured name, with `@` before it), then
attributes and positions."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number known when the kernel runs, or a literal."""

    expr: Expr
    origin: Origin
    span: Span

    @property
    def dtype(self) -> DType:
        return self.expr.dtype

    @property
    def literal(self) -> Any:
        """The value of a literal Python number, else None."""
        constant = self.expr.name == "const" and self.origin == "python"
        return self.expr.attr if constant else None


@dataclass(frozen=True, slots=True)
class Free:
    """A dim of an array that a part of it keeps: its element k is at `offset + stride * k`.

    An extent below 0 means none.
    """

    offset: Expr
    extent: Expr
    stride: int = 1


@dataclass(frozen=True, slots=True)
class ArrayRef:
    """An array, or with `indices` a part of one: its leading dims are fixed.

    What slices cut out has a `window` instead: for each dim of the array a position or what is
    kept of it.
    """

    buffer: int
    indices: tuple[Expr, ...]
    extents: tuple[Expr, ...]
    dtype: DType
    name: str
    local: bool = False
    window: tuple[Expr | Free, ...] = ()

    @property
    def shape(self) -> tuple[Expr, ...]:
        if self.window:
            return tuple(part.extent for part in self.window if isinstance(part, Free))
        return self.extents[len(self.indices) :]


class Order(IntEnum):
    """What is known of how NumPy would lay an array out: nothing, that the last dim is the one
    whose elements are closest, or that all elements follow one another so.
    """

    UNKNOWN = 0
    ROWS = 1
    CONTIGUOUS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Elementwise:
    """What an operation on whole arrays gives: each element is computed where it is used.

    An extent below 0 means none, as in a loop's bounds.  It may be another form of a computed
    array, the `origin`.  One that is `live` shows what memory holds when it is used (`z.real`).
    """

    shape: tuple[Expr, ...]
    element: Callable[[tuple[Expr, ...]], Number]
    span: Span
    order: Order = Order.UNKNOWN
    origin: Elementwise | None = None
    live: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class View(Elementwise):
    """The memory of an array in another form: `a.T`, `a[:, None]`, `a.reshape(n, -1)`, `a.flat`.

    `target` gives the element of `base` at a place.  Where the memory's layout decides whether
    NumPy gives a view or a copy it is not `sure`: such a view is only read, and only until
    something is written.  `steps` lead from the base to it: `transpose` with axes, `reshape` with
    extents, `window` with what is kept of each dim, `diagonal` with its number.
    """

    base: ArrayRef = field(kw_only=True)
    target: Callable[[tuple[Expr, ...]], ArrayRef] = field(kw_only=True)
    steps: tuple[tuple[str, tuple[Any, ...]], ...] = field(kw_only=True)
    sure: bool = field(default=True, kw_only=True)

    @property
    def buffer(self) -> int:
        return self.base.buffer

    @property
    def dtype(self) -> DType:
        return self.base.dtype

    @property
    def name(self) -> str:
        return self.base.name

    @property
    def local(self) -> bool:
        return self.base.local


@dataclass(frozen=True, slots=True)
class SliceValue:
    """`low:high:step` as an index; None for what is not given.  A step that is computed is `by`."""

    low: Number | None
    high: Number | None
    step: int
    by: Number | None = None


@dataclass(frozen=True, slots=True)
class TupleValue:
    """A tuple of known length."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class NamedItems(TupleValue):
    """A named tuple from outside, all of whose items are constants."""

    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListValue(TupleValue):
    """A list display: to loop over, to index, to make an array of; nothing changes it.  Where
    something does, it is a `Growing` list: `span` says which.
    """

    span: Span = ("", 0, 0, 0)


@dataclass(slots=True)
class Items:
    """The memory of the numbers of a list, and their type."""

    key: tuple[Any, ...]
    buffer: int
    held: Any


@dataclass(slots=True, eq=False)
class Growing:
    """A list that statements change.

    `form` are its `Items`, or of tuples one for each place of theirs; None before the first item.
    `length` is the variable that counts them; `version` says how often that has been changed.
    """

    key: tuple[Any, ...]
    span: Span
    nesting: int
    length: int
    form: Any = None
    version: int = 0
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Static:
    """A Python object known while translating: a module, function, type, string or None."""

    value: Any


@dataclass(frozen=True, slots=True)
class Struct:
    """An object whose attributes are arguments."""

    path: Path
    kind: type


@dataclass(slots=True, eq=False)
class Record:
    """An object that the kernel makes or is handed in parts: what each of its attributes holds, a
    value or a variable (`joins.Slot`).

    Two names for it are one object, as in Python.  While it is being made, attributes are added in
    blocks of `depth`.
    """

    kind: type
    fields: dict[str, Any]
    depth: int = -1


@dataclass(frozen=True, slots=True)
class Bound:
    """A method and the object it is called on; `target` is what the class has under its name."""

    function: FunctionType
    instance: Value
    target: Any


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function or lambda that the kernel itself makes: it reads the names of the `frame` (of the
    translation) that it stands in, as they are when it is called.
    """

    tree: ast.FunctionDef
    frame: Any
    defaults: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Method:
    """An attribute of an array, or of a number, that can only be called."""

    array: ArrayRef | Elementwise | Number | Growing
    name: str


@dataclass(frozen=True, slots=True)
class Space:
    """What a `for` runs over: (low, high, step) for each dim; `order` says which loop is which.

    A `grouped` space gives one tuple, otherwise a single dim of `range` gives a number.  Iterations
    over a `declared` one are independent because somebody says so.
    """

    dims: tuple[tuple[Number, Number, Number], ...]
    order: tuple[int, ...]
    form: Literal["range", "ndrange", "grouped"]
    declared: bool = False


@dataclass(frozen=True, slots=True)
class Unrolled:
    """`fw.static(...)` of a sequence: a loop over it is written out."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Zipped:
    """Ranges and arrays side by side, as far as the shortest of them goes."""

    parts: tuple[Value, ...]


Value = (
    Number | ArrayRef | Elementwise | TupleValue | Growing | Static | Struct | Record | Bound
    | Closure | Method | Space | Unrolled | SliceValue | Zipped
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ArrayKind:
    """An array argument.  `layout` is `c`, or for each dim `s` (any stride), `u` (unit) or `0`."""

    dtype: DType
    rank: int
    layout: str
    writable: bool


@dataclass(frozen=True, slots=True)
class NumberKind:
    """A number argument: its value is not part of the key."""

    dtype: DType
    python: bool


@dataclass(frozen=True, slots=True)
class StaticKind:
    """An argument whose value is part of the key; `token` tells apart 1, 1.0 and True."""

    value: Any
    token: str = ""


@dataclass(frozen=True, slots=True)
class TupleKind:
    """A tuple argument."""

    items: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class StructKind:
    """An object: the kernel's code says which attributes it needs."""

    type: type


Kind = ArrayKind | NumberKind | StaticKind | TupleKind | StructKind


def describe(value: Value) -> str:
    """For messages: what a value is."""
    if isinstance(value, Number):
        where = {"python": "Python", "numpy": "NumPy", "either": "Python or NumPy"}[value.origin]
        python = {"int64": "int", "float64": "float", "complex128": "complex"}
        plain = python.get(value.dtype.name, value.dtype.name)
        return f"{where} {plain if value.origin == 'python' else value.dtype.name}"
    if isinstance(value, ArrayRef | View):
        return f"array of {value.dtype}, rank {len(value.shape)}"
    if isinstance(value, Elementwise):
        return f"computed array of rank {len(value.shape)}"
    if isinstance(value, ListValue):
        return f"list of {len(value.items)}"
    if isinstance(value, TupleValue):
        return f"tuple of {len(value.items)}"
    if isinstance(value, Static):
        return f"{type(value.value).__name__} {getattr(value.value, '__name__', value.value)!s}"
    if isinstance(value, Struct | Record):
        return f"object of type {value.kind.__name__}"
    names = {
        Growing: "list", Closure: "function", Space: "range", Unrolled: "fw.static sequence",
        SliceValue: "slice", Zipped: "zip",
    }  # fmt: skip
    return names.get(type(value), "method")


def described(value: Value) -> str:
    """The same with an article."""
    text = describe(value)
    return f"an {text}" if text[0] in "aeiou" else f"a {text}"
