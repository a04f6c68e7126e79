"""Loops that fuse: how, with which bits, and what of their arrays stays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython, short_strips
from tests.unit.kernels import fused_kernels, genesis_kernels

import fusewright as fw
from fusewright.analysis.values import value
from fusewright.base.errors import ArgumentError, ValueRangeError
from fusewright.base.options import current
from fusewright.ir.expr import postorder
from fusewright.ir.loops import interpret
from fusewright.ir.loops.statements import For
from fusewright.ir.loops.verify import check_kernel
from fusewright.kernels.run import failed
from fusewright.kernels.specialise import apart, with_facts
from fusewright.plan.loops.decide import decide
from fusewright.targets.cpu import loops
from fusewright.targets.executable import settings_of

R = np.random.default_rng(3)


def numbers(*shape: int, dtype: Any = np.float64) -> Any:
    return R.normal(size=shape).astype(dtype)


N = 100
FUSED: dict[str, tuple[str, int, tuple[Any, ...]]] = {
    "chain": ("one loop", 2, tuple(numbers(N) for _ in range(4))),
    "other_bounds": ("one loop", 1, (numbers(N), numbers(N), numbers(77))),
    "stencils": ("strips, overlap", 2, tuple(numbers(N) for _ in range(4))),
    "rows": ("strips, overlap", 1, tuple(numbers(23, 50) for _ in range(3))),
    "past_a_sum": ("one loop", 1, (numbers(N), numbers(N), numbers(60), numbers(N))),
    "with_locals": ("strips, dims", 1, (numbers(N), numbers(N))),
    "in_time": ("one loop", 1, (numbers(N), numbers(N), 5)),
    "scattered": ("one loop", 1, (numbers(50), numbers(20), numbers(20), np.arange(40)[::-2])),
    "half_precision": (
        "one loop", 2,
        (numbers(N), numbers(N, dtype=np.float16), np.zeros(N, np.uint8), numbers(N)),
    ),
    "along_a_diagonal": ("", 0, (numbers(6, 21), numbers(6, 21), numbers(21))),
    "other_columns": ("one loop", 1, (numbers(6, 23), numbers(6, 23))),
    "columns": ("strips, dims", 1, (numbers(5, 300), numbers(5, 300), numbers(300))),
    "scaled_rows": (
        "strips, dims", 1, (numbers(90, 7), numbers(7), numbers(90), numbers(90, 7)),
    ),
    "fenced": ("", 0, (numbers(N), numbers(N), numbers(N))),
}  # fmt: skip
B = 40
GENESIS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "copies": ("", tuple(numbers(k, B) for k in (5, 5, 4, 4, 4, 4))),
    "diagonal": ("one loop", (numbers(4, 4, B), numbers(4, B), numbers(4, B), 0.01)),
    "masks": ("one loop", (np.ones((3, B), bool), numbers(3, B))),
    "passive": (
        "strips, dims",
        (numbers(6, B), numbers(6, B), np.array([0, 2, 3]), np.array([2, 3, 6]), numbers(3, B)),
    ),
    "composite": ("strips, dims", (numbers(5, B), numbers(5, B), np.array([-1, 0, 0, 1, 3]))),
    "positions": (
        "strips, dims",
        (*(numbers(6, B) for _ in range(5)), np.array([0, 2, 4]), 0.01),
    ),
    "constraint": (
        "strips, dims", (numbers(7, B), numbers(7, 4, B), numbers(4, B), numbers(B), numbers(7, B)),
    ),
    "contacts": ("strips, dims", (numbers(4, B), np.array([0, 3, 3]), numbers(3, B))),
    "counters": ("strips, dims", (np.ones(B, np.int64), np.zeros((6, B), np.int64), numbers(6, B))),
    "indexed": (
        "strips, dims",
        (numbers(4, 50), numbers(4), R.permutation(50)[:B], numbers(4, B), numbers(B)),
    ),
    "barrier": ("", (np.zeros(1, np.int64), numbers(B), np.ones(B, np.int64))),
}  # fmt: skip


def fresh(kernel: Any) -> Any:
    """The kernel as if it had never been called."""
    return fw.kernel(kernel.__wrapped__)


@pytest.mark.parametrize("name", FUSED)
def test_fused(name: str) -> None:
    form, count, arguments = FUSED[name]
    kernel = fresh(getattr(fused_kernels, name))
    kernel(*[a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
    text = str(kernel.explain())
    assert kernel.stats.fused == count, text
    assert form in text
    same_as_cpython(kernel, *arguments)
    with short_strips():
        same_as_cpython(fresh(kernel), *arguments)


@pytest.mark.parametrize("name", GENESIS)
def test_genesis(name: str) -> None:
    form, arguments = GENESIS[name]
    kernel = fresh(getattr(genesis_kernels, name))
    kernel(*[a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
    text = str(kernel.explain())
    assert kernel.stats.fused == (0 if not form else 2 if name == "constraint" else 1), text
    assert form in text
    same_as_cpython(kernel, *arguments)
    with short_strips():
        same_as_cpython(fresh(kernel), *arguments)


def planned(kernel: Any, arrays: list[Any], dead: set[str], **chosen: Any) -> Any:
    """The kernel's statements for these arrays, some of them dead, and the plan."""
    kernel(*[array.copy() for array in arrays])
    (found,) = next(iter(kernel.specialisations.values()))
    statements = with_facts(found.kernel, apart(found.kernel, arrays))
    names = list(kernel.signature.parameters)
    buffers = tuple(replace(b, dead=names[b.slot] in dead) for b in statements.buffers)
    return replace(statements, buffers=buffers)


