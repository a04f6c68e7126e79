"""Brute force: nests run iteration by iteration on numbers, in any order, and compared.

Every write stores a value nobody else stores (a hash of the statement, the iteration and all that
the iteration has read), so two orders end in the same memory only if they are equivalent.
"""

from hashlib import blake2b
from itertools import permutations, product
from random import Random

from fusewright.analysis.conflicts import Scalar, Token
from fusewright.analysis.unit import Access, Effect
from fusewright.ir.expr import index
from fusewright.ir.ops import MAP

PLAIN = {"imin": "minimum", "imax": "maximum", "shl": "left_shift", "shr": "right_shift"}
MASK = (1 << 61) - 1


def mixed(*parts):
    """A number made of these, the same in every process."""
    return int.from_bytes(blake2b(repr(parts).encode(), digest_size=8).digest(), "big") & MASK


class Trapped(Exception):
    """An iteration raised an error: nothing after it runs."""


class Memory:
    """Cells by (root, indices); a cell nobody has written holds a number made of its name."""

    def __init__(self, tables=None):
        self.cells = {}
        for root, values in (tables or {}).items():
            for position, value in enumerate(values):
                self.cells[root, (position,)] = value

    def get(self, root, cell):
        found = self.cells.get((root, cell))
        return found if found is not None else mixed(str(root), cell)

    def copy(self):
        other = Memory()
        other.cells = dict(self.cells)
        return other

    def frozen(self, locals_too=True):
        """All that can be seen; a loop's own scalars are gone once an error has left it."""
        return frozenset(
            (key, value)
            for key, value in self.cells.items()
            if locals_too or not isinstance(key[0], Scalar)
        )


def value_of(expr, loops, params, memory):
    """An expression's value, in the arithmetic of its type."""
    if expr.name == "const":
        return expr.attr
    if expr.name == "index":
        return loops[expr.attr]
    if expr.name == "param":
        return params[expr.attr]
    values = [value_of(arg, loops, params, memory) for arg in expr.args]
    if expr.name == "load":
        found = memory.get(expr.attr, tuple(int(v) for v in values))
        return bool(found % 2) if expr.dtype.kind == "b" else found
    if expr.name == "cast":
        size = 1 << expr.dtype.bits
        value = int(values[0]) % size
        return value - size if expr.dtype.kind == "i" and value >= size // 2 else value
    typed = [arg.dtype.numpy.type(value) for arg, value in zip(expr.args, values, strict=True)]
    return MAP[PLAIN.get(expr.name, expr.name)].meaning(*typed).item()


class Program:
    """One unit with its parameters: its iterations and what each does to a memory."""

    def __init__(self, unit, params, label):
        self.unit, self.params, self.label = unit, params, label
        scalars = [
            Access(Scalar(f"{label}.{s.name}"), "update", self._outside(s.number), op=s.op,
                   observed=not s.op, exact=s.exact)
            for s in unit.carried
        ]  # fmt: skip
        self.parts = sorted((*unit.accesses, *unit.effects), key=lambda p: p.order) + scalars

    def _outside(self, number):
        """A scalar carried by a loop begins anew in each iteration of the loops outside."""
        numbers = [dim.number for dim in self.unit.dims]
        return tuple(index(outer) for outer in numbers[: numbers.index(number)])

    def iterations(self, memory, dims=None, loops=None):
        """All iterations as {number: value}, in order; bounds are read from memory now."""
        dims = self.unit.dims if dims is None else dims
        loops = loops or {}
        if not dims:
            return [loops]
        low, high = (value_of(e, loops, self.params, memory) for e in (dims[0].low, dims[0].high))
        return [
            point
            for value in range(low, high)
            for point in self.iterations(memory, dims[1:], {**loops, dims[0].number: value})
        ]

    def run(self, loops, memory):
        """One iteration of the unit, as one step."""
        seen = []
        if not self._holds(self.unit.guards, loops, memory):
            return
        for part in self.parts:
            if isinstance(part, Access) and part.depth is not None:
                continue
            for point in self.iterations(memory, part.inner, loops):
                if self._holds(part.guards, point, memory):
                    self._act(part, point, memory, seen)

    def _holds(self, guards, loops, memory):
        return all(value_of(g, loops, self.params, memory) for g in guards)

    def _act(self, part, loops, memory, seen):
        name = (self.label, part.order, tuple(sorted(loops.items())))
        if isinstance(part, Effect):
            if part.kind == "trap":
                raise Trapped
            token = Token(part.kind, part.stream)
            seen.append(memory.get(token, ()))
            memory.cells[token, ()] = mixed(memory.get(token, ()), name)
            return
        cell = tuple(int(value_of(e, loops, self.params, memory)) for e in part.indices)
        for offset in range(part.width):
            place = (*cell[:-1], cell[-1] + offset) if cell else ()
            self._touch(part, place, name, loops, memory, seen)

    def _touch(self, part, cell, name, loops, memory, seen):
        old = memory.get(part.root, cell)
        if part.mode == "read":
            seen.append(old)
            return
        fresh = mixed(name, cell, seen)
        if part.value is not None:
            fresh = value_of(part.value, loops, self.params, memory)
        if part.mode == "update":
            if part.observed:
                seen.append(old)
            commuting = {"add": lambda a, b: a + b & MASK, "max": max, "min": min}
            combine = commuting.get(part.op) if part.exact else None
            fresh = combine(old, fresh) if combine else mixed(old, fresh)
        memory.cells[part.root, cell] = fresh


