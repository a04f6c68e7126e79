"""Which element types meet and what comes out: NumPy's rules, asked once and remembered."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fusewright.base.errors import (
    DTypeError,
    OverflowIntError,
    UnsupportedError,
    ValueRangeError,
)
from fusewright.ir import dtypes, ops
from fusewright.ir.dtypes import BOOL, COMPLEX128, FLOAT64, INT64, DType
from fusewright.ir.graph import Node, scalar

WEAK = (int, float, complex)
"""Python scalars adapt to the arrays they meet (NEP 50)."""
DEFAULT = {bool: BOOL, int: INT64, float: FLOAT64, complex: COMPLEX128}

Kind = DType | type
Rule = tuple[DType, tuple[DType, ...]]

_rules: dict[tuple[Any, ...], Rule] = {}
RANGES = {
    d: (int(np.iinfo(d.numpy).min), int(np.iinfo(d.numpy).max)) for d in dtypes.ALL if d.is_integer
}


_rows: dict[Any, DType] = {}
MOST_NAMES = 256
"""Types and names remembered with their rows."""


def as_dtype(spec: Any) -> DType:
    """The row of anything NumPy takes as a dtype; a `DTypeError` where there is none."""
    if isinstance(spec, DType):
        return spec
    named = isinstance(spec, type | str)
    if named and spec in _rows:
        return _rows[spec]
    try:
        wanted = np.dtype(spec)
    except TypeError as error:
        raise DTypeError(str(error), why="NumPy does not know this dtype") from None
    row = dtypes.from_numpy(wanted)
    if row is None:
        raise unsupported(wanted)
    if named and len(_rows) < MOST_NAMES:
        _rows[spec] = row
    return row


def row_of(dtype: Any) -> DType:
    """The row of an operand's dtype, in any byte order: its values are copied into ours."""
    row = dtypes.from_numpy(dtype.newbyteorder("="))
    if row is None:
        raise unsupported(dtype)
    return row


def unsupported(dtype: Any) -> UnsupportedError:
    """The error for a type without a row, whoever's it is."""
    names = ", ".join(d.name for d in dtypes.ALL)
    advice = f"use one of {names}"
    if "bfloat16" in str(dtype):
        advice = (
            "float32 holds all of its numbers: x.float() of a tensor, x.astype('float32') of an "
            'array; torch.compile(model, backend="fusewright") computes with bfloat16 as it is'
        )
    return UnsupportedError(f"dtype {dtype} is not supported", help=advice)


def result_rule(name: str, kinds: tuple[Kind, ...]) -> Rule:
    """The result's dtype and the one each operand is cast to."""
    key = (name, *kinds)
    found = _rules.get(key)
    if found is None:
        found = _rules[key] = _find_rule(name, kinds)
    return found


def _find_rule(name: str, kinds: tuple[Kind, ...]) -> Rule:
    special = SPECIAL_RULES.get(name)
    if special is not None:
        return special(kinds)
    operands = tuple(kind.numpy if isinstance(kind, DType) else kind for kind in kinds)
    try:
        *inputs, output = ops.loop_dtypes(name, operands)
    except TypeError as error:
        raise _no_loop(name, kinds) from error
    rows = tuple(map(dtypes.from_numpy, inputs))
    result = dtypes.from_numpy(output)
    if result is None or None in rows:
        raise _no_loop(name, kinds)
    return result, rows  # type: ignore[return-value]


def _no_loop(name: str, kinds: tuple[Kind, ...]) -> DTypeError:
    spelled = ", ".join(kind.name if isinstance(kind, DType) else kind.__name__ for kind in kinds)
    return DTypeError(
        f"{name} is not defined for {spelled}",
        why="NumPy has no loop for these types, and none they can be safely cast to",
        help="convert an operand with .astype(...)",
    )


def _where_rule(kinds: tuple[Kind, ...]) -> Rule:
    result = promote(kinds[1:])
    return result, (BOOL, result, result)