def parameters(kernel: Any, arrays: list[Any]) -> list[int]:
    return [arrays[source.slot].shape[source.dim] for source in kernel.arguments]


DEAD = {"chain": {"b", "c"}, "stencils": {"b", "c"}, "rows": {"b"}, "half_precision": {"h", "k"}}


@pytest.mark.parametrize("name", DEAD)
def test_dead_arrays_need_no_memory(name: str) -> None:
    kernel, dead = fresh(getattr(fused_kernels, name)), DEAD[name]
    arrays = list(FUSED[name][2])
    statements = planned(kernel, arrays, dead)
    wanted = [a.copy() for a in arrays]
    kernel.__wrapped__(*wanted)
    names = list(kernel.signature.parameters)
    with short_strips():
        code = loops.obtain(statements, current())
        own = [a.copy() for a in arrays]
        code.run(own, parameters(statements, own), failed)
    for number, (before, found, right) in enumerate(zip(arrays, own, wanted, strict=True)):
        assert code.needs(number) == (names[number] not in dead)
        expected = before if names[number] in dead else right
        assert found.tobytes() == expected.tobytes(), names[number]


@pytest.mark.parametrize("name", ["chain", "other_bounds", "stencils", "rows", "in_place"])
def test_the_plan_is_a_kernel_that_means_the_same(name: str) -> None:
    kernel = fresh(getattr(fused_kernels, name))
    arrays = list(FUSED[name][2]) if name in FUSED else [numbers(N), numbers(N)]
    statements = planned(kernel, arrays, set())
    settings = replace(settings_of(current()), elements=8, columns=8, rows=(2, 2), row_bytes=1)
    plan = decide(statements, settings)
    check_kernel(plan.kernel)
    left, right = ([a.copy() for a in arrays] for _ in range(2))
    for program, memory in ((statements, left), (plan.kernel, right)):
        interpret.run(program, memory, parameters(program, memory), print, failed)
    assert all(x.tobytes() == y.tobytes() for x, y in zip(left, right, strict=True))


def test_levels_and_switches() -> None:
    arrays = [numbers(N) for _ in range(4)]
    for level, count in (("same", 0), ("dims", 0), ("overlap", 2)):
        kernel = fw.kernel(fused_kernels.stencils.__wrapped__, fuse=level)
        kernel(*[a.copy() for a in arrays])
        assert kernel.stats.fused == count, level
    for chosen in ({"fuse": False}, {"graph": True}):
        kernel = fresh(fused_kernels.chain)
        with fw.options(**chosen):
            kernel(*[a.copy() for a in arrays])
        assert (kernel.stats.fused, kernel.stats.tasks) == (0, 3)
    with pytest.raises(ArgumentError):
        fw.kernel(fused_kernels.chain.__wrapped__, fuse="more")


STRIPS = (
    ("columns", ((18, 50), (18, 50), (50,)), 1),
    ("columns", ((18, 300), (18, 300), (300,)), 1),
    ("columns", ((18, 5000), (18, 5000), (5000,)), 5),
    ("columns", ((1, 50000), (1, 50000), (50000,)), 49),
    ("scaled_rows", ((300, 300), (300,), (300,), (300, 300)), 4),
    ("scaled_rows", ((2000, 9), (9,), (2000,), (2000, 9)), 2),
    ("rows", ((130, 40),) * 3, 2),
    ("rows", ((130, 4000),) * 3, 16),
)


@pytest.mark.parametrize(("name", "shapes", "count"), STRIPS)
def test_strips_are_enough_for_threads(
    name: str, shapes: tuple[tuple[int, ...], ...], count: int
) -> None:
    arrays = [numbers(*shape) for shape in shapes]
    statements = planned(fresh(getattr(fused_kernels, name)), arrays, set())
    (strips,) = decide(statements, settings_of(current())).kernel.body
    assert isinstance(strips, For)
    extents = dict(enumerate(parameters(statements, arrays)))
    known = {node: extents[node.attr] for node in postorder([strips.dims[0].high])
             if node.name == "param"}  # fmt: skip
    assert value(strips.dims[0].high, known) == count


