"""Random programs that write regions of arrays: what NumPy does and what is recorded of ours."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.frontends.arrays import trace

SHAPES: tuple[tuple[int, ...], ...] = ((12,), (40,), (6, 6), (5, 9), (9, 1), (1, 8), (4, 3, 5))
DTYPES = ("float64", "float64", "float64", "float32", "int64", "complex128")
Row = tuple[int, int, int]
"""Start, step, count."""


def row(chance: random.Random, extent: int, count: int) -> Row:
    """A random row of positions in a dim."""
    pace = chance.choice((1, 1, 1, 1, 2, 3, -1, -2))
    while count > 1 and abs(pace) * (count - 1) >= extent:
        pace = 1 if pace > 0 else -1
    span = abs(pace) * (count - 1)
    low = chance.randint(0, extent - 1 - span)
    return (low if pace > 0 else low + span, pace, count)


def key_of(rows: list[Row], fixed: list[bool]) -> tuple[Any, ...]:
    """The subscript of a region."""
    key: list[Any] = []
    for (start, step, count), single in zip(rows, fixed, strict=True):
        stop = start + step * count
        key.append(start if single else slice(start, None if stop < 0 else stop, step))
    return tuple(key)


class Program:
    """Two programs that are the same: on NumPy's arrays and on ours."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.shape = self.chance.choice(SHAPES)
        self.dtype = self.chance.choice(DTYPES)
        self.arrays: list[tuple[Any, Any]] = []
        self.held: list[tuple[Any, Any]] = []
        """Views and copies that somebody keeps."""
        for _ in range(self.chance.randint(1, 3)):
            self.add_array()

    def add_array(self) -> None:
        size = int(np.prod(self.shape))
        values = self.chance.choices(range(-50, 50), k=size)
        start = np.array(values, dtype=self.dtype).reshape(self.shape)
        kind = self.chance.randrange(6)
        if kind == 0:
            ours = fnp.asarray(start.copy(), copy=False)
        else:
            ours = fnp.asarray(start) * 1
            if kind > 1:
                fw.evaluate(ours)
        self.arrays.append((start, ours))

    def region(self) -> tuple[list[Row], list[bool]]:
        counts = [self.chance.randint(1, max(extent, 1)) for extent in self.shape]
        rows = [row(self.chance, n, count) for n, count in zip(self.shape, counts, strict=True)]
        fixed = [self.chance.random() < 0.25 for _ in rows]
        rows = [(r[0], r[1], 1) if f else r for r, f in zip(rows, fixed, strict=True)]
        return rows, fixed

    def near(self, rows: list[Row]) -> list[Row]:
        """Another region of the same counts, or the same one."""
        if self.chance.random() < 0.4:
            return rows
        return [row(self.chance, n, r[2]) for n, r in zip(self.shape, rows, strict=True)]

    def read(self, rows: list[Row], fixed: list[bool]) -> tuple[Any, Any]:
        """A value of a region's shape."""
        plain, ours = self.chance.choice(self.arrays)
        key = key_of(self.near(rows), fixed)
        found = plain[key], ours[key]
        for _ in range(self.chance.randrange(3)):
            found = self.changed(*found)
        return found

    def changed(self, plain: Any, ours: Any) -> tuple[Any, Any]:
        how, shape = self.chance.randrange(9), np.shape(plain)
        if how < 4 or not shape:
            number = self.chance.randint(-9, 9)
            return plain + number, ours + number
        if how == 4:
            return plain[::-1], ours[::-1]
        if how == 5:
            return np.roll(plain, 1), fnp.roll(ours, 1)
        if how == 6:
            index = np.array(self.chance.choices(range(shape[0]), k=shape[0]))
            return plain[index], ours[fnp.asarray(index)]
        if how == 7:
            return plain[:1] + plain, ours[:1] + ours
        return plain.T.reshape(shape), ours.T.reshape(shape)

    def write(self) -> None:
        rows, fixed = self.region()
        left = self.read(rows, fixed)
        if self.chance.random() < 0.5:
            right = self.read(rows, fixed)
            left = left[0] - right[0], left[1] - right[1]
        plain, ours = self.chance.choice(self.arrays)
        key = key_of(rows, fixed)
        if self.chance.random() < 0.3:
            plain[key] += left[0]
            ours[key] += left[1]
        else:
            plain[key] = left[0]
            ours[key] = left[1]

    def hold(self) -> None:
        plain, ours = self.chance.choice(self.arrays)
        how = self.chance.randrange(4)
        if how == 0:
            self.held.append((plain.copy(), ours.copy()))
        elif how == 1:
            rows, fixed = self.region()
            key = key_of(rows, [False for _ in fixed])
            self.held.append((plain[key], ours[key]))
        elif how == 2:
            self.held.append((plain + 1, ours + 1))
        else:
            self.held.append((plain.reshape(-1), ours.reshape(-1)))

    def step(self) -> None:
        what = self.chance.random()
        if what < 0.75:
            self.write()
        elif what < 0.87:
            self.hold()
        elif what < 0.93 and self.held:
            self.held.pop(self.chance.randrange(len(self.held)))
        elif what < 0.95:
            trace.pending.clear()  # as after a flush that left everything alone
        elif what < 0.97:
            fw.evaluate(self.chance.choice(self.arrays)[1])
        elif len(self.arrays) > 1:
            self.arrays.pop(self.chance.randrange(len(self.arrays)))

    def asked(self) -> list[tuple[Any, Any]]:
        """Some of what there is."""
        everything = self.arrays + self.held
        return self.chance.sample(everything, self.chance.randint(1, len(everything)))
