"""Which names of a function are read later: what a loop or a branch must hand on.

A backward pass over the syntax tree.  Too many live names cost a variable, never a wrong value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

Names = frozenset[str]
NONE: Names = frozenset()


def reads(node: ast.AST | None) -> Names:
    """The names an expression reads."""
    if node is None:
        return NONE
    return frozenset(
        inner.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)
    )


def targets(node: ast.AST) -> Names:
    """The names an assignment's target binds."""
    return frozenset(
        inner.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    )


def assigned(body: Iterable[ast.AST]) -> list[str]:
    """Every name that some statement binds, in order."""
    found: dict[str, None] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.setdefault(node.id)
    return list(found)


NESTED = (ast.FunctionDef, ast.Lambda)
"""What is computed later than where it stands."""


def nested_reads(body: Iterable[ast.stmt]) -> Names:
    """The names that functions inside these statements read, whenever they are called."""
    found = (n for statement in body for n in ast.walk(statement) if isinstance(n, NESTED))
    return frozenset[str]().union(*map(reads, found))


def leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether the end of these statements is never reached."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return | ast.Continue | ast.Break | ast.Raise):
        return True
    return isinstance(last, ast.If) and leaves(last.body) and leaves(last.orelse)


def jumps(body: Sequence[ast.stmt]) -> bool:
    """Whether these statements end with a jump; one that raises ends the kernel by itself."""
    return leaves(body) and not isinstance(body[-1], ast.Raise)


class Liveness:
    """The analysis of one function, with what it found out.  Names that functions inside it read
    are `always` live: nobody sees where those are called.
    """

    def __init__(self, always: Names = NONE) -> None:
        self.always = always
        self._known: dict[tuple[int, Names, Names, Names], Names] = {}
        self._loops: dict[tuple[int, Names, Names, Names], Names] = {}
        self._kept: list[ast.stmt] = []

    def before(
        self, body: Sequence[ast.stmt], after: Names, on_continue: Names, on_break: Names
    ) -> Names:
        """What is live where a list of statements starts."""
        return self.between(body, after, on_continue, on_break)[0]

    def between(
        self, body: Sequence[ast.stmt], after: Names, on_continue: Names, on_break: Names
    ) -> list[Names]:
        """What is live before each of the statements, and after the last: one backward pass."""
        found = [after]
        for statement in reversed(body):
            found.append(self._statement(statement, found[-1], on_continue, on_break))
        return found[::-1]

    def around(
        self, loop: ast.For | ast.While, after: Names, on_continue: Names, on_break: Names
    ) -> Names:
        """What is live where an iteration of a loop begins (before its target is bound); the jumps
        are those of the loop around it, which its `else` may make.
        """
        key = (id(loop), after, on_continue, on_break)
        found = self._loops.get(key)
        if found is None:
            test = reads(loop.test) if isinstance(loop, ast.While) else NONE
            found = self.before(loop.orelse, after, on_continue, on_break) | test | self.always
            while True:
                body = self.before(loop.body, found, found, after)
                if isinstance(loop, ast.For):
                    body = (body - targets(loop.target)) | self.always
                if body <= found:
                    break
                found |= body
            self._loops[key] = found
            self._kept.append(loop)
        return found

    def _statement(
        self, node: ast.stmt, after: Names, on_continue: Names, on_break: Names
    ) -> Names:
        key = (id(node), after, on_continue, on_break)
        found = self._known.get(key)
        if found is None:
            live = self._compute(node, after, on_continue, on_break)
            found = self._known[key] = live | self.always
            self._kept.append(node)  # its identity is a key
        return found

    def _compute(self, node: ast.stmt, after: Names, on_continue: Names, on_break: Names) -> Names:
        if isinstance(node, ast.Return):
            return reads(node.value)
        if isinstance(node, ast.Raise):
            return reads(node)
        if isinstance(node, ast.Continue):
            return on_continue
        if isinstance(node, ast.Break):
            return on_break
        if isinstance(node, ast.If):
            body = self.before(node.body, after, on_continue, on_break)
            orelse = self.before(node.orelse, after, on_continue, on_break)
            return reads(node.test) | body | orelse
        if isinstance(node, ast.While):
            return self.around(node, after, on_continue, on_break)
        if isinstance(node, ast.For):
            return reads(node.iter) | self.around(node, after, on_continue, on_break)
        if isinstance(node, ast.Assign):
            bound = frozenset[str]().union(*(targets(target) for target in node.targets))
            return (after - bound) | reads(node)
        if isinstance(node, ast.AnnAssign):
            kept = after - targets(node.target) if node.value is not None else after
            return kept | reads(node.value) | reads(node.target)
        if isinstance(node, ast.AugAssign):
            return after | reads(node) | targets(node.target)
        return after | reads(node)
