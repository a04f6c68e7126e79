"""Types that turn out too narrow while a kernel is translated.

A variable that paths join in gets the type of the first value it is given.  Where a later value
needs a wider one, the translation goes on with that type, finds what else is too narrow, and all of
it is done once more.  What was computed from the variable before it was widened has a type that
will not come again: such a value widens nothing, and the translation starts again at once.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import field
from typing import Any

from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.frontends.kernels.values import Growing
from fusewright.ir.expr import Expr, postorder


class Restart(Exception):
    """A variable turned out to need another type: translate again, knowing it."""


@dataclass(slots=True)
class Retyping:
    """`outdated` are the variables whose values have such types; `users` say which variables were
    computed from one.  `unfilled` are lists whose items were read before the text gave them any.
    `slots` has the `Slot` of each variable that paths join in.
    """

    outdated: set[int] = field(default_factory=set)
    users: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    unfilled: list[tuple[Growing, Span]] = field(default_factory=list)
    slots: dict[int, Any] = field(default_factory=dict)

    def note(self, number: int, value: Expr) -> None:
        """A variable is given a value."""
        for node in postorder([value]):
            if node.name == "local":
                self.users[node.attr].add(number)
                if node.attr in self.outdated:
                    self.outdated.add(number)

    def widen(self, number: int, value: Expr) -> None:
        """A variable gets another type because of a value."""
        read = {node.attr for node in postorder([value]) if node.name == "local"}
        if self.outdated & {number, *read}:
            raise Restart
        left = [number]
        while left:
            old = left.pop()
            if old not in self.outdated:
                self.outdated.add(old)
                left += self.users[old]

    def end(self) -> None:
        """The translation is complete, and only right where nothing was widened."""
        if self.outdated:
            raise Restart
