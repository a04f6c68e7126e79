"""Arrays that are written while views of them have names: `q = a[k]; a[k + 1] = 0.5 * q`.

Run as a module, for in a process where two threads have looked at views the core forgets nothing:
`python -m tests.unit.core.looking steady` prints the Python functions that a window of each loop
enters once it has run for a while; `... random SEED COUNT` compares random programs with NumPy.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.entered import frames

import fusewright.numpy as fnp

STEPS, WINDOW = 600, 50


def integrator(xp: Any, width: int) -> Callable[[int], None]:
    a = xp.zeros((STEPS + 1, width))
    a[0] = xp.linspace(0.0, 1.0, width)

    def step(k: int) -> None:
        q = a[k]
        a[k + 1] = 0.999 * q

    return step


def two_steps(xp: Any, width: int) -> Callable[[int], None]:
    a = xp.zeros((STEPS + 2, width))
    a[:2] = xp.linspace(0.0, 1.0, width)

    def step(k: int) -> None:
        newer, older = a[k + 1], a[k]
        a[k + 2] = 1.5 * newer - 0.6 * older

    return step


def borders(xp: Any, width: int) -> Callable[[int], None]:
    a = xp.zeros((width, 40))

    def step(k: int) -> None:
        a[:, 0] = a[:, 1]
        a[k % width, 1] = k

    return step


LOOPS: dict[str, Callable[[Any, int], Callable[[int], None]]] = {
    "integrator": integrator, "two steps": two_steps, "borders": borders,
}  # fmt: skip


def steady() -> None:
    """The best of the windows of a loop's end counts: now and then Python looks at the whole."""
    for name, loop in LOOPS.items():
        for width in (40, 4000):
            step = loop(fnp, width)
            for k in range(STEPS // 2):
                step(k)

            def window(first: int, step: Callable[[int], None] = step) -> None:
                for k in range(first, first + WINDOW):
                    step(k)

            entered = min(
                len(frames(lambda first=first: window(first))[0]) - WINDOW - 1
                for first in range(STEPS // 2, STEPS, WINDOW)
            )
            print(name, width, entered)


def program(seed: int, xp: Any) -> list[Any]:
    """Views get names, are read and written through while their array is written."""
    dice = random.Random(seed)
    rows, width = dice.choice([(6, 5), (9, 40), (8, 700), (40, 900)])
    a = xp.linspace(0.0, 1.0, rows * width).reshape(rows, width)
    if dice.random() < 0.3:
        a = xp.zeros((rows, width))
    named: list[Any] = []
    kept: list[Any] = []
    for _ in range(dice.randrange(4, 40)):
        row, other = dice.randrange(rows), dice.randrange(rows)
        match dice.randrange(11):
            case 0 | 1:
                named.append(a[row])
            case 2:
                named.append(a[:, dice.randrange(width)][:5])
            case 3:
                named.append(a[row : row + 3][0])
            case 4 if named:
                a[row] = 0.5 * dice.choice(named)[0] + a[other]
            case 5 if named:
                q = dice.choice(named)
                q[1:3] = q[0] + 1.0
            case 6:
                a[row] = a[other]
            case 7:
                a[row, 1:4] += 0.25 * a[other, :3]
            case 8 if named:
                kept.append(dice.choice(named) * 2.0)
            case 9 if named:
                kept.append(dice.choice(named).copy())
            case 10 if named:
                q = dice.choice(named)
                if q.shape == (width,):
                    a[other] = 0.75 * q
            case _:
                a[row, 2] = float(row)
        if len(named) > 5 and dice.random() < 0.5:
            del named[dice.randrange(len(named))]
    return [a, *named, *kept]


def random_programs(seed: int, count: int) -> None:
    for number in range(seed, seed + count):
        expected, found = program(number, np), program(number, fnp)
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_array_equal(np.asarray(other), one, err_msg=f"program {number}")
    print("equal")


if __name__ == "__main__":
    if sys.argv[1] == "steady":
        steady()
    else:
        random_programs(int(sys.argv[2]), int(sys.argv[3]))