def outcome(steps, memory):
    """The memory after these steps, with the place where an error stopped them."""
    memory = memory.copy()
    for program, loops in steps:
        try:
            program.run(loops, memory)
        except Trapped:
            return (memory.frozen(locals_too=False), "trapped")
    return (memory.frozen(), "")


def steps_in_order(a, b, memory):
    """The program as written; B's bounds are read when A has run."""
    memory = memory.copy()
    first = [(a, point) for point in a.iterations(memory)]
    for program, point in first:
        try:
            program.run(point, memory)
        except Trapped:
            return first
    return first + [(b, point) for point in b.iterations(memory)]


def project(point, numbers):
    return tuple(point[number] for number in numbers)


def fused(a, b, matched, shift, memory):
    """A and B on the matched dims in order, B later by `shift`; both loops' bounds at entry."""
    left, right = [p for p, _ in matched], [q for _, q in matched]
    keyed = [
        (project(point, left), 0, number, a, point)
        for number, point in enumerate(a.iterations(memory))
    ]
    for number, point in enumerate(b.iterations(memory)):
        key = tuple(v + s for v, s in zip(project(point, right), shift, strict=True))
        keyed.append((key, 1, number, b, point))
    return [(program, point) for *_, program, point in sorted(keyed, key=lambda k: k[:3])]


def in_order(a, b, matched, shift, memory):
    """Whether fused in order, shifted, gives what A then B gives."""
    expected = outcome(steps_in_order(a, b, memory), memory)
    return outcome(fused(a, b, matched, shift, memory), memory) == expected


def interleavings(first, second, random, limit):
    """Orders of the groups in which A's group comes before B's of the same key; all of them if
    they are few, else `limit` at random.
    """
    names = [("a", key) for key in first] + [("b", key) for key in second]
    if len(names) <= 6:
        orders = map(list, permutations(names))
    else:
        orders = (random.sample(names, len(names)) for _ in range(limit))
    for order in orders:
        for key in second:
            if key in first:
                x, y = order.index(("a", key)), order.index(("b", key))
                order[min(x, y)], order[max(x, y)] = ("a", key), ("b", key)
        yield order


def grouped(program, numbers, memory):
    """A program's steps by the value of these dims."""
    groups = {}
    for point in program.iterations(memory):
        groups.setdefault(project(point, numbers), []).append((program, point))
    return groups


def in_parallel(a, b, matched, memory, limit=150):
    """Whether every interleaving of the matched iterations gives an outcome that A's groups in some
    order and then B's in some order give too.
    """
    first = grouped(a, [p for p, _ in matched], memory)
    second = grouped(b, [q for _, q in matched], memory)
    if max(len(first), len(second)) > 4:
        raise ValueError("too many groups for all orders")
    possible = {
        outcome([s for x in left for s in first[x]] + [s for y in right for s in second[y]], memory)
        for left, right in product(permutations(first), permutations(second))
    }
    groups = {"a": first, "b": second}
    return all(
        outcome([s for side, key in order for s in groups[side][key]], memory) in possible
        for order in interleavings(first, second, Random(0), limit)
    )


def racy(program, memory):
    """Whether some order of the iterations ends in another memory than the order written."""
    points = program.iterations(memory)
    straight = outcome([(program, point) for point in points], memory)
    return any(
        outcome([(program, point) for point in order], memory) != straight
        for order in permutations(points)
    )
