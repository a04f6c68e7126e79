"""NumPy's functions whose arguments may have names: a row takes them as a mapping."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from fusewright.base.errors import KernelCallError
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.frontends.kernels import lists
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.operators import operands
from fusewright.frontends.kernels.values import Number, Static, TupleValue, Value, described

Given = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Named:
    """How a call is translated: the parameters that kernels take, of which the first `least` must
    be given, those that are only given by name, and what becomes of them.
    """

    names: tuple[str, ...]
    row: Callable[[Translation, ast.Call, Given], Value]
    least: int = 1
    only_named: tuple[str, ...] = ()


def call(
    t: Translation, node: ast.Call, named: Named, label: str, first: Sequence[Value] = ()
) -> Value:
    """Translate a call; `first` are the arguments that stand before it (a method's array)."""
    keywords = [str(keyword.arg) for keyword in node.keywords]
    placed = named.names[: len(first) + len(node.args)]
    for keyword in keywords:
        if keyword not in (*named.names, *named.only_named) or keyword in placed:
            takes = ", ".join((*named.names[len(first) :], *named.only_named)) or "none"
            raise t.refuse(
                node,
                f"argument `{keyword}` of {label} in a kernel",
                help=f"the arguments that it takes in kernels: {takes}",
            )
    if len(first) + len(node.args) > len(named.names) or len(placed) + len(keywords) < named.least:
        count = len(node.args) + len(keywords)
        raise KernelCallError(
            f"{count} arguments of {label}",
            t.span(node),
            why=f"in kernels it takes {', '.join(named.names[len(first) :])}",
        )
    values = operands(t, [*node.args, *(keyword.value for keyword in node.keywords)])
    values = [lists.arrays(t, value, t.span(node)) for value in values]
    return named.row(t, node, dict(zip((*placed, *keywords), [*first, *values], strict=True)))


def is_absent(given: Given, name: str) -> bool:
    """Whether an argument is left out, or None."""
    value = given.get(name)
    return value is None or (isinstance(value, Static) and value.value is None)


def flag(given: Given, name: str, span: Span) -> bool:
    """An argument that is True or False when the kernel is compiled; False where it is left out."""
    value = given.get(name)
    if value is None:
        return False
    literal = value.literal if isinstance(value, Number) else None
    if not isinstance(literal, bool | int):
        raise KernelCallError(
            f"`{name}` is not known when the kernel is compiled",
            span,
            help=f"write {name}=True or {name}=False, or fw.static(...) of an argument",
        )
    return bool(literal)


def axis(value: Value, rank: int, span: Span) -> int:
    """A dim that is known when the kernel is compiled, counted from 0."""
    literal = value.literal if isinstance(value, Number) else None
    if not isinstance(literal, int):
        raise KernelCallError(
            f"an axis that is {described(value)}",
            span,
            why="the dims of a result are decided when the kernel is compiled",
            help="write a literal, or fw.static(axis) of an argument",
        )
    if not -rank <= literal < rank:
        raise KernelCallError(f"axis {literal} is out of bounds for an array of {rank} dims", span)
    return int(literal) % rank


def axes(given: Given, name: str, rank: int, span: Span) -> tuple[int, ...]:
    """Several dims, each once; all where the argument is left out."""
    if is_absent(given, name):
        return tuple(range(rank))
    value = given[name]
    items = value.items if isinstance(value, TupleValue) else (value,)
    found = tuple(axis(item, rank, span) for item in items)
    if len(set(found)) < len(found):
        raise KernelCallError("a dim that is named twice", span)
    return found
