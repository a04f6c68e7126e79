"""What groups of calls move: a temporary that nobody needs costs no byte of memory, in whichever
form the loops fuse.  The interpreter runs the plan and counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.ir.loops import interpret
from fusewright.kernels import deferred, group_code, statements
from fusewright.targets.cpu.loops import CompiledLoops

ROWS, N = 3, 1200


@fw.kernel
def powers(a: Any, b: Any) -> None:
    for r in range(a.shape[0]):
        for i in range(a.shape[1]):
            x, s = a[r, i], 0.0
            for j in range(2):
                s = s * x + j
            b[r, i] = s


@fw.kernel
def again(a: Any, b: Any) -> None:
    for r in range(a.shape[0]):
        for i in range(a.shape[1]):
            s = 1.0
            for j in range(2):
                s = s * a[r, i] - j
            b[r, i] = s


@fw.kernel
def neighbours(a: Any, b: Any) -> None:
    for r in range(a.shape[0]):
        for i in range(1, a.shape[1] - 1):
            s = 0.0
            for j in range(3):
                s += a[r, i - 1 + j] * j
            b[r, i] = s


@fw.kernel
def columns(a: Any, b: Any) -> None:
    for i in range(a.shape[1]):
        s = 0.0
        for r in range(a.shape[0]):
            s += a[r, i]
        b[0, i] = s


class Counted(np.ndarray[Any, Any]):
    """An array that counts the bytes stored to it and loaded from it, one by one."""

    moved = 0

    def __setitem__(self, place: Any, value: Any) -> None:
        self.moved += self.itemsize
        super().__setitem__(place, value)

    def __getitem__(self, place: Any) -> Any:
        self.moved += self.itemsize
        return super().__getitem__(place)


@pytest.fixture(autouse=True)
def plainly() -> Iterator[None]:
    """No code of other tests; plans as predicted."""
    deferred.forget()
    statements.set_least(N, N)
    with fw.options(background=False, measure=False, threads=1):
        yield
    statements.set_least()


def moved(code: CompiledLoops) -> list[int]:
    """The bytes that the code moves, for each array it is given."""
    kernel = code.plan.kernel
    arrays = {
        number: np.zeros((ROWS, N) if buffer.extents else (), buffer.dtype.numpy).view(Counted)
        for number, buffer in enumerate(kernel.buffers)
        if number in kernel.given
    }
    params = [
        arrays[source.slot].shape[source.dim] if source.what == "extent" else 0.5
        for source in kernel.arguments
    ]
    interpret.run(kernel, list(arrays.values()), params, print, AssertionError)
    return [array.moved for array in arrays.values()]


SIZE = ROWS * N * 8
PROGRAMS: dict[str, tuple[Callable[[Any, Any], Any], str, int]] = {
    "the same iteration": (again, "one loop", 2 * SIZE),
    "neighbours": (neighbours, "strips, dims", 2 * SIZE - ROWS * 2 * 8),
    "another order of the loops": (columns, "strips, dims", SIZE + N * 8),
    "a count": (lambda t, out: (t > 0.5).sum(), "one loop", SIZE + 8),
}
"""The second call, the form in which it fuses with the first, and all that has to be moved."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_dead_temporary_moves_no_byte(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    second, form, least = PROGRAMS[name]
    codes: list[CompiledLoops] = []
    remember = group_code.remember

    def noted(shape: Any, unit: Any, code: Any, *rest: Any) -> None:
        codes.append(code)
        remember(shape, unit, code, *rest)

    monkeypatch.setattr(group_code, "remember", noted)
    a = fw.asarray(np.random.default_rng(0).random((ROWS, N)))
    for _ in range(3):
        t, out = fnp.empty((ROWS, N)), fnp.zeros((ROWS, N))
        powers(a, t)
        found = second(t, out)
        del t
        fw.evaluate(out if found is None else found)
    assert [pair.form for pair in codes[-1].plan.pairs] == [form]
    assert sum(moved(codes[-1])) == least
