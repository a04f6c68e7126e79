"""Which two accesses must keep their order, and when they touch the same cell.

A conflict is a pair of accesses of one root with at least one write, except those whose order
nobody can see: updates by one exact operation, and writes of one and the same value.  Effects
conflict like memory: printing is a write to one cell that all printing shares.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import Literal

from fusewright.analysis.affine import fixed
from fusewright.analysis.unique import unwrapped, widens
from fusewright.analysis.unit import Access, Carried, Effect, Facts, Scope, Unit, scope
from fusewright.base.values import dataclass
from fusewright.ir.expr import Expr, index

Kind = Literal["RAW", "WAR", "WAW"]


@dataclass(frozen=True, slots=True)
class Row:
    """Two indices of one dim; the cells overlap where `left < right + right_width` and
    `right < left + left_width`.
    """

    left: Expr
    right: Expr
    left_width: int = 1
    right_width: int = 1


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two accesses whose order matters where every row holds."""

    source: Access
    sink: Access
    source_scope: Scope
    sink_scope: Scope
    rows: tuple[Row, ...]
    kind: Kind
    unknown: bool = False

    @property
    def commutes(self) -> bool:
        """Whether both are updates by one operation whose old value nobody uses."""
        return same_updates(self.source, self.sink)


@dataclass(frozen=True, slots=True)
class Token:
    """The root of an effect, which no array shares."""

    kind: str
    stream: str = ""

    def __str__(self) -> str:
        return {"print": "printing", "rng": f"the random stream {self.stream}".rstrip()}.get(
            self.kind, self.kind
        )


@dataclass(frozen=True, slots=True)
class Scalar:
    """The root of a local scalar: memory that only one loop sees."""

    name: str


TRAP, OPAQUE = Token("a possible error"), Token("an opaque call")
_TOKENS = {"trap": TRAP, "opaque": OPAQUE}


def same_updates(a: Access, b: Access) -> bool:
    """Updates by one operation, the old value unused."""
    return a.mode == b.mode == "update" and a.op == b.op and not (a.observed or b.observed)


def kind_of(a: Access, b: Access) -> Kind:
    """What the later access does to what the earlier one did."""
    if a.mode == "read":
        return "WAR"
    return "WAW" if b.mode == "write" else "RAW"


def everything(unit: Unit) -> tuple[Access, ...]:
    """The accesses, and effects and carried scalars as accesses."""
    return (
        *unit.accesses,
        *(_of_effect(effect) for effect in unit.effects),
        *(_of_scalar(unit, scalar) for scalar in unit.carried),
    )


def _of_effect(effect: Effect) -> Access:
    token = _TOKENS.get(effect.kind) or Token(effect.kind, effect.stream)
    return Access(
        token, "write", (), effect.order, effect.guards, effect.inner,
        span=effect.span, statement=effect.statement,
    )  # fmt: skip


def _of_scalar(unit: Unit, scalar: Carried) -> Access:
    """A scalar is a cell for each iteration of the loops outside the one that carries it."""
    return Access(
        Scalar(scalar.name), "update", _outside(unit, scalar.number), op=scalar.op,
        exact=scalar.exact, observed=not scalar.op, name=scalar.name, span=scalar.span,
        statement=scalar.statement,
    )  # fmt: skip


def _outside(unit: Unit, number: int) -> tuple[Expr, ...]:
    outer = []
    for dim in unit.dims:
        if dim.number == number:
            break
        outer.append(index(dim.number))
    return tuple(outer)


def between(a: Unit, b: Unit, facts: Facts) -> Iterator[Conflict]:
    """The conflicts of every iteration of `a` with every iteration of `b`."""
    left, right = _shared(a), _shared(b)
    written = _written(left) | _written(right)
    by_root: defaultdict[Hashable, list[Access]] = defaultdict(list)
    for access in right:
        by_root[access.root].append(access)
    for source in left:
        for sink in _partners(source, right, by_root):
            if _ordered(source, sink):
                yield _conflict(a, b, source, sink, facts, written)


def _shared(unit: Unit) -> tuple[Access, ...]:
    return tuple(access for access in everything(unit) if not isinstance(access.root, Scalar))


