"""The whole flow on one page: read this first.

A program is recorded, and nothing runs until somebody asks for a value.  Then four things happen,
each of them to a frozen value that can be printed: what was recorded (nodes) becomes statements or
loop nests, a plan says which of these run as one and where values live, LLVM text is written, and
machine code runs.  There are two doors: array operations (`fw.asarray`, NumPy's functions), and
loops (`fw.kernel`).  Each test is one program; the comments say which file to read next.
"""

from __future__ import annotations

from pathlib import Path

import numpy

import fusewright as fw
import fusewright.numpy as np
from fusewright.base.options import current
from fusewright.codegen.canonical import lower_once
from fusewright.ir.text import nodes_text, program_text
from fusewright.plan.text import plan_text
from fusewright.runtime.listening import CompiledTexts, compilations
from fusewright.runtime.trace import take
from fusewright.targets.cpu.build import decide

AVX2 = 32
"""Bytes of a vector."""


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


def test_an_array_expression() -> None:
    """Two operations and a sum: one kernel, and no intermediate in memory."""
    a = numpy.arange(6.0)
    x = fw.asarray(a)
    result = (x * x + 1.0).sum()

    # Nodes (`ir/graph.py`): one for each operation; operands stand first.
    assert lines(nodes_text([result._node])) == [
        "%0 = leaf: float64[6]",
        "%1 = multiply %0 %0: float64[6]",
        "%2 = scalar 1.0: float64[]",
        "%3 = add %1 %2: float64[6]",
        "%4 = sum %3 ((0,), False): float64[]",
    ]

    # A slice (`runtime/trace.py`) is what a request needs, and its structure, by which code is
    # found again.  Nests (`plan/stages.py`): cheap operations are inlined where they are used.
    slice_ = take([result._node])
    program, plan = decide(slice_, current())
    assert lines(program_text(program)) == [
        "argument p0 extent 0 0 0",
        "argument p1 scalar 2 0 0",
        "buffer b4 float64 []",
        "buffer b0 float64 [p0]",
        "stage b4 fold sum 0 float64 [p0]",
        "  nest [0] to [p0] store []",
        "    let v0 = b0[i0]",
        "    add(multiply(v0, v0), p1:float64)",
        "outputs b4",
    ]

    # The plan (`plan/fuse.py`): the stages of each kernel, and where their values live.
    assert plan_text(program, plan) == "kernel tiles shared 1 over [p0]\n  phase\n    b4 memory"

    # LLVM text (`codegen/lower.py`): sizes are arguments, so one kernel serves all of them.
    (kernel,) = plan.steps
    text = lower_once(program, kernel, AVX2).text
    assert "fmul <" in text and "fadd <" in text and "fma" not in text

    # Running (`driver.py`): code comes from memory, from the disk, or from LLVM; then the call.
    assert float(result) == float((a * a + 1.0).sum())


@fw.kernel
def smooth(a, b, c):
    for i in range(a.shape[0]):
        b[i] = a[i] * 2.0
    for i in range(a.shape[0]):
        c[i] = b[i] + 1.0


def test_a_kernel_of_loops(tmp_path: Path) -> None:
    """Two loops: one after fusing, and its iterations run on threads and in vectors."""
    a = numpy.arange(5.0)
    b, c = numpy.empty(5), numpy.empty(5)
    told: list[CompiledTexts] = []
    compilations.append(told.append)  # `tools/replay.py` and `tests/golden` listen like this
    with fw.options(cache_dir=str(tmp_path), threads=2):
        smooth(a, b, c)
    compilations.clear()
    (texts,) = [each for each in told if lines(each.ir)[0] == "kernel smooth"]

    # Statements (`ir/loops/statements.py`): Python's source, translated for these arguments by
    # `frontends/kernels/translate.py`; the memory of the three arrays is known to be apart.
    assert lines(texts.ir)[-5:] == [
        "  disjoint b0 b1, b0 b2, b1 b2",
        "  for i0 in [0, p0):",
        "    b1[i0] = (b0[i0] * 2.0)",
        "  for i1 in [0, p0):",
        "    b2[i1] = (b1[i1] + 1.0)",
    ]

    # The plan (`plan/loops/decide.py`): what `analysis/` proves may run as one loop, in any order.
    plan = lines(texts.plan)
    assert plan[plan.index("  for i0 in [0, p0):") : plan.index("vectors i0")] == [
        "  for i0 in [0, p0):",
        "    v0 = (b0[i0] * 2.0)",
        "    b1[i0] = v0",
        "    b2[i0] = (v0 + 1.0)",
        "threads i0",
    ]
    assert "loop i0 on threads and in vectors: its iterations are independent" in plan
    assert plan[-1] == "pair 0 2 fused at same on i as one loop saves 8"

    # The loop tree (`codegen/trees/build.py`): how that loop runs, on the machine at hand.
    loop = lines(texts.tree)[-4]
    assert "for i0 'i' in [0, p0) on threads grain 64" in loop and " in lanes of " in loop

    # LLVM text (`codegen/statements.py`), machine code, and the call (`targets/cpu/loops.py`).
    (llvm,) = texts.llvm
    assert "@kernel(" in llvm and "fmul" in llvm and "fadd" in llvm
    assert (c == a * 2.0 + 1.0).all()


def test_a_kernel_between_array_statements() -> None:
    """A call with our arrays is recorded like an operation; what is alike runs as one."""
    a = numpy.linspace(0.0, 1.0, 7)
    x = fw.asarray(a)
    y, z = np.empty_like(x), np.empty_like(x)
    smooth(x, y, z)

    # `kernels/raising.py` has found that the loops are array operations.
    result = np.sqrt(z)
    assert "multiply" in nodes_text([result._node])

    # Nothing has run.  `fw.explain` shows the loop tree of what would run.
    with fw.options(features="avx2"):
        (kernel,) = fw.explain(result).kernels
    assert lines(kernel.loops)[-2:] == [
        "for i in range(n):  # threads, 8 lanes",
        "    out[i] = sqrt(a[i] * s1 + s2)",
    ]
    assert (numpy.asarray(result) == numpy.sqrt(a * 2.0 + 1.0)).all()
