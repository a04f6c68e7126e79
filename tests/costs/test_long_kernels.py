"""Kernels of many statements: translating, planning and compiling takes time in proportion to them,
and no part of it calls itself for what the program is made of.

Steps of Python are counted, which is the same on every machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import assert_same, loaded

import fusewright as fw

HEADER = ["import fusewright as fw", "", "", "def pick(x, y):", "    if x > y:",
          "        return x * 0.5", "    return y * 2", "", ""]  # fmt: skip
LOOP = "    for i in range(10):"
MOST = 2.6
"""What twice the statements may cost."""


def straight(n: int) -> list[str]:
    return ["    v = x", *(f"    v = v * 0.5 + a[{k % 7}]" for k in range(n)), "    a[0] = v"]


def stores(n: int) -> list[str]:
    return [f"    a[{k % 50}] = a[{(k + 1) % 50}] * 0.5 + x" for k in range(n)]


def handed_on(n: int) -> list[str]:
    body = ["        v = v * 0.5 + a[i]"] * n
    return ["    v = x", LOOP, *body, "        a[i] = v"]


def many_variables(n: int) -> list[str]:
    first = [f"    v{k} = x" for k in range(n // 2)]
    body = [f"        v{k} += a[{k % 50}]" for k in range(n // 2)]
    return [*first, LOOP, *body, *(f"    a[{k}] = v{k}" for k in range(4))]


def branches(n: int) -> list[str]:
    pairs = ((f"        if v > {k}.5:", "            v = v * 0.5 + a[i]") for k in range(n // 2))
    return ["    v = x", LOOP, *(line for pair in pairs for line in pair), "        a[i] = v"]


def guards(n: int) -> list[str]:
    pairs = ((f"        if x < -{k}:", "            continue", "        a[i] += x")
             for k in range(n // 2))  # fmt: skip
    return [LOOP, *(line for pair in pairs for line in pair)]


def returns(n: int) -> list[str]:
    pairs = ((f"    if x < -{k}:", "        return 1.0", f"    a[{k % 50}] += x")
             for k in range(n // 2))  # fmt: skip
    return [*(line for pair in pairs for line in pair), "    return x"]


def calls(n: int) -> list[str]:
    return [LOOP, *["        a[i] = pick(a[i], x)"] * (n // 4)]


def places(n: int) -> list[str]:
    return [LOOP, *(f"        a[(i + {k}) % 50] = a[(i + {k + 1}) % 50] + x" for k in range(n))]


def loops(n: int) -> list[str]:
    pairs = (("    for i in range(1, len(a)):", f"        a[i] = a[i - 1] + {k}")
             for k in range(n // 2))  # fmt: skip
    return [line for pair in pairs for line in pair]


def chained(n: int) -> list[str]:
    """One expression; CPython itself gives up at some thousand terms."""
    return [LOOP, "        a[i] = " + " + ".join(f"x * {k}.0" for k in range(n))]


@dataclass(frozen=True)
class Family:
    """A way to make kernels of `n` statements, and the `n` from which on it is doubled."""

    body: Callable[[int], list[str]]
    size: int = 400


FAMILIES = [
    Family(straight), Family(stores), Family(handed_on), Family(many_variables), Family(branches),
    Family(guards), Family(returns), Family(calls, 1200), Family(places), Family(loops),
    Family(chained),
]  # fmt: skip


def made(body: Callable[[int], list[str]], n: int, folder: Path) -> Any:
    lines = [*HEADER, "@fw.kernel", "def kernel(a, x):", *body(n)]
    return loaded("\n".join(lines) + "\n", folder / f"{body.__name__}_{n}.py")


def steps(work: Callable[[], Any]) -> int:
    """Calls of Python functions, and of C ones from these."""
    count = 0

    def note(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.body.__name__)
def test_twice_the_statements_take_twice_the_steps(family: Family, tmp_path: Path) -> None:
    found = []
    for n in (8, family.size, 2 * family.size):  # the first brings in what is imported once
        kernel, a = made(family.body, n, tmp_path), np.arange(50.0)
        with fw.options(background=False, cache_dir=tmp_path / "cache"):
            found.append(steps(lambda kernel=kernel, a=a: kernel(a, 0.25)))
    assert found[2] < MOST * found[1]


@pytest.mark.parametrize("body", [straight, stores])
def test_linear_up_to_four_thousand_statements(
    body: Callable[[int], list[str]], tmp_path: Path
) -> None:
    test_twice_the_statements_take_twice_the_steps(Family(body, 2000), tmp_path)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.body.__name__)
def test_what_long_kernels_compute(family: Family, tmp_path: Path) -> None:
    n = 600
    kernel, a, b = made(family.body, n, tmp_path), np.arange(50.0), np.arange(50.0)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(700)
    try:
        with fw.options(cache_dir=tmp_path / "cache"):
            found = kernel(a, 0.25)
    finally:
        sys.setrecursionlimit(limit)
    with np.errstate(all="ignore"):
        wanted = kernel.__wrapped__(b, 0.25)
    assert_same((found, a), (wanted, b), family.body.__name__)