def test_shift_on_one_thread() -> None:
    arrays = (numbers(N), numbers(N))
    kernel = fresh(fused_kernels.in_place)
    with fw.options(threads=1), short_strips():
        kernel(*[a.copy() for a in arrays])
        assert "strips, shift" in str(kernel.explain())
        same_as_cpython(fresh(kernel), *arrays)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [("in_place", ((300,), (3,), (2,), (0,))), ("in_place_rows", ((90, 17), (5, 4), (1, 1))),
     ("in_place_chain", ((300,), (11,), (5,), (1,)))],
)  # fmt: skip
def test_shift_on_threads(name: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    """Blocks of strips, on threads; what meets across their ends has run before."""
    kernel = fresh(getattr(fused_kernels, name))
    count = len(kernel.signature.parameters)
    for shape in shapes:
        arrays = tuple(numbers(*shape) for _ in range(count))
        with short_strips():
            same_as_cpython(kernel, *arrays)
    with fw.options(threads=2), short_strips():
        again = fresh(kernel)
        again(*[numbers(*shapes[0]) for _ in range(count)])
    assert "strips, shift in blocks" in str(again.explain())
    assert again.stats.fused == count - 1


def test_diagnostics(caplog: pytest.LogCaptureFixture) -> None:
    arrays = [numbers(N) for _ in range(4)]
    with fw.options(diagnostics="text"):
        fresh(fused_kernels.chain)(*[a.copy() for a in arrays])
    assert "on (i), one loop" in caplog.text
    caplog.clear()
    with fw.options(diagnostics="json", fuse_level="same"):
        fresh(fused_kernels.stencils)(*[a.copy() for a in arrays])
    text = caplog.text
    assert '"fused": false' in text
    case = (
        "e.g. a.shape[0]=5: loop 1 (line 28) writes b[1] at i=1, loop 2 (line 30) reads it at i=2"
    )
    assert f"read after write of `b`, distance +1: {case}; legal with level=shift" in text


def test_verify_runs_both() -> None:
    for name in ("chain", "stencils"):
        kernel, arrays = fresh(getattr(fused_kernels, name)), FUSED[name][2]
        own, wanted = ([a.copy() for a in arrays] for _ in range(2))
        with fw.options(verify=True):
            kernel(*own)
        kernel.__wrapped__(*wanted)
        assert all(x.tobytes() == y.tobytes() for x, y in zip(own, wanted, strict=True))


def test_tables_are_checked() -> None:
    x = numbers(4)
    for table in ([0, 1, 1, 2], [0, -1, 1, 2]):
        with fw.options(check=True), pytest.raises(ValueRangeError, match="assume_unique"):
            fused_kernels.scattered(numbers(9), numbers(4), x, np.array(table))


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint16", "uint64"])
def test_tables_of_any_integers_may_be_unique(dtype: str) -> None:
    kernel = fresh(fused_kernels.scattered)
    kernel(numbers(9), numbers(4), numbers(4), np.array([3, 1, 0, 8], dtype))
    assert kernel.stats.parallel_loops == 1
    assert kernel.stats.fused == 1


def test_a_table_that_changes_may_hold_values_twice() -> None:
    kernel = fresh(fused_kernels.halved_table)
    kernel(numbers(9), numbers(9), np.arange(9))
    assert kernel.stats.ordered_loops == 1


def test_a_loop_in_order_names_the_tables_that_keep_it() -> None:
    kernel = fresh(fused_kernels.moved)
    kernel(numbers(9), numbers(9), np.arange(9, dtype="i4"), np.arange(9))
    text = str(kernel.explain())
    assert "may write out[?] at i=1; needs fw.assume_unique(rows)\n" in text
    assert text.count("needs") == 1


def test_views_of_one_array_keep_their_order() -> None:
    base = numbers(60)
    for left, right in ((base[:40], base[1:41]), (base[:40], base[:40]), (base[39::-1], base[:40])):
        kernel = fresh(fused_kernels.other_bounds)
        own = base.copy()
        offsets = [(view.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // 8
                   for view in (left, right)]  # fmt: skip

        def views(memory: Any, starts: list[int], strides: tuple[int, int]) -> list[Any]:
            return [
                np.ndarray(40, np.float64, memory, 8 * start, (stride,))
                for start, stride in zip(starts, strides, strict=True)
            ]

        strides = (left.strides[0], right.strides[0])
        a, b = views(own, offsets, strides)
        kernel(numbers(40) * 0 + 1.5, a, b)
        wanted = base.copy()
        a, b = views(wanted, offsets, strides)
        kernel.__wrapped__(numbers(40) * 0 + 1.5, a, b)
        assert own.tobytes() == wanted.tobytes()


def test_a_value_read_after_strips_is_kept() -> None:
    """Loops that hand a variable on are not cut into blocks that run on threads."""
    same_as_cpython(fused_kernels.value_after_strips, *(np.ones(19) for _ in range(3)), 1.5)
