"""What a kernel is given: arguments, their attributes, and the names it takes from outside.

Buffers and parameters are numbered as the translation meets them.  What was captured is noted, so
that a call can see whether it still holds.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from fusewright.base.errors import KernelNameError, UnsupportedError
from fusewright.base.meant import did_you_mean
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.frontends.kernels import complexes, types
from fusewright.frontends.kernels.values import (
    ArrayKind,
    ArrayRef,
    Kind,
    NamedItems,
    Number,
    NumberKind,
    Path,
    Static,
    StaticKind,
    Struct,
    StructKind,
    TupleKind,
    TupleValue,
    Value,
)
from fusewright.ir import dtypes
from fusewright.ir.dtypes import FLOAT64, INT64, DType
from fusewright.ir.expr import Expr, const, param, rewrite
from fusewright.ir.nest import Buffer, Source

OURS = ("numpy", "math", "cmath", "fusewright")
"""Modules whose contents are taken to stay what they are."""


@dataclass(frozen=True, slots=True)
class Capture:
    """Something a kernel took from outside: `name` in a function's scope, then attributes."""

    function: FunctionType
    names: tuple[str, ...]
    value: Any

    def holds(self) -> bool:
        """Whether it is still the same."""
        try:
            found = outside(self.function, self.names[0])
            for name in self.names[1:]:
                found = getattr(found, name)
        except (LookupError, AttributeError):
            return False
        return found is self.value or (
            isinstance(found, int | float | complex | tuple)
            and type(found) is type(self.value)
            and repr(found) == repr(self.value)
        )


@dataclass(frozen=True, slots=True)
class Fit:
    """What a call's sizes must meet: a condition on its parameters, and what to say otherwise."""

    condition: Expr
    message: str
    values: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Apart:
    """Two buffers that must share no memory; if they may be `same`, one array given twice."""

    written: int
    read: int
    same: bool
    span: Span


def outside(function: FunctionType, name: str) -> Any:
    """What a free name of a function means now; a `LookupError` where it means nothing."""
    code = function.__code__
    if name in code.co_freevars:
        assert function.__closure__ is not None
        try:
            return function.__closure__[code.co_freevars.index(name)].cell_contents
        except ValueError:
            raise LookupError(name) from None
    if name in function.__globals__:
        return function.__globals__[name]
    return vars(builtins)[name]


ROOM = "#room"
"""The name under which a call gives the room of lists."""
WORDS, GAUSS = "#words", "#gauss"
"""The names under which a call gives the state of NumPy's global random numbers (`twister`)."""


