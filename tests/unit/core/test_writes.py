"""Random loops that write to parts of small arrays, also through views, while others hold copies,
views and old versions: after every few iterations all arrays equal NumPy's, bit for bit.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.frontends.arrays import trace

EXAMPLES = int(os.environ.get("FUSEWRIGHT_TEST_EXAMPLES", "10"))
SHAPE = (7, 6)
Arrays = dict[str, Any]
Step = Callable[[Any, Arrays, int], None]


def axis_key(chance: random.Random, extent: int, length: int) -> slice:
    """A slice of so many elements."""
    step = chance.choice((1, 1, 1, 2, -1)) if 2 * length <= extent else 1
    room = extent - (length - 1) * abs(step) - 1
    first = chance.randint(0, room)
    last = first + (length - 1) * abs(step)
    if step < 0:
        return slice(last, first - 1 if first else None, step)
    return slice(first, last + 1, step)


def keys(chance: random.Random, count: int) -> list[Any]:
    """Subscripts that name regions of one shape."""
    lengths = [chance.randint(1, extent) for extent in SHAPE]
    fixed = chance.randint(-1, 5)
    found: list[Any] = []
    for _ in range(count):
        key: list[Any] = [axis_key(chance, *pair) for pair in zip(SHAPE, lengths, strict=True)]
        if fixed in (0, 1):
            key[fixed] = chance.randrange(-SHAPE[fixed], SHAPE[fixed])
        found.append(tuple(key) if fixed != 5 else (..., *key))
    return found


def assign(chance: random.Random) -> Step:
    here, there, far = keys(chance, 3)
    x, y, z = (chance.choice("abc") for _ in range(3))

    def step(np: Any, at: Arrays, k: int) -> None:
        at[x][here] = 0.5 * (at[y][there] + at[z][far]) + 0.001 * k

    return step


def update(chance: random.Random) -> Step:
    here, there = keys(chance, 2)
    x, y = chance.choice("abc"), chance.choice("abc")

    def step(np: Any, at: Arrays, k: int) -> None:
        at[x][here] += 0.25 * at[y][there]
        at[x][here] *= 0.5

    return step


def move(chance: random.Random) -> Step:
    here, there = keys(chance, 2)
    x, y = chance.choice("abc"), chance.choice("abc")

    def step(np: Any, at: Arrays, k: int) -> None:
        at[x][here] = at[y][there]

    return step


def fill(chance: random.Random) -> Step:
    (here,) = keys(chance, 1)
    x, number = chance.choice("abc"), chance.choice((0, 1, 0.5, -2.25))

    def step(np: Any, at: Arrays, k: int) -> None:
        at[x][here] = number

    return step


def element(chance: random.Random) -> Step:
    x, y = chance.choice("abc"), chance.choice("abc")
    i, j = chance.randrange(SHAPE[0]), chance.randrange(-SHAPE[1], SHAPE[1])

    def step(np: Any, at: Arrays, k: int) -> None:
        at[x][i, j] = at[y][-1, 0] * 0.5
        at[y][j % 7] = at[x][i, 1]

    return step


def through_view(chance: random.Random) -> Step:
    (here,) = keys(chance, 1)
    x = chance.choice("abc")

    def step(np: Any, at: Arrays, k: int) -> None:
        view = at[x][here]
        view += 0.125
        at[x] *= 0.75
        view -= at[x][here]
        at["view"] = view

    return step


def element_through_view(chance: random.Random) -> Step:
    (here,) = keys(chance, 1)
    x, number = chance.choice("abc"), chance.choice((1.5, 3, True, np.float32(2.25)))

    def step(np: Any, at: Arrays, k: int) -> None:
        view = at[x][here]
        at["before"] = view * 2.0
        place = tuple(k % extent - extent * (k % 2) for extent in view.shape)
        view[place] = number
        view[place] += float(view[tuple(0 for _ in place)])
        at["view"] = view

    return step


def hold(chance: random.Random) -> Step:
    x, often = chance.choice("abc"), chance.randint(1, 9)

    def step(np: Any, at: Arrays, k: int) -> None:
        if k % often == 0:
            at["held"] = at[x].copy()
        at[x] = at[x] * 0.5 + at["held"]

    return step


def fail(chance: random.Random) -> Step:
    x = chance.choice("abc")

    def step(np: Any, at: Arrays, k: int) -> None:
        for key, value in ((slice(0, 3), at["b"][:2]), (99, 1.0)):
            with pytest.raises((ValueError, IndexError)):
                at[x][key] = value

    return step


def whole(chance: random.Random) -> Step:
    x, y = chance.choice("abc"), chance.choice("abc")

    def step(np: Any, at: Arrays, k: int) -> None:
        at[x][:] = at[y]
        at[y][..., 1] = at[x][:, 0] + 1

    return step


def read(chance: random.Random) -> Step:
    x, often = chance.choice("abc"), chance.randint(1, 40)

    def step(np: Any, at: Arrays, k: int) -> None:
        if k % often == 0:
            at["sum"] = float(at[x][1:4, 2].max()) + float(at[x][2, 3])

    return step


STEPS = (
    assign, assign, assign, update, update, move, fill, element, through_view,
    element_through_view, hold, fail, whole, read,
)  # fmt: skip


def body(seed: int) -> list[Step]:
    chance = random.Random(seed)
    return [chance.choice(STEPS)(chance) for _ in range(chance.randint(1, 6))]


def start() -> list[Any]:
    generator = np.random.default_rng(3)
    return [generator.random(SHAPE) for _ in range(3)]


@pytest.mark.parametrize("seed", range(EXAMPLES))
def test_loops_that_write(seed: int) -> None:
    steps = body(seed)
    mine: Arrays = dict(zip("abc", map(fw.asarray, start()), strict=True))
    plain: Arrays = dict(zip("abc", start(), strict=True))
    mine["held"], plain["held"] = mine["a"].copy(), plain["a"].copy()
    chance = random.Random(seed)
    looks = sorted(chance.sample(range(20, 150), 2))
    for k in range(150):
        for step in steps:
            step(fnp, mine, k)
        if k in looks:
            fw.evaluate(*(value for value in mine.values() if isinstance(value, fw.Array)))
    for k in range(150):
        for step in steps:
            step(np, plain, k)
    for name, value in plain.items():
        np.testing.assert_array_equal(np.asarray(mine[name]), value, err_msg=name)
    assert len(trace.pending) <= trace.HARD_LIMIT + 1
