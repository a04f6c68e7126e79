"""Which scalars of a kernel decide where it reads and writes, and how often."""

from __future__ import annotations

from fusewright.ir.expr import Expr, postorder
from fusewright.ir.loops.statements import For, Kernel, Let, Store, expressions, walk


def steering(kernel: Kernel) -> frozenset[int]:
    """The parameters that bounds and indices depend on: their values are part of what is raised."""
    found: list[Expr] = []
    lets: dict[int, list[Expr]] = {}
    for statement in walk(kernel.body):
        if isinstance(statement, Let):
            lets.setdefault(statement.local, []).append(statement.value)
        if isinstance(statement, For):
            found += expressions(statement)
        elif isinstance(statement, Store):
            found += statement.indices
        loads = (n for n in postorder(expressions(statement)) if n.name == "load")
        found += [place for node in loads for place in node.args]
    followed: set[int] = set()
    parameters: set[int] = set()
    while found:
        for node in postorder([found.pop()]):
            if node.name == "param":
                parameters.add(node.attr)
            elif node.name == "local" and node.attr not in followed:
                followed.add(node.attr)
                found += lets.get(node.attr, ())
    return frozenset(parameters)
