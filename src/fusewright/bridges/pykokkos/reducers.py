"""How the results of a reduction's iterations are joined: `pk.Sum`, `pk.MinLoc`, ...

A reducer of several parts (`val` and `loc`) is a tuple of numbers; the work unit writes them as
attributes of its accumulator.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fusewright.base.errors import UnsupportedError
from fusewright.base.values import dataclass
from fusewright.ir.dtypes import BOOL, INT32, INT64, DType

Kind = DType | str


def _constant(value: Any) -> Callable[[Kind], ast.expr]:
    return lambda kind: ast.Constant(value)


def _ordered(kind: Kind) -> DType:
    dtype = INT32 if isinstance(kind, str) else kind
    if dtype.is_complex:
        raise UnsupportedError(
            f"an extreme of {dtype} numbers", why="complex numbers have no order",
            help="reduce their abs(), .real or .imag",
        )  # fmt: skip
    return dtype


def _least(kind: Kind) -> ast.expr:
    """The identity of a maximum."""
    dtype = _ordered(kind)
    return ast.Constant(float("-inf") if dtype.is_float else int(np.iinfo(dtype.numpy).min))


def _greatest(kind: Kind) -> ast.expr:
    """The identity of a minimum."""
    dtype = _ordered(kind)
    return ast.Constant(float("inf") if dtype.is_float else int(np.iinfo(dtype.numpy).max))


@dataclass(frozen=True, slots=True)
class Part:
    """A number of an accumulator: its identity, and its type where that is not the reduction's."""

    name: str
    identity: Callable[[Kind], ast.expr]
    kind: Kind | None = None

    def kind_of(self, kind: Kind) -> Kind:
        return kind if self.kind is None else self.kind


@dataclass(frozen=True, slots=True)
class Reducer:
    """`join` says in Python how `new_...` comes into `all_...`; `result` makes the tuple."""

    name: str
    parts: tuple[Part, ...]
    join: str
    result: Callable[..., Any] | None = None
    kind: Kind | None = None


class ValLoc(NamedTuple):
    """A value and where it was found."""

    val: Any
    loc: int


class MinMaxScalar(NamedTuple):
    """The least and the greatest value."""

    min_val: Any
    max_val: Any


class MinMaxLocScalar(NamedTuple):
    """Both, and where they were found."""

    min_val: Any
    min_loc: int
    max_val: Any
    max_loc: int


_LOCATION = -1


def _simple(name: str, join: str, identity: Callable[[Kind], ast.expr], kind: Any = None) -> (
    Reducer
):  # fmt: skip
    return Reducer(name, (Part("val", identity),), join, None, kind)


_KEEP_LESS = "if new_{0}val < all_{0}val:\n    all_{0}val = new_{0}val\n"
_KEEP_MORE = "if new_{0}val > all_{0}val:\n    all_{0}val = new_{0}val\n"
_LESS_AT = _KEEP_LESS + "    all_{0}loc = new_{0}loc\n"
_MORE_AT = _KEEP_MORE + "    all_{0}loc = new_{0}loc\n"


def _at(prefix: str, identity: Callable[[Kind], ast.expr]) -> tuple[Part, Part]:
    return (
        Part(f"{prefix}val", identity),
        Part(f"{prefix}loc", _constant(_LOCATION), INT64),
    )


Sum = _simple("Sum", "all_val = all_val + new_val", _constant(0))
Prod = _simple("Prod", "all_val = all_val * new_val", _constant(1))
Min = _simple("Min", _KEEP_LESS.format(""), _greatest)
Max = _simple("Max", _KEEP_MORE.format(""), _least)
LAnd = _simple("LAnd", "all_val = all_val and new_val", _constant(True), BOOL)
LOr = _simple("LOr", "all_val = all_val or new_val", _constant(False), BOOL)
BAnd = _simple("BAnd", "all_val = all_val & new_val", _constant(-1))
BOr = _simple("BOr", "all_val = all_val | new_val", _constant(0))
MinLoc = Reducer("MinLoc", _at("", _greatest), _LESS_AT.format(""), ValLoc)
MaxLoc = Reducer("MaxLoc", _at("", _least), _MORE_AT.format(""), ValLoc)
MinMax = Reducer(
    "MinMax",
    (Part("min_val", _greatest), Part("max_val", _least)),
    _KEEP_LESS.format("min_") + _KEEP_MORE.format("max_"),
    MinMaxScalar,
)
MinMaxLoc = Reducer(
    "MinMaxLoc",
    (*_at("min_", _greatest), *_at("max_", _least)),
    _LESS_AT.format("min_") + _MORE_AT.format("max_"),
    MinMaxLocScalar,
)
