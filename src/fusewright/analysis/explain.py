"""The analysis' answers as a user reads them: what is fused, or what stands in the way, one real
case of it, and the knob or fact that would help.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fusewright.analysis.conflicts import Scalar, Token
from fusewright.analysis.guards import spelled
from fusewright.analysis.unit import NOTHING, Access, Dim, Facts, Unit
from fusewright.analysis.values import value
from fusewright.analysis.verdict import Blocker, Carry, Hull, Level, Order, Verdict, Witness
from fusewright.ir.expr import Expr, postorder

VERBS = {"read": "reads", "write": "writes", "update": "updates"}
DEEDS = {"print": "prints", "rng": "draws from the random stream"}
TINY = 3
KINDS = {"RAW": "read after write", "WAR": "write after read", "WAW": "write after write"}
HUGE = 1 << 40
"""A distance only the size of memory bounds."""
Iteration = tuple[tuple[Dim, int], ...]


def describe(
    verdict: Verdict, a: Unit, b: Unit, facts: Facts = NOTHING, level: Level = "dims"
) -> str:
    """What happens to a pair of nests under this setting of the level, and why."""
    if verdict.allowed(level):
        return "\n".join([_fused(verdict, a), *_apart(verdict, a, b, facts)])
    return "\n".join(f"not fused: {why}" for why in why_apart(verdict, a, b, facts))


def why_apart(verdict: Verdict, a: Unit, b: Unit, facts: Facts = NOTHING) -> list[str]:
    """What stands in the way of a pair that the setting of the level does not allow."""
    if not verdict.blockers:
        return [f"legal with level={verdict.level}"]
    return [
        f"{_cause(blocker, a, b, facts)}{_remedy(verdict, blocker)}" for blocker in verdict.blockers
    ]


def _fused(verdict: Verdict, a: Unit) -> str:
    if verdict.level == "disjoint":
        return "fused: neither loop touches what the other writes"
    if verdict.level == "shift" and verdict.shift is not None:
        names = _names(a, [p for p, _ in verdict.matched])
        steps = zip(names, verdict.shift, strict=True)
        later = ", ".join(f"{name} by {step}" for name, step in steps if step)
        return f"fused, run in order{', the second loop later in ' if later else ''}{later}"
    return f"fused on ({', '.join(_names(a, [p for p, _ in verdict.fused]))})"


def _apart(verdict: Verdict, a: Unit, b: Unit, facts: Facts) -> list[str]:
    if verdict.level != "dims" or verdict.complete:
        return []
    return [f"  loops further in stay apart: {_cause(verdict.blockers[0], a, b, facts)}"]


def _cause(blocker: Blocker, a: Unit, b: Unit, facts: Facts) -> str:
    if not blocker.proved:
        return f"`{blocker.array}`: nothing proved within the budget of {facts.budget} operations"
    text = f"{KINDS[blocker.kind]} of `{blocker.array}`"
    if isinstance(blocker.source.root, Token):
        text = f"order of {blocker.source.root}"
    elif len(blocker.distance) == 1:
        text += f", distance {_distance(blocker.distance[0])}"
    elif blocker.distance:
        text += f", distance ({', '.join(map(_distance, blocker.distance))})"
    if blocker.witness is None:
        return text
    labels = [unit.label if unit.label != "loop" else f"loop {k}" for k, unit in ((1, a), (2, b))]
    return f"{text}: e.g. {_case(blocker.witness, blocker.source, blocker.sink, labels, facts)}"


def _remedy(verdict: Verdict, blocker: Blocker) -> str:
    """What would change the answer: a fact, a level, other parameters."""
    remedies = []
    if verdict.level is not None:
        remedies.append(f"legal with level={verdict.level}")
    elif blocker.illegal is not None and _worth_saying(blocker.witness):
        remedies.append(f"illegal iff {without_memory_bounds(blocker.illegal.text)}")
    return unique_in_words(verdict.unique) + "".join(f"; {remedy}" for remedy in remedies)


def _worth_saying(witness: Witness | None) -> bool:
    """Whether the smallest illegal case is not tiny: nobody runs a loop of one iteration."""
    return witness is not None and any(number > TINY for _, number in witness.params)


def without_memory_bounds(text: str) -> str:
    """A condition without what every array meets: `n <= 140737488355327 and n < m` is `n < m`."""
    bound = r"[^\s()]+ <= 140737488355327"
    text = re.sub(rf"{bound} and ", "", text)
    return re.sub(rf" and {bound}", "", text)


def _distance(hull: Hull) -> str:
    """`+1`, or `-1..+1`; `0 or more` where the distance grows with a parameter."""
    open_ = (None if end is None or abs(end) >= HUGE else end for end in hull)
    low, high = ("" if end is None else f"{end:+d}" if end else "0" for end in open_)
    if low and high:
        return low if low == high else f"{low}..{high}"
    return f"{low} or more" if low else f"{high} or less" if high else "not constant"


def _names(unit: Unit, numbers: Sequence[int]) -> list[str]:
    return [_name(dim) for number in numbers for dim in unit.dims if dim.number == number]


def _name(dim: Dim) -> str:
    return dim.name or f"i{dim.number}"


def _case(
    witness: Witness, source: Access, sink: Access, labels: Sequence[str], facts: Facts
) -> str:
    """`n=2: loop 1 writes a[0] at i=0, loop 2 reads it at i=1`."""
    params = ", ".join(f"{spelled(expr, facts)}={number}" for expr, number in witness.params)
    known = dict(witness.params)
    cells = [_cell(source, witness.source, known), _cell(sink, witness.sink, known)]
    if cells[0] == cells[1] and "?" not in cells[0]:
        cells[1] = "it"
    sides = zip(labels, (source, sink), (witness.source, witness.sink), cells, strict=True)
    may = "" if witness.certain else "may "
    told = ", ".join(_deed(label, access, at, cell, may) for label, access, at, cell in sides)
    return f"{params}: {told}" if params else told


def _deed(label: str, access: Access, iteration: Iteration, cell: str, may: str) -> str:
    line = f" (line {access.span[1]})" if access.span else ""
    at = ", ".join(f"{dim.name}={number}" for dim, number in iteration if dim.name)
    where = f" at {at}" if at else ""
    if isinstance(access.root, Token):
        deed = DEEDS.get(access.root.kind, f"has {access.root}")
    elif isinstance(access.root, Scalar):
        deed = f"uses and sets {access.label}"
    else:
        verb = VERBS[access.mode]
        deed = f"{may}{verb.removesuffix('s') if may else verb} {cell}"
    return f"{label}{line} {deed}{where}"


def _cell(access: Access, iteration: Iteration, params: dict[Expr, int]) -> str:
    from_index = {dim.number: number for dim, number in iteration}
    known = dict(params)
    for expr in access.indices:
        known.update({node: from_index[node.attr] for node in loops_in(expr)
                      if node.attr in from_index})  # fmt: skip
    found = [value(expr, known) for expr in access.indices]
    inside = ",".join("?" if number is None else str(number) for number in found)
    return f"{access.label}[{inside}]" if found else access.label


def loops_in(expr: Expr) -> list[Expr]:
    """The loop indices an expression uses."""
    return [node for node in postorder([expr]) if node.name == "index"]


def describe_order(order: Order, unit: Unit, facts: Facts = NOTHING) -> str:
    """One line for each of the nest's dims: parallel, reducing, or in order and why."""
    return "\n".join(_dim_line(order, dim, facts) for dim in unit.dims)


