"""Lists that a kernel makes longer and shorter."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import is_known, loaded, same_as_cpython
from tests.unit.kernels import list_kernels as lists

import fusewright as fw

A = np.linspace(0, 1, 9)
GRID = np.zeros((40, 40))

CASES: dict[str, tuple[Any, ...]] = {
    "bits": (lists.bits, 2**40 + 5),
    "no bits": (lists.bits, 0),
    "squares": (lists.squares, A),
    "no squares": (lists.squares, A * 0),
    "tree": (lists.tree, A),
    "methods": (lists.methods, 5),
    "methods of many": (lists.methods, 150),
    "asked": (lists.asked, A[::-1].copy()),
    "as arrays": (lists.as_arrays, A),
    "updates": (lists.updates, 3),
    "writes": (lists.writes, A, 7),
    "writes much": (lists.writes, A, 5000),
    "flood": (lists.flood, GRID.astype(int)),
    "flood of much": (lists.flood, GRID),
    "started again": (lists.started_again, A),
    "layers": (lists.layers, np.zeros(50)),
    "of branches 1": (lists.of_branches, True, 2),
    "of branches 2": (lists.of_branches, False, 3),
    "one of two 1": (lists.one_of_two, 5),
    "one of two 2": (lists.one_of_two, -1),
    "in a loop": (lists.in_a_loop, A),
    "read before it grows": (lists.read_before_it_grows, A),
    "path": (lists.path, A),
    "one list of several names": (lists.one_list_of_several_names, 3),
    "kept": (lists.kept, 5),
    "arrays of branches 1": (lists.arrays_of_branches, A, True),
    "arrays of branches 2": (lists.arrays_of_branches, A, False),
    "array of some 1": (lists.array_of_some, A, 3, True),
    "array of some 2": (lists.array_of_some, A, 3, False),
    "array kept": (lists.array_kept, 3),
    "array handed on": (lists.array_handed_on, 3),
    "next greater": (lists.next_greater, np.sin(np.arange(90.0) * 37)),
    "rising": (lists.rising, np.sin(np.arange(90.0) * 37)),
    "largest rectangle": (lists.largest_rectangle, np.sin(np.arange(90.0) * 37) + 1),
    "item set": (lists.item_set, A, 9),
    "item set from the end": (lists.item_set, A, -10),
}


@pytest.mark.parametrize("name", CASES)
def test_lists(name: str) -> None:
    kernel, *arguments = CASES[name]
    same_as_cpython(kernel, *arguments)
    same_as_cpython(kernel, *arguments)


def test_too_few_items() -> None:
    for target in ("reference", "cpu"):
        with fw.options(target=target), pytest.raises(IndexError, match="pop from empty list"):
            lists.emptied(2)
    assert lists.emptied(1) == []
    for target in ("reference", "cpu"):
        with fw.options(target=target):
            assert outside(-3) == 1
            for place in (3, -4, 2**62):
                with pytest.raises(IndexError, match=r"^list index out of range"):
                    outside(place)
            for place in (10, -11):
                with pytest.raises(IndexError, match=r"^list assignment index out of range"):
                    lists.item_set(A, place)
    with fw.options(check=True), pytest.raises(IndexError, match="out of bounds"):
        outside(3)


@fw.kernel
def outside(n: Any) -> Any:
    found = [1, 2]
    found.append(3)
    return found[n]


def test_arrays_of_ours() -> None:
    a = fw.asarray(np.zeros(9)) + 0.25
    assert lists.writes(a, 5000) == 5000
    wanted = np.full(9, 0.25)
    lists.writes.__wrapped__(wanted, 5000)
    assert np.asarray(a).tolist() == wanted.tolist()
    assert lists.squares(fw.asarray(A)) == lists.squares.__wrapped__(A)


OPERATIONS = (
    "l.append({x})", "l.insert({i}, {x})", "l.reverse()", "t += l.pop()", "t += l.pop({j})",
    "l[{j}] = {x}", "l[{j}] += {x}", "t += l[{j}]", "l.extend([{x}, {x}])", "l.extend(l)", "m = l",
    "l = [{x}]", "l = l.copy()", "m = l[{i}:{j}]", "t += len(m)", "l += [{x}]", "m.append({x})",
    "t += sum(l)", "l = [y * 2 for y in l]", "l.clear()", "t += 1.0 if {x} in l else 0.5",
    "for y in l:\n        t += y", "while len(l) > 3:\n        t += l.pop()", "m = l[::-1]",
    "for k in range({i} % 4):\n        l.append(k * 0.5)",
)  # fmt: skip


def program(seed: int) -> str:
    """Statements about two lists, some of them in branches and loops."""
    chance = random.Random(seed)
    lines = ["l = [0.5, 1.5]", "m = [2.5]", "t = 0.0"]
    for _ in range(chance.randrange(3, 9)):
        text = chance.choice(OPERATIONS).format(
            x=float(chance.randrange(5)), i=chance.randrange(-6, 6), j=chance.randrange(-3, 3)
        )
        around = chance.choice(["", "", "if a[0] > 0.5:", "for _ in range(2):"])
        body = text.split("\n") if not around else [around, *("    " + x for x in text.split("\n"))]
        lines += [line if n == 0 or around else line[4:] for n, line in enumerate(body)]
    lines.append("return t, l, m, len(l)")
    body = "\n    ".join(lines)
    return f"import fusewright as fw\n\n@fw.kernel\ndef kernel(a):\n    {body}\n"


def outcome(call: Any) -> Any:
    try:
        return call(np.array([0.75]))
    except IndexError as error:
        return str(error).splitlines()[0].split(":")[0]
    except fw.FusewrightError:
        return "refused"


@pytest.mark.parametrize("part", range(4))
def test_random_programs(part: int, tmp_path: Path) -> None:
    """Each is right, refused, or ends in the error that CPython has."""
    ran = 0
    for seed in range(part * 12, part * 12 + 12):
        kernel = loaded(program(seed), tmp_path / f"program{seed}.py")
        wanted = outcome(kernel.__wrapped__)
        for target, check in (("reference", False), ("cpu", True), ("cpu", False)):
            with fw.options(target=target, check=check):
                found = outcome(kernel)
            if found == "refused":
                continue
            ran += 1
            if isinstance(wanted, str):
                assert isinstance(found, str), (seed, found, wanted)
            else:
                assert found == wanted, (seed, found, wanted)
    assert ran > 8


@fw.kernel
def doubled(a: Any, n: Any) -> Any:
    found, held = [], []
    for i in range(n):
        held.append(a[i % len(a)])
        if len(held) > 2:
            found.append((i, held[-2] + held[-1]))
    return found, np.array(held)


@fw.kernel
def noted(a: Any, n: Any) -> Any:
    places = [0]
    for i in range(n):
        places.append(i)
        a[i % len(a)] += 1
    return places


def test_like_calls_are_the_cores_however_long_the_lists_get() -> None:
    """A list that is full in a call of the core's has the call made again, with more room."""
    a = np.linspace(0, 1, 5)
    for n in (4, 4, 4, 3000, 4, 5000, 5000, 7, 0):
        found, wanted = doubled(a, n), doubled.__wrapped__(a, n)
        assert found[0] == wanted[0]
        assert [type(x) for pair in found[0] for x in pair] == [
            type(x) for pair in wanted[0] for x in pair
        ]
        np.testing.assert_array_equal(found[1], wanted[1])
    assert is_known(doubled, a, 7)


def test_calls_that_write_into_arguments_put_back_what_a_full_list_left() -> None:
    a, b = np.zeros(3), np.zeros(3)
    for n in (4, 4, 2000, 5, 9000):
        assert noted(a, n) == noted.__wrapped__(b, n)
        np.testing.assert_array_equal(a, b)
    assert not is_known(noted, a, 7)
