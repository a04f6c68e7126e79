"""The analysis' answers as a user reads them: what is fused, or what stands in the way, one real
case of it, and the knob or fact that would help.
"""

from __future__ import annotations

from fusewright.analysis.conflicts import Scalar, Token
from fusewright.analysis.guards import spelled
from fusewright.analysis.unit import NOTHING, Access, Dim, Facts, Unit, scope
from fusewright.analysis.verdict import (
    Blocker,
    Carry,
    Condition,
    Hull,
    Level,
    Order,
    Verdict,
    Witness,
)
from fusewright.ir.expr import Expr, rewrite
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import const

DEEDS = {"read": "reads", "write": "writes", "update": "updates"}


def describe(
    verdict: Verdict, a: Unit, b: Unit, facts: Facts = NOTHING, level: Level = "dims"
) -> str:
    """One line for the pair and one for each thing in the way."""
    if verdict.allowed(level):
        return "\n".join([_fused(verdict, a), *_left(verdict, a, b, facts)])
    return "\n".join(
        _refused(verdict, blocker, a, b, facts) for blocker in verdict.blockers
    ) or f"NOT FUSED: needs level={verdict.level}"


def _fused(verdict: Verdict, a: Unit) -> str:
    if verdict.level == "disjoint":
        return "FUSED: the loops share nothing that is written"
    names = ", ".join(_names(a, [p for p, _ in verdict.fused]))
    if verdict.level == "shift":
        steps = ", ".join(
            f"{name} by {step}"
            for name, step in zip(
                _names(a, [p for p, _ in verdict.matched]), verdict.shift or (), strict=True
            )
            if step is not None
        )
        return f"FUSED in order, the second loop later: {steps}"
    return f"FUSED on ({names})"


def _left(verdict: Verdict, a: Unit, b: Unit, facts: Facts) -> list[str]:
    if verdict.level != "dims" or not verdict.blockers:
        return []
    return [f"  inner loops stay apart: {_cause(verdict.blockers[0], a, b, facts)}"]


def _refused(verdict: Verdict, blocker: Blocker, a: Unit, b: Unit, facts: Facts) -> str:
    return f"NOT FUSED: {_cause(blocker, a, b, facts)}{_remedy(verdict, blocker)}"


def _cause(blocker: Blocker, a: Unit, b: Unit, facts: Facts) -> str:
    if not blocker.proved:
        return f"`{blocker.array}`: not proved within the budget"
    text = f"{blocker.kind} on `{blocker.array}`"
    gap = ", ".join(map(_distance, blocker.distance))
    if gap:
        text += f", distance {gap if len(blocker.distance) == 1 else f'({gap})'}"
    if blocker.witness is not None:
        text += f": e.g. {_case(blocker.witness, blocker.source, blocker.sink, (a, b), facts)}"
    return text


def _remedy(verdict: Verdict, blocker: Blocker) -> str:
    remedies = []
    if verdict.unique:
        remedies += [f"needs fw.assume_unique({name})" for name in verdict.unique]
    if verdict.level is not None:
        remedies.append(f"legal with level={verdict.level}")
    text = blocker.illegal.text if blocker.illegal else "always"
    if text != "always" and verdict.level is None:
        remedies.append(f"illegal iff {text}")
    return "".join(f"; {remedy}" for remedy in remedies)


def _distance(hull: Hull) -> str:
    low, high = hull
    if low == high and low is not None:
        return f"{low:+d}" if low else "0"
    ends = ("-inf" if low is None else f"{low:+d}", "+inf" if high is None else f"{high:+d}")
    return f"{ends[0]}..{ends[1]}"


def _names(unit: Unit, numbers: list[int]) -> list[str]:
    return [_dim_name(dim) for k in numbers for dim in unit.dims if dim.number == k]


def _dim_name(dim: Dim) -> str:
    return dim.name or f"i{dim.number}"


def _case(
    witness: Witness, source: Access, sink: Access, units: tuple[Unit, Unit], facts: Facts
) -> str:
    params = ", ".join(f"{spelled(expr, facts)}={value}" for expr, value in witness.params)
    start = f"{params}: " if params else ""
    sides = (
        _event(source, witness.source, witness.params, units[0], "loop 1"),
        _event(sink, witness.sink, witness.params, units[1], "loop 2"),
    )
    second = sides[1].replace(f" {source.label}[", " it[") if False else sides[1]
    return f"{start}{sides[0]}, {second}"


