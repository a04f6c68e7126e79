"""Random loops that write into the inside of their arrays, then into borders: NumPy's bits."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import fusewright as fw

INSIDE = {"in": "1:-1", "lo": ":-2", "hi": "2:"}
SHAPES: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((700,), (3000,), (60000,)),
    2: ((6, 50), (30, 700), (120, 90), (400, 300)),
    3: ((5, 30, 64), (20, 9, 40)),
}
PLACES = ((0, 1), (-1, -2), (0, -2), (-1, 1), (1, 2), (2, 0), (0, -1))


class Loop:
    """A program: the arrays it updates, their shape, and the body of its loop."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.names = ["a", "b", "c"][: self.chance.randint(1, 3)]
        self.rank = self.chance.choice([1, 2, 2, 2, 3])
        self.shape = self.chance.choice(SHAPES[self.rank])
        self.steps = self.chance.randint(3, 9)
        self.lines: list[str] = []
        for _ in range(self.chance.randint(1, 4)):
            self._update(self.chance.choice(self.names))

    @property
    def text(self) -> str:
        return "for step in range(steps):\n" + "".join(f"    {line}\n" for line in self.lines)

    def run(self, arrays: list[Any]) -> list[Any]:
        """What becomes of the arrays."""
        names: dict[str, Any] = dict(zip(self.names, arrays, strict=True))
        names["steps"] = self.steps
        with np.errstate(all="ignore"):
            exec(compile(self.text, "<loop>", "exec"), names)
        return [np.asarray(names[name]) for name in self.names]

    def _inside(self, name: str, moved: bool = False) -> str:
        dims = ["in"] * self.rank
        if moved and self.chance.random() < 0.8:
            dims[self.chance.randrange(self.rank)] = self.chance.choice(["lo", "hi"])
        return f"{name}[{', '.join(INSIDE[dim] for dim in dims)}]"

    def _update(self, name: str) -> None:
        if self.chance.random() < 0.1:
            self.lines.append(f"{name} = {name} * 0.9 + {self.chance.choice(self.names)} * 0.05")
        else:
            terms = [
                f"{self.chance.choice(['0.1', '0.25', '-0.2'])} * "
                + self._inside(self.chance.choice(self.names), moved=True)
                for _ in range(self.chance.randint(1, 3))
            ]
            how = self.chance.choice(["=", "-=", "+="])
            self.lines.append(f"{self._inside(name)} {how} {' + '.join(terms)}")
        for _ in range(self.chance.choice([0, 1, 2, 4])):
            self._border(name)

    def _border(self, name: str) -> None:
        dim, (to, by) = self.chance.randrange(self.rank), self.chance.choice(PLACES)
        target, source = (
            ", ".join(str(place) if d == dim else ":" for d in range(self.rank))
            for place in (to, by)
        )
        other = self.chance.choice([*self.names, name, name])
        value = self.chance.choice(
            [f"{other}[{source}]", f"0.5 * {other}[{source}] + {name}[{target}]", "step * 0.1"]
        )
        self.lines.append(f"{name}[{target}] = {value}")


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("compiled", [True, False])
def test_random_loops_with_borders(seed: int, compiled: bool) -> None:
    loop = Loop(seed)
    chance = np.random.default_rng(seed)
    arrays = [chance.standard_normal(loop.shape) for _ in loop.names]
    with fw.options(interpret=not compiled, threads=1 + seed % 2):
        ours = loop.run([fw.asarray(array) * 1.0 for array in arrays])
    for have, want in zip(ours, loop.run([array * 1.0 for array in arrays]), strict=True):
        assert have.tobytes() == want.tobytes(), loop.text
