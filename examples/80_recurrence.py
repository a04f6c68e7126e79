"""Recurrence relations: state the relations, ask for the values, and let the planner choose.

Multipole moments of point charges about one centre are moved to another one.  Each moment can be
moved along x, y or z first: all ways give the same value, and a program has to choose for each.
"""

from typing import Any

import numpy as np

import fusewright as fw

AXES = "xyz"
Exponents = tuple[int, int, int]


def shifted(exponents: Exponents, axis: int, by: int) -> Exponents:
    x, y, z = (n + by * (i == axis) for i, n in enumerate(exponents))
    return x, y, z


# A value is M[a, b]: the sum over charges of (r - A)^a (r - B)^b.  Where b is 0 it is a leaf: a row
# of input.  Everything else follows from (x - B) = (x - A) + (A - B).
def moved(a: Exponents, b: Exponents) -> list[Any]:
    alternatives: list[Any] = []
    for axis in range(3):
        if b[axis]:
            low = shifted(b, axis, -1)
            alternatives.append(
                [
                    (1, "M", (shifted(a, axis, 1), low)),  # coefficient, family, index
                    (AXES[axis], "M", (a, low)),
                ]
            )
    return alternatives


def given(a: Exponents, b: Exponents) -> str | None:
    return f"m{a[0]}{a[1]}{a[2]}" if b == (0, 0, 0) else None


def exponents(degree: int) -> list[Exponents]:
    return [(x, y, degree - x - y) for x in range(degree + 1) for y in range(degree + 1 - x)]


M = fw.Family("M", ["a", "b"], moved, leaf=given)
wanted = [b for degree in range(5) for b in exponents(degree)]
graph = fw.recurrence([(M, ((0, 0, 0), b)) for b in wanted], [M], list(AXES))

# What was chosen, and how many values live at once: that decides whether they fit in registers.
print(graph.explain())

# A column for each of many pairs of centres.  The same bits on every machine.
rng = np.random.default_rng(0)
columns, charges, places = 1000, rng.standard_normal(20), rng.standard_normal((20, 3))
shift = dict(zip(AXES, rng.standard_normal((3, columns)), strict=True))
moments = {name: (charges * np.prod(places ** np.array([int(c) for c in name[1:]]), 1)).sum()
           for name in graph.leaves}  # fmt: skip
values = graph.compile()(shift, moments)

# The plain sum over the charges.
there = places[:, :, None] + np.array([shift[axis] for axis in AXES])
for b, row in zip(wanted, values, strict=True):
    powers = np.prod(there ** np.array(b)[:, None], axis=1)
    np.testing.assert_allclose(row, charges @ powers, atol=1e-10)
print(f"{len(wanted)} moments about {columns} centres")


# Wrong relations are refused where they are written.
def circular(n: int) -> list[Any]:
    return [[("x", "T", n - 1)], [("x", "T", n + 1)]]


def start(n: int) -> float | None:
    return 1.0 if n == 0 else None


T = fw.Family("T", "n", circular, leaf=start)
try:
    fw.recurrence([(T, 3)], [T], ["x"])
except fw.FusewrightError as error:
    print(error)