def _event(
    access: Access,
    iteration: tuple[tuple[Dim, int], ...],
    params: tuple[tuple[Expr, int], ...],
    unit: Unit,
    loop: str,
) -> str:
    where = f" (line {access.span[1]})" if access.span else ""
    name = unit.label if unit.label != "loop" else loop
    at = ", ".join(f"{_dim_name(dim)}={value}" for dim, value in iteration)
    return f"{name}{where} {_deed(access, iteration, params)}{f' at {at}' if at else ''}"


def _deed(
    access: Access,
    iteration: tuple[tuple[Dim, int], ...],
    params: tuple[tuple[Expr, int], ...],
) -> str:
    if isinstance(access.root, Token):
        return {"print": "prints", "rng": "draws a random number"}.get(
            access.root.kind, f"has {access.root}"
        )
    if isinstance(access.root, Scalar):
        return f"carries `{access.label}`"
    cell = ",".join(_value(index, iteration, params) for index in access.indices)
    return f"{DEEDS[access.mode]} {access.label}[{cell}]"


def _value(
    expr: Expr, iteration: tuple[tuple[Dim, int], ...], params: tuple[tuple[Expr, int], ...]
) -> str:
    """The index's value in this iteration, `?` where it is not known."""
    numbers = {dim.number: value for dim, value in iteration}
    values = dict(params)

    def put(node: Expr) -> Expr | None:
        if node.name == "index" and node.attr in numbers:
            return const(numbers[node.attr], INT64)
        return const(values[node], node.dtype) if node in values else None

    found = evaluate(rewrite(expr, put, {}))
    return "?" if found is None else str(found)


def evaluate(expr: Expr) -> int | None:
    """The value of an expression of literals."""
    from fusewright.ir.ops import MAP

    if expr.name == "const":
        return int(expr.attr)
    values = [evaluate(arg) for arg in expr.args]
    if None in values or expr.name in ("load", "index", "param"):
        return None
    row = MAP.get(_PLAIN.get(expr.name, expr.name))
    if row is None:
        return None
    typed = [arg.dtype.numpy.type(value) for arg, value in zip(expr.args, values, strict=True)]
    return int(expr.dtype.numpy.type(row.meaning(*typed)))


_PLAIN = {"imin": "minimum", "imax": "maximum", "shl": "left_shift", "shr": "right_shift"}


def describe_order(order: Order, unit: Unit, facts: Facts = NOTHING) -> str:
    """One line for each loop of the nest."""
    return "\n".join(_dim_line(order, dim, unit, facts) for dim in unit.dims)


def _dim_line(order: Order, dim: Dim, unit: Unit, facts: Facts) -> str:
    name = f"loop `{_dim_name(dim)}`"
    carries = [carry for carry in order.carries if carry.dim == dim.number]
    if carries:
        return f"{name} runs in order: {_carried(carries[0], unit, facts)}"
    sums = [r for r in order.reductions if dim.number in r.dims]
    if sums:
        parts = ", ".join(f"`{r.array}` ({r.op})" for r in sums)
        return f"{name} reduces {parts}"
    return f"{name} runs in parallel"


def _carried(carry: Carry, unit: Unit, facts: Facts) -> str:
    if not carry.proved:
        return f"`{carry.array}`: not proved within the budget"
    text = f"{carry.kind} on `{carry.array}`, distance {_distance(carry.distance)}"
    if carry.witness is None:
        return text
    params = ", ".join(f"{spelled(e, facts)}={value}" for e, value in carry.witness.params)
    start = f"{params}: " if params else ""
    witness = carry.witness
    first = _event(carry.source, witness.source, witness.params, unit, "iteration")
    second = _event(carry.sink, witness.sink, witness.params, unit, "iteration")
    return f"{text}: e.g. {start}{first}, {second}"


def lines(condition: Condition | None) -> str:
    """A condition as a sentence."""
    return f"illegal iff {condition.text}" if condition else ""


__all__ = ["describe", "describe_order", "evaluate", "lines", "scope"]
