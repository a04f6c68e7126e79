"""The cost model answers to measurement: predicted bytes are what an interpreter counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from tests.array_kernels import MORE
from tests.costs.counting import counted
from tests.golden.array_programs import ARRAYS

import fusewright as fw
import fusewright.numpy as np
from fusewright.base.options import current
from fusewright.plan.count import unfused
from fusewright.runtime.profile import KernelRecord, listen


def array(*shape: int, seed: int = 0, dtype: str = "float64") -> Any:
    return fw.asarray(numpy.random.default_rng(seed).random(shape).astype(dtype))


def stencil(u: Any) -> Any:
    v = u.copy()
    v[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    return v


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def patched() -> Any:
    v = np.zeros((30, 20)) + array(20)
    v[::3, 2:5] = array(10, 3)
    return v


PROGRAMS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "chain": lambda: (np.sqrt(array(1000) * array(1000, seed=1) + 1.0),),
    "float32": lambda: (array(100, dtype="float32") * 2,),
    "two outputs": lambda: (lambda a: (a + 1, a * a))(array(64)),
    "one array twice": lambda: (lambda a: (a * a + a,))(array(64)),
    "views of one array": lambda: (lambda a: (a[2:] - a[:-2],))(array(500)),
    "every other": lambda: (lambda a: (a[::2] + a[1::2],))(array(200)),
    "every third, once": lambda: (array(200)[::3] * 2,),
    "reversed": lambda: (lambda a: (a[::-1] - a,))(array(77)),
    "transposed": lambda: (lambda a: (a.T + 1,))(array(13, 17)),
    "corner": lambda: (array(30, 40)[3:9, 5:11] * 2,),
    "two corners": lambda: (lambda a: (a[:5, :7] + a[-5:, -7:],))(array(30, 40)),
    "broadcast": lambda: (array(20, 1) * array(30, seed=1),),
    "sum": lambda: (array(1000).sum(),),
    "sum of rows and columns": lambda: (lambda a: (a.sum(axis=0), a.sum(axis=1)))(array(40, 50)),
    "softmax": lambda: (softmax(array(20, 30)),),
    "standardised": lambda: (lambda a: ((a - a.mean(axis=0)) / a.std(axis=0),))(array(40, 30)),
    "stencil": lambda: (stencil(array(24, 31)),),
    "stencil of a stencil": lambda: (stencil(stencil(array(24, 31))),),
    "scan": lambda: (np.cumsum(array(300) * 2) + 1,),
    "joined": lambda: (np.concatenate([array(10), array(20)]) * 2,),
    "rolled": lambda: (lambda a: (np.roll(a, 3) - a,))(array(90)),
    "patched": lambda: (patched(),),
    "from nothing": lambda: (np.arange(100.0) * 0.5,),
    "a single value": lambda: ((array(5) + 1.0)[2] * 2.0,),
    "taken": lambda: (array(50)[fw.asarray(numpy.arange(0, 50, 2))] + 1,),
    "taken from two columns": lambda: (lambda a, rows: (a[rows, 0] + a[rows, 3],))(
        array(40, 5), fw.asarray(numpy.arange(0, 40, 3))
    ),
    "nothing": lambda: (array(0) + 1,),
    "sums of nothing": lambda: (array(5, 0).sum(axis=1) + array(5), array(0).sum()),
}
BOUNDED = {"taken"}
"""Programs with indices that depend on data: each element is read once at most."""


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("fuse", [True, False])
def test_predicted_bytes_are_the_counted_bytes(name: str, fuse: bool) -> None:
    with fw.options(fuse=fuse):
        values = PROGRAMS[name]()
        nodes = [value._node for value in values if value._node.args]
        expected = counted(nodes, current())
        explained = fw.explain(*values)
        assert [(k.bytes_read, k.bytes_written) for k in explained.kernels] == expected
        with listen() as profile:
            fw.evaluate(*values)
        ran = [(k.bytes_read, k.bytes_written) for k in profile.kernels]
        assert ran == expected
        assert any(sum(pair) for pair in expected) or name == "nothing"


@pytest.mark.parametrize("name", [*ARRAYS, *MORE])
def test_predicted_bytes_of_golden_programs(name: str) -> None:
    """Tiles, rings, stretches, blocks and boxes reach what their interpreter touches."""
    result = {**ARRAYS, **MORE}[name]()
    values = result if isinstance(result, tuple) else (result,)
    values = tuple(value for value in values if isinstance(value, fw.Array))
    expected = counted([v._node for v in values if v._node.args], current())
    found = [(k.bytes_read, k.bytes_written) for k in fw.explain(*values).kernels]
    if name in BOUNDED:
        assert (numpy.array(found) >= numpy.array(expected)).all()
    else:
        assert found == expected


def test_a_table_that_repeats_is_bounded_from_above() -> None:
    table = fw.asarray(numpy.array([3, 3, 3, 4]))
    value = array(50)[table] + 1
    ((read, written),) = counted([value._node], current())
    (kernel,) = fw.explain(value).kernels
    assert (read, written) == (2 * 8 + 4 * 8, 4 * 8)
    assert kernel.bytes_read == 4 * 8 + 4 * 8 and kernel.bytes_written == written


def test_unfused_bytes_are_what_numpy_moves() -> None:
    a, b = array(1000), array(1000, seed=1)
    (kernel,) = fw.explain((a * b + 1.0).sum()).kernels
    # a * b: two in, one out; + 1: one in, one out; sum: one in, a number out
    assert kernel.bytes_unfused == 3 * 8000 + 2 * 8000 + 8008


def test_a_view_moves_nothing_and_a_repeated_dim_counts_once() -> None:
    a = array(10, 20)
    assert unfused(a[2:]._node) == 0
    row = np.broadcast_to((array(20) + 1), (10, 20))
    assert unfused((a + row)._node) == 2 * 1600 + 160


def test_an_update_moves_the_part_it_writes() -> None:
    a = array(100) + 0
    a[10:20] = array(10)
    assert unfused(a._node) == 2 * 80


def test_an_operation_of_two_kernels_counts_once() -> None:
    a = array(200, 300)
    with fw.options(fuse=False):
        total = fw.explain(softmax(a)).bytes_unfused
    assert total == fw.explain(softmax(a)).bytes_unfused


def test_large_strided_accesses_are_not_listed_one_by_one() -> None:
    a = array(6_000_000, dtype="float32")
    (kernel,) = fw.explain(a[::2] + a[1::2]).kernels
    assert isinstance(kernel, KernelRecord)
    assert kernel.bytes_read == 4 * 6_000_000