def within(unit: Unit, facts: Facts) -> Iterator[Conflict]:
    """The conflicts among a unit's own iterations, each pair of accesses once; updates that
    commute are among them (`Conflict.commutes`).
    """
    every = everything(unit)
    written = _written(every)
    for number, source in enumerate(every):
        for sink in every[number:]:
            related = source.root == sink.root or _global(source, sink) or _global(sink, source)
            if related and (_ordered(source, sink) or _collide(source, sink)):
                yield _conflict(unit, unit, source, sink, facts, written)


def _collide(a: Access, b: Access) -> bool:
    return a.mode == "update" and same_updates(a, b)


def _partners(
    source: Access, right: tuple[Access, ...], by_root: dict[Hashable, list[Access]]
) -> list[Access]:
    if source.root in (TRAP, OPAQUE):
        return [sink for sink in right if _global(source, sink)]
    found = list(by_root.get(source.root, ()))
    for token in (TRAP, OPAQUE):
        found += [sink for sink in by_root.get(token, ()) if _global(sink, source)]
    return found


def _global(token: Access, other: Access) -> bool:
    """Whether a trap or opaque call is ordered with the other: a trap with all that changes
    something, an opaque call with everything outside the loop's own scalars.
    """
    if isinstance(other.root, Scalar):
        return False
    return token.root == OPAQUE or (token.root == TRAP and other.mode != "read")


def _written(accesses: tuple[Access, ...]) -> frozenset[Hashable]:
    roots = {access.root for access in accesses if access.mode != "read"}
    return frozenset(roots)


def _ordered(a: Access, b: Access) -> bool:
    """Whether anybody could see which of the two came first."""
    if a.mode == b.mode == "read":
        return False
    if same_updates(a, b):
        return not (a.exact and b.exact)
    return not (a.mode == b.mode == "write" and same_value(a, b))


def same_value(a: Access, b: Access) -> bool:
    """Whether both writes store one value that no loop changes."""
    return a.value is not None and a.value is b.value and a.width == b.width == 1 and fixed(a.value)


def _conflict(
    a: Unit, b: Unit, source: Access, sink: Access, facts: Facts, written: frozenset[Hashable]
) -> Conflict:
    rows: tuple[Row, ...] = ()
    unknown = False
    if source.root == sink.root and len(source.indices) == len(sink.indices):
        unique = frozenset(facts.unique) - {root for root in written if isinstance(root, int)}
        pairs = [
            made
            for k, (left, right) in enumerate(zip(source.indices, sink.indices, strict=True))
            for made in _rows(left, right, k == len(source.indices) - 1, source, sink, unique)
        ]
        rows = tuple(pairs)
    elif source.root == sink.root:
        unknown = True
    return Conflict(
        source, sink, scope(a, source), scope(b, sink), rows, kind_of(source, sink), unknown
    )


def _rows(
    left: Expr, right: Expr, last: bool, a: Access, b: Access, unique: frozenset[int]
) -> list[Row]:
    if last and (a.width != 1 or b.width != 1):
        return [Row(left, right, a.width, b.width)]
    left, right = peeled(unwrapped(left, unique), unwrapped(right, unique))
    if left.name == right.name == "load" and left.attr == right.attr and left.attr in unique:
        return [
            row
            for x, y in zip(left.args, right.args, strict=True)
            for row in _rows(x, y, False, replace(a, width=1), replace(b, width=1), unique)
        ]
    return [Row(left, right)]


def peeled(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """The operands of equal one-to-one operations: `x ^ 1 = y ^ 1` where `x = y`."""
    while left.name == right.name and left.dtype is right.dtype and len(left.args):
        position = _one_to_one(left, right)
        if position is None:
            break
        left, right = left.args[position], right.args[position]
    return left, right


def _one_to_one(left: Expr, right: Expr) -> int | None:
    """Which operand decides the result, where the others are equal."""
    a, b = left.args, right.args
    if left.name in ("negative", "invert", "positive"):
        return 0
    if left.name == "cast":
        source = a[0].dtype
        return 0 if widens(source, left.dtype) and source is b[0].dtype else None
    if left.name in ("add", "bitwise_xor", "subtract"):
        for same, other in ((1, 0), (0, 1)):
            if a[same] is b[same] and fixed(a[same]):
                return other
    return None