class Inputs:
    """The arguments of one translation.

    `kinds` are the parameters' by name; `attribute` tells what an attribute of an object argument
    is (a kind), and `capture_kind` what a captured object is, where it is not a constant.
    """

    def __init__(
        self,
        kinds: dict[str, Kind],
        attribute: Callable[[Path, Span], Kind],
        capture_kind: Callable[[Any], Kind | None],
    ) -> None:
        self.kinds = kinds
        self.buffers: dict[int, Buffer] = {}
        self.buffer_paths: dict[int, Path] = {}
        self.made: set[int] = set()
        self.made_at: dict[int, int] = {}
        self.nesting: Callable[[], int] = lambda: 0
        self.buffer_kinds: dict[int, ArrayKind] = {}
        self.scalar_paths: list[Path] = []
        self.sources: list[Source] = []
        self.dtypes: list[DType] = []
        self.captures: dict[tuple[int, tuple[str, ...]], Capture] = {}
        self.captured_objects: dict[str, tuple[FunctionType, str]] = {}
        self.fits: list[Fit] = []
        self.apart: dict[tuple[int, int], Apart] = {}
        self._alike: dict[Expr, Expr] = {}
        self._attribute = attribute
        self._capture_kind = capture_kind
        self._values: dict[Path, Value] = {}
        self._buffers = 0
        self._room: Expr | None = None

    @property
    def count(self) -> int:
        """How many buffers there are so far."""
        return self._buffers

    @property
    def grows(self) -> bool:
        """Whether there are lists, whose room a call decides."""
        return self._room is not None

    def room(self) -> Expr:
        """How many items each list has room for: a number that the caller gives."""
        if self._room is None:
            self._room = self._number((ROOM,), INT64)
        return self._room

    @property
    def draws(self) -> bool:
        """Whether random numbers are drawn."""
        return (WORDS,) in self._values

    def random(self) -> tuple[Value, Value]:
        """The state of NumPy's global random numbers."""
        nowhere = ("", 0, 0, 0)
        pairs = ((WORDS, INT64), (GAUSS, FLOAT64))
        words, gauss = (
            self.argument((name,), ArrayKind(dtype, 1, "c", True), nowhere) for name, dtype in pairs
        )
        return words, gauss

    def next_buffer(self) -> int:
        self._buffers += 1
        return self._buffers - 1

    def make(self, dtype: DType, extents: tuple[Expr, ...]) -> int:
        """An array that the caller allocates for each call, of sizes that depend on arguments."""
        number = self.next_buffer()
        self.buffers[number] = Buffer(number, dtype, extents)
        self.made.add(number)
        self.made_at[number] = self.nesting()
        return number

    def keep_apart(self, written: int, read: int, same: bool, span: Span) -> None:
        """Have calls refused in which a buffer shares memory with another that is read."""
        known = self.apart.get((written, read))
        if known is None or (known.same and not same):
            self.apart[written, read] = Apart(written, read, same, span)

    def must_equal(self, a: Expr, b: Expr) -> None:
        """Two extents that every call must have alike are one from now on."""
        first, second = sorted((self.alike(a), self.alike(b)), key=lambda each: each.attr)
        self._alike[second] = first

    def alike(self, expr: Expr) -> Expr:
        """An expression in the first of extents that are alike."""
        while (fresh := rewrite(expr, self._alike.get, {})) is not expr:
            expr = fresh
        return expr

    def argument(self, path: Path, kind: Kind, span: Span) -> Value:
        """The value of an argument, or of a part of one."""
        found = self._values.get(path)
        if found is None:
            found = self._values[path] = self._make(path, kind, span)
        return found

    def attribute(self, struct: Struct, name: str, span: Span) -> Value:
        """An attribute of an object argument."""
        path = (*struct.path, name)
        found = self._values.get(path)
        return (
            found if found is not None else self.argument(path, self._attribute(path, span), span)
        )

    def _make(self, path: Path, kind: Kind, span: Span) -> Value:
        if isinstance(kind, ArrayKind):
            return self._array(path, kind, span)
        if isinstance(kind, NumberKind):
            origin: Any = "python" if kind.python else "numpy"
            return Number(self._number(path, kind.dtype), origin, span)
        if isinstance(kind, TupleKind):
            items = (self.argument((*path, n), item, span) for n, item in enumerate(kind.items))
            return TupleValue(tuple(items))
        if isinstance(kind, StructKind):
            return Struct(path, kind.type)
        return constant(kind.value, span) or Static(kind.value)

    def _number(self, path: Path, dtype: DType) -> Expr:
        """A scalar argument; of a complex one its parts are parameters."""
        if dtype.is_complex:
            real, imaginary = (
                self._number((*path, part), dtypes.component(dtype)) for part in ("real", "imag")
            )
            return complexes.joined(real, imaginary, dtype)
        self.scalar_paths.append(path)
        return self._param(Source("scalar", len(self.scalar_paths) - 1), dtype)

    def _array(self, path: Path, kind: ArrayKind, span: Span) -> ArrayRef:
        name = str(path[-1]).removeprefix("@")
        number = self.next_buffer()
        extents = tuple(
            self._param(Source("extent", number, dim), INT64) for dim in range(kind.rank)
        )
        strides = None
        if kind.layout != "c":
            strides = tuple(
                self._stride(number, dim, letter, kind.dtype.itemsize)
                for dim, letter in enumerate(kind.layout)
            )
        self.buffers[number] = Buffer(number, kind.dtype, extents, strides)
        self.buffer_paths[number] = path
        self.buffer_kinds[number] = kind
        return ArrayRef(number, (), extents, kind.dtype, name)

    def _stride(self, number: int, dim: int, letter: str, itemsize: int) -> Expr:
        if letter == "s":
            return self._param(Source("stride", number, dim), INT64)
        return const(itemsize if letter == "u" else 0, INT64)

    def _param(self, source: Source, dtype: DType) -> Expr:
        self.sources.append(source)
        self.dtypes.append(dtype)
        return param(len(self.sources) - 1, dtype)

    # -- what comes from outside ----------------------------------------------------------------

    def captured(self, function: FunctionType, name: str, span: Span) -> Value:
        """A name that the function does not bind itself."""
        try:
            found = outside(function, name)
        except LookupError:
            raise KernelNameError(
                f"name `{name}` is not defined",
                span,
                why="no assignment, argument, global or built-in has this name",
                help="check the spelling, or pass it as an argument",
            ) from None
        return self._from_outside(function, (name,), found, span)

    def module_attribute(
        self, function: FunctionType, static: Static, name: str, span: Span
    ) -> Value:
        """An attribute of a module or class that is known while translating."""
        owner = static.value
        try:
            found = getattr(owner, name)
        except AttributeError:
            label = getattr(owner, "__name__", owner)
            meant = did_you_mean(name, dir(owner), "`{}`".format)
            text = f"`{label}` has no attribute `{name}`"
            raise KernelNameError(text, span, help=meant) from None
        if isinstance(owner, ModuleType) and owner.__name__.split(".")[0] in OURS:
            return constant(found, span) or Static(found)
        owners = (c for c in self.captures.values() if c.value is owner)
        known = next(owners, None)
        if known is None:
            return constant(found, span) or Static(found)
        return self._from_outside(known.function, (*known.names, name), found, span)

    def _from_outside(
        self, function: FunctionType, names: tuple[str, ...], found: Any, span: Span
    ) -> Value:
        value = constant(found, span)
        if value is None and isinstance(found, list | dict | set | bytearray):
            raise UnsupportedError(
                f"`{'.'.join(names)}` is a {type(found).__name__} from outside the kernel",
                span,
                why="it may change between two calls, and compiled code would not notice",
                help="use a tuple, or pass the numbers as an array",
            )
        if value is None:
            kind = self._capture_kind(found)
            if isinstance(kind, ArrayKind | StructKind | NumberKind):
                path = (self._root(function, names[0]), *names[1:])
                return self.argument(path, kind, span)
            value = Static(found)
        key = (id(function), names)
        self.captures.setdefault(key, Capture(function, names, found))
        return value

    def _root(self, function: FunctionType, name: str) -> str:
        """The start of a captured object's path; functions may mean different things by a name."""
        root = "@" + name
        while self.captured_objects.setdefault(root, (function, name)) != (function, name):
            root += "'"
        return root


def constant(found: Any, span: Span) -> Value | None:
    """A number, or tuple of constants, as a value; None for anything else."""
    if isinstance(found, bool | int | float | complex) and not isinstance(found, np.generic):
        return types.literal(found, span)
    if isinstance(found, np.generic):
        row = dtypes.from_numpy(found.dtype)
        return None if row is None else Number(const(found, row), "numpy", span)
    if isinstance(found, tuple):
        items = tuple(constant(item, span) or Static(item) for item in found)
        names = getattr(found, "_fields", None)
        return TupleValue(items) if names is None else NamedItems(items, names)
    return None


__all__ = ["Capture", "Inputs", "StaticKind", "constant", "outside"]
