"""Variables that a loop only updates, by one operation whose order no bit depends on: sums,
products, bits, minima and maxima of integers.

    for i in [0, n):            each thread, and each lane of a vector, has a variable of its own
      v = v + a[i]       ->     that starts from the operation's identity; they are joined into v
                                when the loop has ended
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fusewright.ir.dtypes import BOOL, FLOAT32, FLOAT64, DType
from fusewright.ir.expr import Expr, const, local, op, postorder
from fusewright.ir.identity import of_update
from fusewright.ir.loops.statements import (
    For,
    If,
    Kernel,
    Let,
    Statement,
    Store,
    blocks,
    with_blocks,
)
from fusewright.plan.loops.legality.live_in import Locals, assigned, exposed
from fusewright.plan.loops.legality.loop_facts import reductions
from fusewright.plan.loops.normalise.rename import Body, rewritten

BITS = frozenset({"bitwise_and", "bitwise_or", "bitwise_xor"})
IN_LANES = BITS | {"add", "multiply", "minimum", "maximum", "imin", "imax"}
"""Operations that lanes may share."""
EXTREMES = frozenset({"fmax", "fmin", "maximum", "minimum"})
ON_THREADS = (IN_LANES | EXTREMES) - {"multiply"}
"""Those that threads can join: by a step in memory that no other comes between."""
ROUNDED = frozenset({"add", "multiply"})
"""Operations whose order the user may give free for floats."""
CHEAP = IN_LANES | {"subtract", "negative", "cast", "const", "param", "index", "local", "where"}
FEW = 8
"""What is computed whether it is needed or not: so many of such operations, at most."""
Folds = Mapping[int, str]


def folds(
    kernel: Kernel, loop: For, live: Locals, reassociate: bool, checked: Locals
) -> Folds | None:
    """The operation of each variable that the loop hands on; None if one is no such variable.

    With `reassociate` sums and products of floats count as such; extremes of floats do for
    variables that are `checked` afterwards.
    """
    found: dict[int, str] = {}
    handed_on = assigned(loop.body) & (exposed(loop.body) | live)
    kinds = reductions(loop, handed_on)
    for number in handed_on:
        kind = kinds[number]
        dtype = kernel.locals[number].dtype
        free = reassociate and kind in ROUNDED and dtype in (FLOAT32, FLOAT64)
        free = free or (number in checked and kind in EXTREMES)
        if not (free or is_associative(kind, dtype)):
            return None
        found[number] = kind
    return found


def is_associative(kind: str, dtype: DType) -> bool:
    """Whether updates by an operation give the same bits in any order, and lanes can share them."""
    return kind in BITS if dtype is BOOL else kind in IN_LANES and dtype.is_integer


# -- comparisons as what they are ------------------------------------------------------------------

_EXTREMES = {
    "greater": ("maximum", "minimum"), "greater_equal": ("maximum", "minimum"),
    "less": ("minimum", "maximum"), "less_equal": ("minimum", "maximum"),
}  # fmt: skip
"""`x > y ? x : y`, and `x > y ? y : x`."""


def with_extremes(kernel: Kernel) -> Kernel:
    """Minima and maxima of integers written with a comparison, as the operations:
    `if a[i] > v: v = a[i]`  ->  `v = maximum(v, a[i])`; and updates by a condition as updates.
    """
    return replace(kernel, body=_block(kernel.body))


def _block(body: Body) -> Body:
    return tuple(_statement(s) for s in body)


def _statement(statement: Statement) -> Statement:
    statement = with_blocks(statement, [_block(block) for block in blocks(statement)])
    if isinstance(statement, If) and len(statement.body) == 1 and not statement.orelse:
        let = statement.body[0]
        if isinstance(let, Let):
            kept = local(let.local, let.value.dtype)
            value = extreme(statement.condition, let.value, kept)
            value = value or _always(statement.condition, let.value, kept)
            if value is not None:
                return replace(let, value=value)
    if isinstance(statement, Let | Store):
        return rewritten((statement,), _of_choice)[0]
    return statement


def _of_choice(node: Expr) -> Expr | None:
    return extreme(*node.args) if node.name == "where" else None


def _always(condition: Expr, value: Expr, kept: Expr) -> Expr | None:
    """`if c: v = v + x` as `v = v + (x if c else 0)`: no branch that the processor has to guess."""
    if not is_associative(value.name, kept.dtype) or value.args.count(kept) != 1:
        return None
    operand = value.args[value.args[0] is kept]
    loaded = {node for node in postorder([condition]) if node.name == "load"}
    cheap = [node.name in CHEAP or node in loaded for node in postorder([operand])]
    if not all(cheap) or len(cheap) > FEW or kept in postorder([condition, operand]):
        return None
    nothing = const(of_update(value.name, kept.dtype), kept.dtype)
    return op(value.name, kept, op("where", condition, operand, nothing))


def extreme(condition: Expr, chosen: Expr, other: Expr) -> Expr | None:
    """`where(condition, chosen, other)` of integers as a minimum or maximum."""
    words = _EXTREMES.get(condition.name)
    if words is None or not chosen.dtype.is_integer or chosen.dtype is not other.dtype:
        return None
    if condition.args == (chosen, other):
        return op(words[0], other, chosen)
    if condition.args == (other, chosen):
        return op(words[1], other, chosen)
    return None
