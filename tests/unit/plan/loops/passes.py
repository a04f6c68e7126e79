"""Passes over statements, seen as text: what a kernel was and what it becomes, which computes the
same bits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fusewright.ir.loops import interpret
from fusewright.ir.loops.parse import parse_kernel
from fusewright.ir.loops.statements import Kernel
from fusewright.ir.loops.text import kernel_text
from fusewright.ir.loops.verify import check_kernel
from fusewright.plan.loops.normalise.rename import Numbers

HEAD = """\
kernel sample
  param p0: int64 = extent 0 of b0
  buffer b0: float64[p0]
  buffer b1: float64[p0]
"""
"""Two arrays of one length, which may share memory."""
APART = f"{HEAD}  disjoint b0 b1\n"
Pass = Callable[[Kernel, Numbers], Kernel]


def becomes(body: str, run: Pass, wanted: str, *, head: str = HEAD) -> None:
    """Declarations and body after a pass; both forms give the same on arrays of two lengths."""
    before = parse_kernel(head + body)
    after = run(before, Numbers.after(before))
    check_kernel(after)
    declared = head.splitlines()
    lines = [line for line in kernel_text(after).splitlines() if line not in declared]
    assert lines == wanted.splitlines()
    for length in (1, 7):
        old, new = arrays(before, length), arrays(before, length)
        for kernel, given in ((before, old), (after, new)):
            interpret.run(kernel, given, [length], str, lambda *found: AssertionError(*found))
        for one, other in zip(old, new, strict=True):
            np.testing.assert_array_equal(one, other, strict=True)


def stays(body: str, run: Pass, *, head: str = HEAD) -> None:
    """A pass finds nothing to do."""
    becomes(body, run, body, head=head)


def arrays(kernel: Kernel, length: int) -> list[np.ndarray]:
    """Numbers of both signs for each buffer, each dim of one length."""
    chance = np.random.default_rng(length)
    return [chance.normal(size=(length,) * len(each.extents)) for each in kernel.buffers]
