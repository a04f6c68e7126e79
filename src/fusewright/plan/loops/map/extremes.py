"""Greatest and least floats, in vectors and on threads: by any order first, and again in order
where that could be seen.

    for i: v = where(a[i] > v, a[i], v)     w = v
                                       ->   for i: w = fmax(w, a[i])            any order
                                            if w == 0 or w or v is not a number:
                                              for i: v = where(a[i] > v, a[i], v)
                                            else: v = w

The order of comparing decides two things only: which zero's sign the result has (where it is 0),
and what becomes of numbers that are none.  `a[i] > v` passes over those, as `fmax` does, unless v
is one; `np.maximum` keeps them, and then the result is one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from fusewright.base.values import dataclass
from fusewright.ir.dtypes import FLOAT32, FLOAT64
from fusewright.ir.expr import Expr, const, local, op, postorder
from fusewright.ir.loops.statements import For, If, Kernel, Let, Local, Statement, expressions
from fusewright.plan.loops.legality.live_in import assigned, exposed
from fusewright.plan.loops.normalise.rename import Numbers, copied

_PASSING = {"greater": "fmax", "greater_equal": "", "less": "fmin", "less_equal": ""}
"""`x > v ? x : v`.  (`x >= v` would take the later of two zeros, and is rare.)"""
_KEEPING = frozenset({"maximum", "minimum"})


@dataclass(frozen=True, slots=True)
class Checked:
    """The kernel, and the variables whose updates by an extreme may take any order."""

    kernel: Kernel
    variables: frozenset[int]


def with_checked_extremes(kernel: Kernel, numbers: Numbers) -> Checked:
    """The loops of a kernel, at the top, that do nothing else."""
    body: list[Statement] = []
    found: set[int] = set()
    for statement in kernel.body:
        fresh = _checked(kernel, statement, numbers) if isinstance(statement, For) else None
        if fresh is None:
            body.append(statement)
        else:
            body += fresh[0]
            found |= fresh[1]
    made = replace(kernel, body=tuple(body), locals=tuple(numbers.locals))
    return Checked(made, frozenset(found))


def _checked(
    kernel: Kernel, loop: For, numbers: Numbers
) -> tuple[list[Statement], set[int]] | None:
    updates: dict[int, tuple[str, Expr]] = {}
    handed_on = exposed(loop.body)
    for statement in loop.body:
        let = _as_let(statement)
        if let is None:
            return None
        if let.local in handed_on:
            update = _update(let)
            if update is None or let.local in updates:
                return None
            updates[let.local] = update
    read = Counter(
        n.attr for s in loop.body for n in postorder(expressions(s)) if n.name == "local"
    )
    others = assigned(loop.body) - set(updates)
    mutable = any(kernel.locals[number].mutable for number in others)
    if not updates or mutable or any(read[number] > 2 for number in updates):
        return None
    if any(kernel.locals[n].dtype not in (FLOAT32, FLOAT64) for n in updates):
        return None
    return _twice(loop, updates, numbers)


def _as_let(statement: Statement) -> Let | None:
    """A variable's new value; `if x > v: v = x` is one."""
    if isinstance(statement, If) and len(statement.body) == 1 and not statement.orelse:
        let = statement.body[0]
        if isinstance(let, Let):
            kept = local(let.local, let.value.dtype)
            return replace(let, value=op("where", statement.condition, let.value, kept))
    return statement if isinstance(statement, Let) else None


def _update(let: Let) -> tuple[str, Expr] | None:
    """The operation and operand of `v = extreme(v, x)`."""
    value, own = let.value, local(let.local, let.value.dtype)
    if value.name in _KEEPING and own in value.args:
        first, second = value.args
        return value.name, second if first is own else first
    if value.name != "where" or value.args[2] is not own:
        return None
    condition, chosen, _ = value.args
    name = _PASSING.get(condition.name, "")
    return (name, chosen) if name and condition.args == (chosen, own) else None


def _twice(
    loop: For, updates: dict[int, tuple[str, Expr]], numbers: Numbers
) -> tuple[list[Statement], set[int]]:
    quick = {number: _fresh(numbers, number) for number in updates}
    lets = []
    for statement in loop.body:
        let = _as_let(statement)
        assert let is not None
        if let.local in updates:
            name, operand = updates[let.local]
            own = local(quick[let.local], operand.dtype)
            let = Let(own.attr, op(name, own, operand), statement.span)
        lets.append(let)
    (fast,) = copied((replace(loop, body=tuple(lets)),), numbers)
    kinds = {number: operand.dtype for number, (_, operand) in updates.items()}
    start = [Let(quick[n], local(n, kinds[n]), loop.span) for n in updates]
    end = tuple(Let(n, local(quick[n], kinds[n]), loop.span) for n in updates)
    tests = [_is_unsure(local(quick[n], kinds[n]), local(n, kinds[n])) for n in updates]
    unsure = tests[0]
    for test in tests[1:]:
        unsure = op("logical_or", unsure, test)
    return [*start, fast, If(unsure, (loop,), end, loop.span)], set(quick.values())


def _fresh(numbers: Numbers, like: int) -> int:
    old = numbers.locals[like]
    return numbers.local(Local(old.name, old.dtype, mutable=True))


def _is_unsure(found: Expr, before: Expr) -> Expr:
    """Whether the order may be seen in the result."""
    none = [op("not_equal", value, value) for value in (found, before)]
    zero = op("equal", found, const(0.0, found.dtype))
    return op("logical_or", zero, op("logical_or", *none))
