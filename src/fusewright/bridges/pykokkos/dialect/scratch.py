"""How large a work unit's scratch views are: computed before the launch, part of the key."""

from __future__ import annotations

import ast
import copy
import math
import operator
from collections.abc import Mapping
from typing import Any

from fusewright.base.errors import KernelError, UnsupportedError
from fusewright.base.values import dataclass
from fusewright.bridges.pykokkos.dialect.annotations import numpy_of
from fusewright.bridges.pykokkos.dialect.closures import Closures
from fusewright.bridges.pykokkos.dialect.teams import Members, Scratch, scratch_of
from fusewright.bridges.pykokkos.dialect.units import Unit
from fusewright.frontends.kernels.inputs import outside

MOST = 64 * 1024
"""Bytes of a team's scratch memory: it lies on the stack."""


@dataclass(slots=True)
class Sizes:
    """The scratch views of a work unit, in program order, and the variables before them."""

    unit: Unit
    views: list[Scratch]
    body: list[ast.stmt]

    @classmethod
    def of(cls, unit: Unit) -> Sizes:
        """The scratch views that a work unit declares."""
        closures = Closures(unit.source, unit.function)
        body = list(unit.source.tree.body)
        found = [
            scratch
            for root in body
            for node in ast.walk(root)
            if isinstance(node, ast.stmt) and (scratch := scratch_of(closures, node)) is not None
        ]
        return cls(unit, found, body)

    def extents(
        self, kwargs: Mapping[str, Any], instance: Any, team: int, league: int
    ) -> tuple[tuple[int, ...], ...]:
        """The extents for these arguments."""
        if not self.views:
            return ()
        known: dict[str, Any] = {**kwargs, "__league": league}
        if instance is not None:
            known[self.unit.receiver] = instance
        members = Members(self.unit.team, max(team, 2), self.unit.source)
        found: list[tuple[int, ...]] = []
        total = 0
        self._locals(known, members)
        for view in self.views:
            shape = tuple(self._number(extent, known, members, team) for extent in view.extents)
            found.append(shape)
            copies = team if view.per_member else 1
            total += copies * math.prod(shape) * numpy_of(view.kind).itemsize if shape else 0
        if total > MOST:
            raise UnsupportedError(
                f"{total} bytes of scratch memory for a team",
                self.unit.source.span(self.unit.source.tree),
                why=f"scratch views lie on the stack here, at most {MOST} bytes in all",
                help="use a view with a row for each team",
            )
        return tuple(found)

    def _locals(self, known: dict[str, Any], members: Members) -> None:
        """Variables whose value is known before the launch."""
        for node in self.body:
            target = node.target if isinstance(node, ast.AnnAssign) else None
            if isinstance(target, ast.Name) and isinstance(node, ast.AnnAssign) and node.value:
                try:
                    known[target.id] = self._value(node.value, known, members)
                except (NameError, AttributeError, TypeError, ArithmeticError, LookupError):
                    continue

    def _value(self, node: ast.expr, known: Mapping[str, Any], members: Members) -> Any:
        tree = ast.Expression(members.visit(copy.deepcopy(node)))
        ast.fix_missing_locations(tree)
        code = compile(tree, self.unit.source.file, "eval")
        outer: dict[str, Any] = {}
        for name in code.co_names:
            try:
                outer[name] = outside(self.unit.function, name)
            except LookupError:
                continue
        return eval(code, {**outer, **known})

    def _number(self, node: ast.expr, known: Mapping[str, Any], members: Members, team: int) -> int:
        members.size = team
        try:
            return operator.index(self._value(node, known, members))
        except (NameError, AttributeError, TypeError, ArithmeticError, LookupError) as error:
            raise KernelError(
                "the size of this scratch view is not known before the launch",
                self.unit.source.span(node),
                why=f"it is computed from the arguments alone: {error}",
                help="use arguments, fields and literals",
            ) from None
