"""Tables of indices that hold no value twice: what that changes, when it would help to say so."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fusewright.analysis.unit import Facts, Unit
from fusewright.ir.dtypes import DType
from fusewright.ir.expr import Expr, postorder


def unwrapped(place: Expr, unique: frozenset[int]) -> Expr:
    """A unique table's element that would count from the end if it were negative, which none is.

    >>> from fusewright.ir.dtypes import INT64
    >>> from fusewright.ir.expr import const, index, load, op, param
    >>> element = load(3, (index(0),), INT64)
    >>> negative = op("less", element, const(0, INT64))
    >>> wraps = op("where", negative, op("add", element, param(0, INT64)), element)
    >>> unwrapped(wraps, frozenset({3})) is element, unwrapped(wraps, frozenset()) is wraps
    (True, True)
    """
    if place.name != "where":
        return place
    condition, _, value = place.args
    wraps = condition.name == "less" and condition.args[0] is value
    element = _narrowest(value)
    return value if wraps and element.name == "load" and element.attr in unique else place


def _narrowest(value: Expr) -> Expr:
    """A value without its conversions to wider integers."""
    while value.name == "cast" and widens(value.args[0].dtype, value.dtype):
        value = value.args[0]
    return value


def widens(source: DType, target: DType) -> bool:
    """Whether a conversion of integers keeps them apart."""
    return source.is_integer and target.is_integer and target.itemsize >= source.itemsize


def needed(
    score: Callable[[frozenset[int]], int], now: int, facts: Facts, *units: Unit
) -> tuple[str, ...]:
    """Names of the fewest tables whose uniqueness raises a score as far as that of all does."""
    found = _tables(units) - facts.unique
    most = score(found) if found else now
    if most <= now:
        return ()
    for table in sorted(found):
        if score(found - {table}) == most:
            found -= {table}
    return tuple(sorted(_label(table, units) for table in found))


def _tables(units: Iterable[Unit]) -> frozenset[int]:
    """The buffers that indices load elements from."""
    return frozenset(
        node.attr
        for unit in units
        for access in unit.accesses
        for node in postorder(access.indices)
        if node.name == "load" and node.args
    )


def _label(table: int, units: Iterable[Unit]) -> str:
    named = (access.label for unit in units for access in unit.accesses if access.root == table)
    return next(named, f"b{table}")
