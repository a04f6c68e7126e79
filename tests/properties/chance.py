"""How many random programs a property sees, and what everything that makes them up begins with."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("FUSEWRIGHT_TEST_EXAMPLES", "0"))
"""Random programs of each property; 0: the same few, of a fixed number, at each run."""
Draw = Callable[[int, int], int]
"""An integer between two, both included."""


def examples(fixed: int) -> settings:
    """`fixed` programs, always the same ones, or as many new ones as the variable says."""
    return settings(
        max_examples=EXAMPLES or fixed, derandomize=not EXAMPLES, deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip


class Writer:
    """A program being made up as Python source."""

    def __init__(self, draw: Draw, budget: int) -> None:
        self.draw, self.budget = draw, budget
        self.lines: list[str] = []
        self.count = 0

    def pick(self, *choices: Any) -> Any:
        return choices[self.draw(0, len(choices) - 1)]

    def put(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)