def _conjugate_rule(kinds: tuple[Kind, ...]) -> Rule:
    loop, result = np.conjugate.resolve_dtypes((_strong(kinds[0]).numpy, None))
    return as_dtype(result), (as_dtype(loop),)


def _part_rule(kinds: tuple[Kind, ...]) -> Rule:
    row = _strong(kinds[0])
    return dtypes.component(row), (row,)


def _special_rule(name: str) -> Callable[[tuple[Kind, ...]], Rule]:
    def rule(kinds: tuple[Kind, ...]) -> Rule:
        result, rows = result_rule("exp", kinds)
        if result.is_complex:
            raise _no_loop(name, kinds)
        return result, rows

    return rule


SPECIAL_RULES: dict[str, Callable[[tuple[Kind, ...]], Rule]] = {
    "where": _where_rule,
    "conjugate": _conjugate_rule,
    "real": _part_rule,
    "imag": _part_rule,
    **{name: _special_rule(name) for name in ops.SPECIAL},
}


def _strong(kind: Kind) -> DType:
    return kind if isinstance(kind, DType) else DEFAULT[kind]


def promote(kinds: tuple[Kind, ...]) -> DType:
    """The common type of arrays and Python scalars (`np.result_type`)."""
    spelled = [kind.numpy if isinstance(kind, DType) else kind(0) for kind in kinds]
    return as_dtype(np.result_type(*spelled))


_castable: dict[tuple[DType, DType], bool] = {}


def same_kind(source: DType, target: DType) -> bool:
    """Whether an in-place operation may store `source` values as `target`."""
    key = (source, target)
    found = _castable.get(key)
    if found is None:
        found = _castable[key] = bool(np.can_cast(source.numpy, target.numpy, "same_kind"))
    return found


def check_cast(source: DType, target: DType, casting: str = "same_kind") -> None:
    """Refuse a store that NumPy refuses."""
    if casting == "same_kind" and same_kind(source, target):
        return
    if not np.can_cast(source.numpy, target.numpy, casting):  # type: ignore[arg-type]
        raise DTypeError(
            f"cannot store {source} values in an array of {target}",
            why=f"casting {source} to {target} is not allowed under the rule {casting!r}",
            help=f"convert the value with .astype('{target}'), or the target to {source}",
        )


def scalar_node(value: Any, dtype: DType) -> Node:
    """A run-time parameter of a given type; out-of-range integers are refused as NumPy refuses
    them.
    """
    return scalar(CONVERT[dtype.kind](value, dtype), dtype)


def _to_int(value: Any, dtype: DType) -> int:
    number = int(value)
    low, high = RANGES[dtype]
    if not low <= number <= high:
        raise OverflowIntError(
            f"Python integer {number} out of bounds for {dtype}",
            why=f"{dtype} holds {low} to {high}, and a Python integer takes the array's type",
            help="convert the array with .astype(...), or the number with np.int64(...)",
        )
    return number


def _to_float(value: Any, _dtype: DType) -> float:
    return float(value)


def _to_complex(value: Any, _dtype: DType) -> complex:
    return complex(value)


def _to_bool(value: Any, _dtype: DType) -> bool:
    return bool(value)


CONVERT: dict[str, Callable[[Any, DType], Any]] = {
    "b": _to_bool,
    "i": _to_int,
    "u": _to_int,
    "f": _to_float,
    "c": _to_complex,
}


def stored_scalar(value: Any, dtype: DType) -> Node:
    """What NumPy stores when a number is assigned to an element of a given type."""
    kind = type(value)
    if dtype.kind == "f" and (
        (kind is int and -2 <= value <= 2) or (kind is float and dtype is FLOAT64)
    ):
        return scalar(float(value), dtype)  # as it is
    if dtype.is_integer and isinstance(value, int):
        return scalar(_to_int(value, dtype), dtype)
    if dtype.is_integer and kind is float and not math.isfinite(value):
        refusal = ValueRangeError if math.isnan(value) else OverflowIntError  # as int() has it
        raise refusal(f"cannot store {value} in an array of {dtype}")
    element = np.empty((), dtype.numpy)
    element[()] = value
    return scalar(element.item(), dtype)
