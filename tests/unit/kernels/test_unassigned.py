"""Names, and results of functions, that a path leaves without a value."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import assert_same, loaded, outcome, same_as_cpython, small_work_on_threads
from tests.unit.kernels import unassigned_kernels as kernels

import fusewright as fw

A = np.linspace(0, 1, 9)
FIRST = np.array([1.0, 0.0, 1.0])
WORKS: dict[str, tuple[Any, ...]] = {
    "of a branch": (kernels.of_a_branch, A, True),
    "of the first branch": (kernels.of_two_branches, 1, 0),
    "of the second branch": (kernels.of_two_branches, 0, 1),
    "of both branches": (kernels.of_two_branches, 1, 1),
    "of the iteration before": (kernels.of_the_iteration_before, A),
    "of a loop": (kernels.of_a_loop, 3),
    "of a literal loop": (kernels.of_a_literal_loop, A),
    "of a literal loop left": (kernels.of_a_literal_loop, A + 1),
    "of while": (kernels.of_while, 4),
    "of some iteration": (kernels.of_some_iteration, A),
    "a tuple": (kernels.a_tuple, A, True),
    "an array": (kernels.an_array, A, True),
    "in an assertion": (kernels.in_an_assertion, A, True),
    "results": (kernels.results, A + 3),
    "results that nobody needs": (kernels.results_that_nobody_needs, A),
}
FAILS: dict[str, tuple[Any, ...]] = {
    "of a branch": (kernels.of_a_branch, A, False),
    "of two branches": (kernels.of_two_branches, 0, 0),
    "of the iteration before": (kernels.of_the_iteration_before, FIRST),
    "of a loop": (kernels.of_a_loop, 0),
    "of while": (kernels.of_while, 0),
    "of some iteration": (kernels.of_some_iteration, A * 0),
    "a tuple": (kernels.a_tuple, A, False),
    "an array": (kernels.an_array, A, False),
    "in an assertion": (kernels.in_an_assertion, A, False),
}


@pytest.mark.parametrize("name", WORKS)
def test_with_a_value(name: str) -> None:
    kernel, *arguments = WORKS[name]
    same_as_cpython(kernel, *arguments)
    same_as_cpython(kernel, *arguments)


@pytest.mark.parametrize("name", FAILS)
def test_without_a_value(name: str) -> None:
    kernel, *arguments = FAILS[name]
    with pytest.raises(UnboundLocalError):
        kernel.__wrapped__(*arguments)
    for options in ({"target": "reference"}, {"check": True}, {}, {}):
        with fw.options(**options), pytest.raises(UnboundLocalError, match="has no value") as at:
            kernel(*arguments)
        assert "unassigned_kernels.py" in str(at.value)
        assert "^" in str(at.value)


def test_a_function_that_ends_without_a_result() -> None:
    for target in ("reference", "cpu"):
        with fw.options(target=target), pytest.raises(TypeError, match="without returning") as at:
            kernels.results(A)
        assert "i = 0" in str(at.value)


def program(seed: int) -> str:
    """Statements about three names that branches and loops assign."""
    chance = random.Random(seed)
    conditions = ("a[0] > 0.5", "a[1] > 0.5", "n > 1", "i % 2 == 0", "a[i] > 0.5")

    def expression(depth: int = 0) -> str:
        k = chance.random()
        if k < 0.4:
            return chance.choice("xyz")
        if k < 0.75 or depth > 1:
            return chance.choice(["a[2]", "1.5", "0.25"])
        return f"({expression(depth + 1)} + {expression(depth + 1)})"

    def block(depth: int, in_loop: bool) -> list[str]:
        out: list[str] = []
        for _ in range(chance.randrange(1, 4)):
            k = chance.random()
            if k < 0.45:
                value = expression() if chance.random() < 0.4 else "2.5"
                out.append(f"{chance.choice('xyz')} = {value}")
            elif k < 0.55:
                out.append(f"out[{chance.randrange(3)}] += {expression()}")
            elif k < 0.75 and depth < 3:
                out += around(f"if {chance.choice(conditions)}:", block(depth + 1, in_loop))
                if chance.random() < 0.4:
                    out += around("else:", block(depth + 1, in_loop))
            elif k < 0.9 and depth < 3:
                head = f"for i in range({chance.choice(['n', '2', 'm'])}):"
                out += around(head, block(depth + 1, True))
            elif in_loop:
                return [*out, chance.choice(["continue", "break"])]
        return out or ["pass"]

    def around(head: str, inside: list[str]) -> list[str]:
        return [head, *("    " + line for line in inside)]

    never = around("if n > 100:", ["x = y = z = 0.5"])
    lines = ["i = 0", *never, *block(0, False), *block(0, False), f"return {chance.choice('xyz')}"]
    body = "\n    ".join(lines)
    return f"import fusewright as fw\n\n@fw.kernel\ndef kernel(a, out, n, m):\n    {body}\n"


def result(call: Any, arguments: tuple[Any, ...]) -> Any:
    try:
        value, changed, _ = outcome(call, arguments)
    except UnboundLocalError:
        return "no value"
    return [np.asarray(value), *map(np.asarray, changed)]


@pytest.mark.parametrize("part", range(4))
def test_random_programs(part: int, tmp_path: Path) -> None:
    ran = 0
    for seed in range(part * 10, part * 10 + 10):
        kernel = loaded(program(seed), tmp_path / f"program{seed}.py")
        for n, m in ((0, 2), (2, 0), (3, 3)):
            a = np.random.default_rng(seed).random(4)
            arguments = (a, np.zeros(3), n, m)
            wanted = result(kernel.__wrapped__, arguments)
            ran += wanted != "no value"
            for options in ({"target": "reference"}, {"threads": 2}, {"fuse": False}):
                with fw.options(**options), small_work_on_threads():
                    found = result(kernel, arguments)
                assert isinstance(found, str) == isinstance(wanted, str), (seed, n, m)
                assert isinstance(found, str) or assert_same(found, wanted, f"{seed}") is None
    assert ran > 3
