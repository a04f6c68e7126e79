"""What only work units can call: conversions, C's mathematics, atomics, formatted printing.

A row takes the translation, the call's node and its arguments' values, as in
`frontends.kernels.functions`.
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import replace
from typing import Any

from fusewright.base.errors import KernelError
from fusewright.base.values import dataclass
from fusewright.bridges.pykokkos import atomics, scalars
from fusewright.bridges.pykokkos.dialect.mathematics import C_FUNCTIONS
from fusewright.bridges.pykokkos.dialect.mathematics import row_of as mathematics_row
from fusewright.bridges.pykokkos.dialect.rules import INT, Kind, combine, convert, kind_of
from fusewright.bridges.pykokkos.printing import CONVERSION, printf
from fusewright.frontends.kernels import complexes, elements, language, types, vectors
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.intrinsics import ROWS, Row, Values, arguments
from fusewright.frontends.kernels.operators import apply
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Number,
    Record,
    Space,
    Static,
    TupleValue,
    Value,
    describe,
)
from fusewright.ir.dtypes import (
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    DType,
    component,
)
from fusewright.ir.expr import const, op
from fusewright.ir.loops.statements import Print, Shown, Store


@dataclass(frozen=True, slots=True)
class Internal:
    """A function that rewritten trees call, by name."""

    name: str
    kind: Kind | None = None

    def __call__(self, *args: Any) -> Any:
        """Never run: a tree that calls it is translated."""
        raise NotImplementedError(self.name)


DECLARED = Internal("declared")
RECORD = Internal("record")
VECTOR = Internal("vector")
FENCE = Internal("fence")
RANDOM = Internal("random")


def conversion(kind: Kind) -> Internal:
    """The function that converts to a C type."""
    return Internal("convert", kind)


def _convert(t: Translation, node: ast.Call, values: Values, kind: Kind) -> Value:
    arguments(t, node, values, 1, 1)
    if not isinstance(values[0], Number) and not (
        isinstance(values[0], ArrayRef) and not values[0].shape
    ):
        return values[0]
    return convert(as_number(t, values[0], t.span(node)), kind, t.span(node))


def _declared(t: Translation, node: ast.Call, values: Values) -> Value:
    (space,) = values
    assert isinstance(space, Space)
    return replace(space, declared=True)


def _record(t: Translation, node: ast.Call, values: Values) -> Value:
    """`record(class, name, value, name, value, ...)`: an object handed over in parts."""
    kind, *rest = values
    assert isinstance(kind, Static)
    names = [part.value for part in rest[::2] if isinstance(part, Static)]
    return Record(kind.value, dict(zip(names, rest[1::2], strict=True)))


def _vector(t: Translation, node: ast.Call, values: Values) -> Value:
    return vectors.from_items(t, values, t.span(node))


def _nothing(t: Translation, node: ast.Call, values: Values) -> Value:
    return Static(None)


# -- atomics --------------------------------------------------------------------------------------


def _place(t: Translation, node: ast.Call, ref: Value, index: Value) -> ArrayRef:
    span = t.span(node)
    if not isinstance(ref, ArrayRef):
        raise KernelError(f"an atomic update of {describe(ref)}", span)
    indices = index.items if isinstance(index, TupleValue) else (index,)
    part = elements.indexed(t, ref, indices, span)
    if part.shape:
        raise KernelError("an atomic update needs an index for each dim", span)
    return part


def _atomic(update: str) -> Row:
    def row(t: Translation, node: ast.Call, values: Values) -> Value:
        low = 2 if update == "increment" else 3
        arguments(t, node, values, low, low)
        span = t.span(node)
        part = _place(t, node, values[0], values[1])
        amount = as_number(t, values[2], span) if low == 3 else types.literal(1, span)
        amount = t.fixed(convert(amount, part.dtype, span))
        old = t.let("old", elements.read(t, part, span))
        elements.writable(t, part, span)
        combine_ = atomics.COMBINE.get(update)
        if combine_ is not None and not (part.dtype is BOOL or _unlike(update, part)):
            t.write(Store(part.buffer, part.indices, amount.expr, combine_, span))
        else:
            fresh = combine(t, atomics.OPERATOR[update], old, amount, span)
            elements.store(t, part, convert(fresh, part.dtype, span), span)
        return old

    return row


def _unlike(update: str, part: ArrayRef) -> bool:
    """Whether C's operator on the element is not the operation of one step."""
    whole = part.dtype.is_complex and update not in ("add", "sub")
    return whole or (part.dtype.is_integer and update == "div")


def _exchange(t: Translation, node: ast.Call, values: Values) -> Value:
    """`atomic_compare_exchange(view, index, expected, desired)`: the old value."""
    arguments(t, node, values, 4, 4)
    span = t.span(node)
    part = _place(t, node, values[0], values[1])
    expected, desired = (
        t.fixed(convert(as_number(t, value, span), part.dtype, span)) for value in values[2:]
    )
    old = t.let("old", elements.read(t, part, span))
    chosen = op("where", op("equal", old.expr, expected.expr), desired.expr, old.expr)
    elements.store(t, part, Number(chosen, "numpy", span), span)
    return old


