"""Loops over one flat index, taken apart: `t // B` and `t % B` with 0 <= t < C * B are two loops.

Two dims say what one dim with division cannot, when `B` is a parameter:

>>> from fusewright.analysis.unit import Access, Dim, Unit
>>> from fusewright.ir.dtypes import INT64
>>> from fusewright.ir.expr import const, index, op, param
>>> t, c, b = index(0), param(0, INT64), param(1, INT64)
>>> row, column = op("floor_divide", t, b), op("remainder", t, b)
>>> flat = Unit(
...     (Dim(0, const(0, INT64), op("multiply", c, b), "t"),),
...     (Access("a", "write", (row, column)),),
... )
>>> taken = taken_apart(flat)
>>> [(dim.name, dim.high) for dim in taken.dims], taken.accesses[0].indices
([('t // p1', p0), ('t % p1', p1)], (i0, i1))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fusewright.analysis.affine import fixed
from fusewright.analysis.unit import Access, Dim, Effect, Unit
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, index, op, postorder, rewrite

Put = Callable[[Expr], Expr]
QUOTIENTS = ("floor_divide", "tdiv")
REMAINDERS = ("remainder", "trem")


def taken_apart(unit: Unit) -> Unit:
    """The unit with every such flat dim replaced by two; the order of iterations is the same."""
    for position, dim in enumerate(unit.dims):
        divisor = _divisor(unit, dim)
        if divisor is not None:
            return taken_apart(_split(unit, position, divisor))
    return unit


def _divisor(unit: Unit, dim: Dim) -> Expr | None:
    """A factor of the dim's extent by which the body divides its index."""
    if dim.high.name != "multiply" or dim.low is not const(0, INT64) or not fixed(dim.high):
        return None
    for expr in postorder(_expressions(unit)):
        divides = expr.name in QUOTIENTS + REMAINDERS and expr.args[0] is index(dim.number)
        if divides and expr.args[1] in dim.high.args:
            return expr.args[1]
    return None


def _expressions(unit: Unit) -> list[Expr]:
    found = list(unit.guards)
    parts: list[Access | Effect] = [*unit.accesses, *unit.effects]
    for part in parts:
        found += part.guards
        found += [bound for dim in part.inner for bound in (dim.low, dim.high)]
        if isinstance(part, Access):
            found += part.indices
    return found + [bound for dim in unit.dims for bound in (dim.low, dim.high)]


def _split(unit: Unit, position: int, divisor: Expr) -> Unit:
    old = unit.dims[position]
    left, right = old.high.args
    count = left if right is divisor else right
    fresh = 1 + max(_numbers(unit))
    outer, inner = index(old.number), index(fresh)

    def rule(expr: Expr) -> Expr | None:
        if expr is flat:
            return op("add", op("multiply", outer, divisor), inner)
        return None

    flat = index(old.number)

    def put(expr: Expr) -> Expr:
        memo: dict[Expr, Expr] = {}
        for name in QUOTIENTS:
            memo[op(name, flat, divisor)] = outer
        for name in REMAINDERS:
            memo[op(name, flat, divisor)] = inner
        return rewrite(expr, rule, memo)

    zero = const(0, INT64)
    two = (
        Dim(old.number, zero, count, f"{old.name} // {divisor}"),
        Dim(fresh, zero, divisor, f"{old.name} % {divisor}"),
    )
    dims = [*unit.dims[:position], *two, *unit.dims[position + 1 :]]
    return replace(
        unit,
        dims=tuple(_dim(dim, put) if dim not in two else dim for dim in dims),
        accesses=tuple(_access(part, put, position) for part in unit.accesses),
        effects=tuple(_effect(part, put) for part in unit.effects),
        guards=tuple(map(put, unit.guards)),
    )


def _numbers(unit: Unit) -> list[int]:
    parts: list[Access | Effect] = [*unit.accesses, *unit.effects]
    inner = [dim.number for part in parts for dim in part.inner]
    return [dim.number for dim in unit.dims] + inner


def _dim(dim: Dim, put: Put) -> Dim:
    return replace(dim, low=put(dim.low), high=put(dim.high))


def _access(access: Access, put: Put, position: int) -> Access:
    depth = access.depth
    return replace(
        access,
        indices=tuple(map(put, access.indices)),
        guards=tuple(map(put, access.guards)),
        inner=tuple(_dim(dim, put) for dim in access.inner),
        depth=depth + 1 if depth is not None and depth > position else depth,
    )


def _effect(effect: Effect, put: Put) -> Effect:
    inner = tuple(_dim(dim, put) for dim in effect.inner)
    return replace(effect, guards=tuple(map(put, effect.guards)), inner=inner)