def _dim_line(order: Order, dim: Dim, facts: Facts) -> str:
    carries = [carry for carry in order.carries if carry.dim == dim.number]
    if carries:
        return f"loop `{_name(dim)}` runs in order: {conflict_in_words(carries[0], facts)}"
    parts = [f"`{r.array}` by {r.op}" for r in order.reductions if dim.number in r.dims]
    if parts:
        return f"loop `{_name(dim)}` reduces {', '.join(parts)}"
    return f"loop `{_name(dim)}` runs in parallel"


def conflict_in_words(carry: Carry, facts: Facts) -> str:
    """What a loop carries from one iteration to a later one."""
    if not carry.proved:
        return f"`{carry.array}`: nothing proved within the budget of {facts.budget} operations"
    if isinstance(carry.source.root, Scalar):
        return f"`{carry.array}` keeps its value from one iteration to the next"
    text = f"{KINDS[carry.kind]} of `{carry.array}`, distance {_distance(carry.distance)}"
    if isinstance(carry.source.root, Token):
        text = f"order of {carry.source.root}"
    if carry.witness is None:
        return text
    labels = ("an iteration", "a later one")
    return f"{text}: e.g. {_case(carry.witness, carry.source, carry.sink, labels, facts)}"


def unique_in_words(tables: Sequence[str]) -> str:
    """The facts that would help."""
    return "".join(f"; needs fw.assume_unique({name})" for name in tables)