# -- printing -------------------------------------------------------------------------------------


def _printf(t: Translation, node: ast.Call, values: Values) -> Value:
    span = t.span(node)
    first = values[0] if values else Static(None)
    text = first.value if isinstance(first, Static) else None
    if not isinstance(text, str):
        raise KernelError("printf needs a literal format", span)
    pieces: list[str | Shown] = []
    rest = list(values[1:])
    place = 0
    for match in re.finditer(CONVERSION, text):
        pieces.append(text[place : match.start()])
        place = match.end()
        if match["kind"] == "%":
            pieces.append("%")
            continue
        if not rest:
            raise KernelError("printf has fewer values than its format asks for", span)
        pieces.append(_shown(t, match, rest.pop(0), span))
    pieces.append(text[place:])
    t.write(Print(tuple(piece for piece in pieces if piece != ""), span))
    return Static(None)


def _shown(t: Translation, match: re.Match[str], value: Value, span: Any) -> str | Shown:
    kind = match["kind"]
    if isinstance(value, Static) and isinstance(value.value, str):
        return value.value
    number = as_number(t, value, span)
    whole = kind in "diuxXoc"
    wanted: Kind = FLOAT64
    if whole:
        wanted = INT if kind_of(number) == INT else INT64
    found = convert(number, wanted, span)
    letter = {"i": "d", "u": "d", "s": ""}.get(kind, kind)
    flags, width = match["flags"], match["width"] or ""
    sign = "+" if "+" in flags else (" " if " " in flags else "")
    fill = "<" if "-" in flags else ""
    zero = "0" if "0" in flags and "-" not in flags else ""
    spec = f"{fill}{sign}{'#' if '#' in flags else ''}{zero}{width}{match['precision'] or ''}"
    return Shown(t.fixed(found).expr, True, "", spec + letter)


def _random(t: Translation, node: ast.Call, values: Values) -> Value:
    """A number in [0, 1), or any of an integer type that is not negative."""
    wanted, *words = values
    assert isinstance(wanted, Static)
    span, kind = t.span(node), wanted.value.kind
    drawn = ROWS[language.random](t, node, words)
    assert isinstance(drawn, Number)
    if isinstance(kind, DType) and kind.is_float:
        return convert(drawn, kind, span)
    dtype = INT32 if kind == INT else kind
    bits = 8 * dtype.itemsize - (dtype.kind == "i")
    scale = Number(const(2.0**bits, FLOAT64), "numpy", span)
    return convert(apply(t, "multiply", (drawn, scale), span), kind, span)


def table() -> dict[Any, Row]:
    """The rows by the object a tree calls."""
    rows: dict[Any, Row] = {
        DECLARED: _declared, RECORD: _record, VECTOR: _vector, FENCE: _nothing, printf: _printf,
        atomics.atomic_compare_exchange: _exchange, RANDOM: _random,
        atomics.atomic_add: _atomic("add"),
    }  # fmt: skip
    for name, function in atomics.FUNCTIONS.items():
        rows[function] = _atomic(name)
    kinds: list[Kind] = [INT, *types.RANGES, FLOAT32, FLOAT64, BOOL, COMPLEX64, COMPLEX128]
    for kind in kinds:
        rows[conversion(kind)] = _row_of_conversion(kind)
    for name, function in C_FUNCTIONS.items():
        rows[function] = mathematics_row(name)
        ours = getattr(math, name, None)
        if ours is not None:
            rows[ours] = rows[function]
    rows[abs], rows[min], rows[max], rows[pow] = (
        mathematics_row(name) for name in ("abs", "min", "max", "pow")
    )
    for dtype in (COMPLEX64, COMPLEX128):
        rows[scalars.BY_NAME[dtype.name]] = _row_of_complex(dtype)
    rows[math.gamma] = mathematics_row("tgamma")
    rows[int], rows[float] = _row_of_conversion(INT), _row_of_conversion(FLOAT64)
    rows[bool] = _row_of_conversion(BOOL)
    return rows


def _row_of_conversion(kind: Kind) -> Row:
    return lambda t, node, values: _convert(t, node, values, kind)


def _row_of_complex(dtype: DType) -> Row:
    """`pk.complex64(x, y)`."""

    def row(t: Translation, node: ast.Call, values: Values) -> Value:
        arguments(t, node, values, 1, 2)
        span = t.span(node)
        numbers = [as_number(t, value, span) for value in values]
        if len(numbers) == 1:
            return convert(numbers[0], dtype, span)
        x, y = (convert(number, component(dtype), span).expr for number in numbers)
        return Number(complexes.joined(x, y, dtype), "numpy", span)

    return row
