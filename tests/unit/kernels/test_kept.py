"""Elements that live in variables while a loop or a branch runs: the bits, and that it happens."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython, short_strips
from tests.unit.kernels import kept_kernels

import fusewright as fw
from fusewright.ir.loops.statements import For, If, Let, Store, walk

R = np.random.default_rng(7)


def numbers(*shape: int) -> Any:
    return R.normal(size=shape)


PROMOTED: dict[str, tuple[bool, tuple[Any, ...]]] = {
    "row_sums": (True, (numbers(9, 21), numbers(9))),
    "into_missing": (True, (numbers(9, 21), numbers(9), 21)),
    "solved": (True, (numbers(23, 23), numbers(23), numbers(23))),
    "decomposed": (True, (numbers(17, 17),)),
    "met_on_the_way": (False, (numbers(9, 9), numbers(9))),
    "backwards": (True, (numbers(9, 9), numbers(9))),
    "best": (True, (numbers(9, 21), numbers(9), np.zeros(9, bool))),
    "sometimes": (False, (numbers(9, 21), numbers(9))),
    "through_a_view": (True, (numbers(2, 21), numbers(3), numbers(21))),
    "along_columns": (True, (numbers(9, 21), numbers(21))),
    "until_it_is_large": (False, (numbers(9, 21), np.zeros(9))),
    "counted": (True, (numbers(9, 21), np.zeros(3, np.int64))),
}
"""Whether a store ends up outside the loop that it stood in."""
BRANCHES: dict[str, tuple[Any, ...]] = {
    "either": (numbers(100), numbers(100), numbers(100)),
    "only_if": (numbers(100), numbers(100), numbers(100)),
    "if_it_exists": (numbers(100), numbers(37), numbers(40)),
    "other_element": (numbers(100), numbers(100)),
}

CARRIED: dict[str, tuple[bool, tuple[Any, ...]]] = {
    "recurrence": (True, (numbers(60), numbers(60))),
    "both_ways": (True, (numbers(60), numbers(60))),
    "along_rows": (True, (numbers(21, 30), numbers(21, 30))),
    "every_other": (False, (numbers(60), numbers(60))),
    "read_sometimes": (False, (numbers(60), numbers(60))),
    "written_sometimes": (False, (numbers(60), numbers(60))),
    "two_back": (True, (numbers(60), numbers(60))),
    "from_row_to_row": (True, (numbers(12, 30),)),
    "maybe_nothing": (False, (numbers(60), 3, 50)),
}
"""Whether an iteration hands its value on to the next."""


def fresh(name: str) -> Any:
    """The kernel as if it had never been called."""
    return fw.kernel(getattr(kept_kernels, name).__wrapped__)


def plan_of(kernel: Any, arguments: tuple[Any, ...]) -> Any:
    """The planned statements of a call."""
    kernel(*[a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
    (found,) = next(iter(kernel.specialisations.values()))
    return next(iter(found.compiled.values())).plan.kernel


@pytest.mark.parametrize("name", PROMOTED)
def test_promoted(name: str) -> None:
    wanted, arguments = PROMOTED[name]
    kernel = fresh(name)
    body = plan_of(kernel, arguments).body
    after = [
        (before, store)
        for statement in walk(body)
        for block in (getattr(statement, "body", ()), body)
        for before, store in pairwise(block)
        if isinstance(before, For) and isinstance(store, Store) and store.value.name == "local"
    ]
    assert bool(after) is wanted
    same_as_cpython(kernel, *arguments)
    with short_strips():
        same_as_cpython(fresh(name), *arguments)


@pytest.mark.parametrize("name", BRANCHES)
def test_branches(name: str) -> None:
    same_as_cpython(fresh(name), *BRANCHES[name])
    with short_strips():
        same_as_cpython(fresh(name), *BRANCHES[name])


@pytest.mark.parametrize("name", CARRIED)
def test_carried(name: str) -> None:
    wanted, arguments = CARRIED[name]
    body = plan_of(fresh(name), arguments).body
    loops = [s for s in walk(body) if isinstance(s, For) and isinstance(s.body[-1], Let)]
    assert bool(loops) is wanted
    same_as_cpython(fresh(name), *arguments)
    with short_strips():
        same_as_cpython(fresh(name), *arguments)


def test_elements_that_do_not_exist_are_not_touched() -> None:
    for name, arguments in (
        ("into_missing", (numbers(9, 3), np.zeros(2), 0)),
        ("sometimes", (np.zeros((9, 3)), np.zeros(2))),
        ("backwards", (numbers(1, 1), np.zeros(0))),
        ("maybe_nothing", (np.zeros(0), 5, 5)),
        ("recurrence", (np.zeros(1), np.zeros(1))),
    ):
        same_as_cpython(fresh(name), *arguments)


def test_arrays_that_overlap() -> None:
    values, memory = numbers(2, 21), numbers(25)
    ours, wanted = memory.copy(), memory.copy()
    fresh("through_a_view")(values, ours[4:], ours[:21])
    kept_kernels.through_a_view.__wrapped__(values, wanted[4:], wanted[:21])
    assert ours.tobytes() == wanted.tobytes()
    for shift in (-1, 0, 1):
        ours, wanted = memory.copy(), memory.copy()
        fresh("overlapping")(ours[1:20], ours[1 + shift : 20 + shift])
        kept_kernels.overlapping.__wrapped__(wanted[1:20], wanted[1 + shift : 20 + shift])
        assert ours.tobytes() == wanted.tobytes()


def test_stores_of_both_ways_are_one() -> None:
    body = plan_of(fresh("either"), BRANCHES["either"]).body
    branches = [s for s in walk(body) if isinstance(s, If)]
    assert branches
    assert not any(isinstance(s, Store) for branch in branches for s in walk((branch,)))


def test_a_conditional_store_is_not_read_again() -> None:
    arguments = BRANCHES["only_if"]
    body = plan_of(fresh("only_if"), arguments).body
    loops = [s for s in body if isinstance(s, For) and any(isinstance(i, If) for i in s.body)]
    assert loops
    for loop in loops:
        place = next(n for n, s in enumerate(loop.body) if isinstance(s, If))
        before = loop.body[place - 1]
        assert isinstance(before, Let)
        assert before.value.name == "load"
