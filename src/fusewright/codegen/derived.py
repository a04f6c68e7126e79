"""What follows from the expressions of a kernel alone: their primitives, and the steps they repeat.

Whoever makes a kernel's tree and whoever prints it ask the same questions; each is answered once.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.codegen.repeat import Repeat, repeated
from fusewright.ir.expr import Expr
from fusewright.rules.decompose import decompose_all

Bodies = tuple[Expr, ...]


class Derived:
    """The answers so far."""

    def __init__(self) -> None:
        self._primitives: dict[Expr, Expr] = {}
        self._repeats: dict[tuple[Bodies, Expr], Repeat | None] = {}

    def primitives(self, bodies: Sequence[Expr]) -> list[Expr]:
        """The expressions in primitives."""
        return decompose_all(bodies, self._primitives)

    def repeat(self, bodies: Bodies, along: Expr) -> Repeat | None:
        """The step that these expressions repeat, if it can be a loop inside the loop `along`."""
        key = bodies, along
        if key not in self._repeats:
            self._repeats[key] = repeated(bodies, along, self._primitives)
        return self._repeats[key]


class AsWritten(Derived):
    """No primitives and no repeated steps: for who only asks what is loaded and stored."""

    def primitives(self, bodies: Sequence[Expr]) -> list[Expr]:
        """The expressions as they are."""
        return list(bodies)

    def repeat(self, bodies: Bodies, along: Expr) -> Repeat | None:
        """None, for nobody runs this."""
        del bodies, along
        return None
