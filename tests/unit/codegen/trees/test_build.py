"""What plans of loops become as trees: lanes and their masks, tasks and their frames, room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import fusewright as fw
from fusewright import driver
from fusewright.ir.tree.nodes import MappedLoop, PairedStore, Tree, walk
from fusewright.ir.tree.parse import parse_tree
from fusewright.ir.tree.verify import check_tree
from fusewright.runtime.listening import CompiledTexts, compilations

SETTINGS: dict[str, Any] = {"features": "avx2", "threads": 2}


@contextmanager
def told() -> Iterator[list[CompiledTexts]]:
    found: list[CompiledTexts] = []
    driver.cache_clear()
    compilations.append(found.append)
    try:
        yield found
    finally:
        compilations.remove(found.append)


def tree(function: Callable[..., Any], folder: Any, *arguments: Any) -> Tree:
    """The tree that a call compiles."""
    with told() as found, fw.options(cache_dir=str(folder), **SETTINGS):
        fw.kernel(function)(*arguments)
    (texts,) = found
    parsed = parse_tree(texts.tree)
    check_tree(parsed)
    return parsed


def loops(tree: Tree) -> list[MappedLoop]:
    return [node for node in walk(tree.body) if isinstance(node, MappedLoop)]


def clipped(a, b):  # type: ignore[no-untyped-def]
    for i in range(a.shape[0]):
        x = a[i]
        if x < 0.0:
            x = 0.0
        b[i] = x


def totals(c, n):  # type: ignore[no-untyped-def]
    total = 0
    for i in range(c.shape[0]):
        total += c[i] * n
    return total


def histogram(c, counts):  # type: ignore[no-untyped-def]
    for i in range(c.shape[0]):
        counts[c[i] & 3] += 1


def columns(m, a):  # type: ignore[no-untyped-def]
    for j in range(m.shape[1]):
        w = 0.0
        for i in range(m.shape[0]):
            w += m[i, j]
        a[j] = w


def rows(m, k):  # type: ignore[no-untyped-def]
    s = float(k) * 2.0
    for i in range(m.shape[0]):
        for j in range(1, m.shape[1]):
            m[i, j] = m[i, j - 1] * s


def test_a_branch_in_lanes_is_a_mask(tmp_path: Any) -> None:
    found = tree(clipped, tmp_path, np.ones(9), np.ones(9))
    (loop,) = loops(found)
    assert loop.lanes is not None
    assert (loop.lanes.width, loop.lanes.least) == (4, 24)
    assert loop.threads is not None
    assert loop.threads.grain == 64


def test_an_integer_is_collected_in_copies(tmp_path: Any) -> None:
    (loop,) = loops(tree(totals, tmp_path, np.arange(9), 3))
    assert [(each.what, each.by, each.order) for each in loop.reductions] == [
        ("variable", "add", "any")
    ]


def test_an_array_that_tasks_copy(tmp_path: Any) -> None:
    found = tree(histogram, tmp_path, np.arange(9), np.zeros(4, np.int64))
    (each,) = (one for loop in loops(found) for one in loop.reductions)
    assert (each.what, each.by, each.most) == ("array", "add", 1 << 16)


def test_lanes_of_an_outer_loop(tmp_path: Any) -> None:
    """The loop inside hands a value of each lane on."""
    outer, inner = loops(tree(columns, tmp_path, np.ones((5, 9)), np.ones(9)))
    assert outer.lanes is not None
    assert inner.lanes is None
    assert any(getattr(node, "scope", "") == "register" for node in outer.body)


def test_a_task_has_a_frame(tmp_path: Any) -> None:
    outer, inner = loops(tree(rows, tmp_path, np.ones((5, 9)), 2))
    assert outer.threads is not None
    assert [node.name for node in outer.threads.frame] == ["local"]
    assert inner.lanes is None


def squares(z, w):  # type: ignore[no-untyped-def]
    for i in range(z.shape[0]):
        w[i] = z[i] * z[i]


def test_both_parts_of_a_complex_number_are_stored_together(tmp_path: Any) -> None:
    found = tree(squares, tmp_path, np.ones(9, np.complex128), np.ones(9, np.complex128))
    (pair,) = (node for node in walk(found.body) if isinstance(node, PairedStore))
    assert pair.first.buffer == pair.second.buffer
