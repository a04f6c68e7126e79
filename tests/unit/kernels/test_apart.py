"""Paths that leave a name with different types or arrays go on apart: the kernel is the function as
CPython runs it, whichever way each call takes.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import assert_same, is_refused, loaded, outcome, same_as_cpython
from tests.unit.kernels import apart_kernels as kernels
from tests.unit.kernels.data import Numbers

import fusewright as fw

numbers = Numbers(17)
reals = numbers.reals


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_loops_that_give_an_argument_another_array(n: int) -> None:
    for kernel in (kernels.doubled, kernels.written_before, kernels.until):
        same_as_cpython(kernel, reals(5), n)


def test_a_loop_of_no_iteration_returns_the_argument_itself() -> None:
    a = reals(4)
    assert kernels.doubled(a, 0) is a
    assert kernels.doubled(a, 1) is not a


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_steps(n: int) -> None:
    same_as_cpython(kernels.steps, reals(3), n)


@pytest.mark.parametrize("c", [0, 1, 2, 3])
def test_branches(c: int) -> None:
    same_as_cpython(kernels.turned, reals(6), c)
    same_as_cpython(kernels.either, reals(6), reals(4), c)
    same_as_cpython(kernels.neither, reals(6), reals(6), c)
    for a in (np.array([0.25, 2.5]), np.array([0.75, 3.5])):
        same_as_cpython(kernels.of_types, a, c)


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_types(n: int) -> None:
    same_as_cpython(kernels.halved, n)
    same_as_cpython(kernels.in_a_loop, reals(3), n)


@pytest.mark.parametrize("c", [1, 3])
def test_functions(c: int) -> None:
    same_as_cpython(kernels.functions, reals(5), c)
    same_as_cpython(kernels.of_functions, reals(5), c)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_computed_arrays_that_are_exchanged(n: int) -> None:
    same_as_cpython(kernels.computed_then_exchanged, reals(5, 6), n)
    same_as_cpython(kernels.exchanged_inside, reals(4), n)


def test_rows() -> None:
    same_as_cpython(kernels.rows_exchanged, reals(5, 4))
    same_as_cpython(kernels.rows_exchanged, reals(1, 4))


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_names_that_get_what_a_step_makes(n: int) -> None:
    same_as_cpython(kernels.made_in_each_step, reals(6), n)
    same_as_cpython(kernels.noted, reals(4), n)
    same_as_cpython(kernels.runge_kutta, reals(3), n, 0.125)
    same_as_cpython(kernels.euler, reals(3), n)
    same_as_cpython(kernels.handed_over_on_one_path, reals(3), n)
    assert kernels.made_in_each_step(given := reals(4), 0) is given


def test_what_a_function_returns_may_be_its_argument() -> None:
    given = (reals(3), 3)
    if not is_refused(kernels.returned_by_a_function, given):
        same_as_cpython(kernels.returned_by_a_function, *given)


def chained(steps: int, path: Path) -> Any:
    """A kernel with so many arrays of its own, each handed over for the last time."""
    lines = ["import numpy as np", "import fusewright as fw", "", "@fw.kernel", "def kernel(g, n):"]
    lines += ["    a = g * 1.0"]
    for k in range(steps):
        lines += [f"    b{k} = np.zeros_like(g)", f"    b{k}[0] = a[1] + {k}", f"    b{k}[1] = n"]
        lines += [f"    a = b{k}"]
    return loaded("\n".join([*lines, "    return a", ""]), path / f"chained{steps}.py")


@pytest.mark.parametrize("steps", [2, 60, 70, 150])
def test_any_number_of_arrays(steps: int, tmp_path: Path) -> None:
    kernel = chained(steps, tmp_path)
    for n in (1, 2):  # the second call is the core's, where it can be
        same_as_cpython(kernel, reals(4), n)


SIMPLE = (
    "a = a * 2.0", "a = a[::-1]", "b = a", "a, b = b, a", "b = b + a", "b = a.copy()",
    "a[0] = 5.0", "a[n % len(a)] += x", "b[1] = a[2]", "x = n", "x = x / 2", "x = float(a[0])",
    "x = x + 1", "x = n if n > 1 else float(a[1])", "a = a if n > 2 else b", "x = len(a) + x",
    "c = a * 2.0", "c = a.copy()", "c = np.zeros_like(b)", "c[n % 4] = x", "a = c", "b = c",
    "t[n % 2] = a", "t[1] = c", "a[1] = t[0, 1]", "c = c + b",
)  # fmt: skip


def block(random: Random, depth: int, indent: str) -> list[str]:
    """Random statements."""
    lines = []
    for _ in range(random.randint(1, 3)):
        kind = random.random()
        if depth and kind < 0.25:
            lines += [f"{indent}if n > {random.randint(0, 2)}:"]
            lines += block(random, depth - 1, indent + "    ")
            if random.random() < 0.5:
                lines += [f"{indent}else:", *block(random, depth - 1, indent + "    ")]
        elif depth and kind < 0.45:
            lines += [
                f"{indent}for i{depth} in range({random.choice(['n', '2 - n', 'n, 0, -1'])}):"
            ]
            lines += block(random, depth - 1, indent + "    ")
        else:
            lines.append(indent + random.choice(SIMPLE))
    return lines


HEAD = """import numpy as np

import fusewright as fw


@fw.kernel
def kernel(a, b, x, n):
    c = b * 0.5
    t = np.zeros((2, 4))
"""


def test_random_programs(tmp_path: Path) -> None:
    ran = 0
    for seed in range(60):
        random = Random(seed)
        text = HEAD + "\n".join([*block(random, 2, "    "), "    return a, b, x, t"])
        kernel = loaded(text + "\n", tmp_path / f"program{seed}.py")
        with fw.options(target="reference", debug=True):
            for n in (0, 1, 2, 3):
                given: tuple[Any, ...] = (np.arange(1.0, 5.0), np.array([0.5, 3.0, 7.0, 2.0]), 3, n)
                if is_refused(kernel, given):
                    continue
                ran += 1
                found, wanted = outcome(kernel, given), outcome(kernel.__wrapped__, given)
                assert_same(list(found[:2]), list(wanted[:2]), f"{n=}\n{text}")
                ours = [[r is g for g in found[1]] for r in found[0]]
                theirs = [[r is g for g in wanted[1]] for r in wanted[0]]
                assert ours == theirs, f"{n=}\n{text}"
    assert ran > 90
