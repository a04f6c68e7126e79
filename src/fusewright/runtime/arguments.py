"""Run-time parameters of kernels, their argument words (64 bits each), and what arrays reach."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fusewright._core import native
from fusewright.ir import bfloat16, graph
from fusewright.ir.dtypes import BFLOAT16, DType
from fusewright.ir.expr import Expr
from fusewright.ir.graph import Node
from fusewright.ir.nest import Source

Values = list[Any]
"""The value of each run-time parameter of a program."""
Integer = Callable[[Values], int]

_WORD = struct.Struct("<q")
_PACK = {
    "float64": struct.Struct("<d"),
    "float32": struct.Struct("<fxxxx"),
    "float16": struct.Struct("<exxxxxx"),
}


def integer(expr: Expr) -> Integer:
    """An integer expression as a function of the run-time parameters."""
    if expr.name == "const":
        value = int(expr.attr)
        return lambda values: value
    if expr.name == "param":
        number = expr.attr
        return lambda values: int(values[number])
    args = [integer(arg) for arg in expr.args]
    function = _INTEGER[expr.name]
    return lambda values: function(*(arg(values) for arg in args))


_INTEGER: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "imin": min,
    "imax": max,
    "floor_divide": lambda a, b: a // b,
    "where": lambda c, a, b: a if c else b,
    "less": lambda a, b: a < b,
}


def fetcher(source: Source, kind: int) -> Callable[[Sequence[Node]], Any]:
    """How a run-time parameter is read from a slice."""
    slot, dim, piece = source.slot, source.dim, source.piece
    if source.what == "extent":
        return lambda order: order[slot].shape[dim]
    if source.what == "stride":
        return lambda order: order[slot].value[2][dim]
    if source.what == "scalar":
        return lambda order: order[slot].value
    position = 1 if source.what == "step" else 0
    if kind == graph.VIEW:
        return lambda order: order[slot].attr[dim][1 + position]
    return lambda order: order[slot].attr[piece][dim][position]


def word(value: Any, dtype: DType) -> int:
    """A scalar as a 64-bit argument word."""
    if dtype is BFLOAT16:
        return bfloat16.bits_of(value)
    packer = _PACK.get(dtype.name)
    if packer is not None:
        try:
            return int(_WORD.unpack(packer.pack(value))[0])
        except OverflowError:  # too large is infinite, as in NumPy
            return int(_WORD.unpack(packer.pack(math.copysign(math.inf, value)))[0])
    number = int(value)
    return number - (1 << 64) if number >= 1 << 63 else number


CONSTANT, ADDRESS, VALUE, NUMBER, ARRAY, EXTENT, STRIDE = range(7)
"""As in `_core/launch.h`."""


class WordSource(NamedTuple):
    """Where a caller takes an argument word from; `number` is the word itself, or which one.

    | what     | the word                                                                   |
    |----------|----------------------------------------------------------------------------|
    | CONSTANT | `number`                                                                   |
    | ADDRESS  | where a place begins                                                       |
    | VALUE    | an integer                                                                 |
    | NUMBER   | a number, as `dtype`; with `part` 0 or 1 the real or imaginary part of one |
    | ARRAY    | where a NumPy array begins                                                 |
    | EXTENT   | the extent of its dim `part`                                               |
    | STRIDE   | the stride of its dim `part`                                               |
    """

    what: int
    number: int
    dtype: DType | None = None
    part: int = -1


def filled(
    words: Iterable[WordSource],
    addresses: Mapping[int, int],
    values: Sequence[int],
    numbers: Sequence[Any],
) -> array[int]:
    """The argument words of a call from Python, which has no words of NumPy's arrays."""
    made = array("q")
    for what, number, dtype, part in words:
        if what == ADDRESS:
            made.append(addresses[number])
        elif what == VALUE:
            made.append(values[number])
        elif dtype is not None:
            value = numbers[number]
            if part >= 0:
                value = (complex(value).real, complex(value).imag)[part]
            made.append(word(value, dtype))
        else:
            made.append(number)
    return made


def word_table(words: Iterable[WordSource]) -> bytes:
    """The same for the native core."""
    return table(
        (what, number, 0 if dtype is None else native.dtype_number(dtype), part)
        for what, number, dtype, part in words
    )


def table(rows: Iterable[Iterable[int]]) -> bytes:
    """Rows of integers for the native core."""
    return array("q", [number for row in rows for number in row]).tobytes()


def span_of(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    """The bytes an array reaches, from its data pointer on."""
    if array.flags.c_contiguous or array.size == 0:
        return 0, array.nbytes
    reach_ = [stride * (n - 1) for stride, n in zip(array.strides, array.shape, strict=True)]
    low = sum(r for r in reach_ if r < 0)
    return low, sum(r for r in reach_ if r > 0) + array.itemsize
