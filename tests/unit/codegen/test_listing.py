"""The listing of a kernel, which `fw.show(x, "loops")` prints: the loop tree that is compiled."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from tests.unit.programs_of import PROGRAMS, array, softmax, stencil

import fusewright as fw
import fusewright.numpy as np


def loops(value: Any) -> str:
    with fw.options(features="avx2"):
        return "\n".join(k.loops for k in fw.explain(value).kernels)


def code(value: Any) -> list[str]:
    return [line for line in loops(value).splitlines() if not line.startswith("#")]


def test_a_chain_is_one_line() -> None:
    a, b = array(10), array(10)
    assert code(np.sqrt(a * a + b * 2.5) / (a - (b - 1))) == [
        "for i in range(n):  # threads, 8 lanes",
        "    out[i] = sqrt(a[i] * a[i] + b[i] * s1) / (a[i] - (b[i] - s2))",
    ]


def test_softmax_keeps_a_row() -> None:
    assert code(softmax(array(20, 30))) == [
        "for i in range(n):  # threads",
        "    for j in range(m):  # collected in 16 lanes, 8192 elements at a time",
        "        t1[i, 0] = max(t1[i, 0], a[i, j])",
        "    for j in range(m):  # collected in 16 lanes, 8192 elements at a time",
        "        v1 = exp(a[i, j] - t1[i, 0])",
        "        t2[i, j] = v1",
        "        t3[i, 0] += v1",
        "    for j in range(m):  # 4 lanes",
        "        out[i, j] = t2[i, j] / t3[i, 0]",
    ]


def test_what_the_names_stand_for() -> None:
    lines = loops(array(20, 30) * 2).splitlines()
    assert lines[:3] == [
        "# a: float64[20, 30]",
        "# n = 20, m = 30",
        "# s1: float64 (given at run time)",
    ]


def test_a_view_is_an_index() -> None:
    a = array(10)
    double = a * 2
    assert code(double[2:] - double[:-2])[-1] == "    out[i] = a[i + 2] * s1 - a[i] * s1"
    assert code((a + a)[::-1] * a)[-1] == "    out[i] = (a[n - i - 1] + a[n - i - 1]) * a[i]"


def test_rows_ahead_are_seen() -> None:
    text = loops(stencil(stencil(array(20, 30))))
    assert "# t1: the last 4 rows of a stretch, in scratch" in text
    assert "for turn in range((m + stretch - 1) // stretch):" in text
    assert "i = unit + 1" in text and "t1[i - 1, j]" in text and "if 1 <= i and i < n - 1:" in text


def test_several_results() -> None:
    a = array(10)
    (kernel,) = fw.explain(a + 1, a * a).kernels
    assert "out1[i] = " in kernel.loops and "out2[i] = " in kernel.loops
    assert "= a[i] + s1" in kernel.loops and "= a[i] * a[i]" in kernel.loops


def test_long_expressions_are_named_piece_by_piece() -> None:
    a = array(10)
    x = a
    for _ in range(30):
        x = np.exp(-x) + 1
    assert all(len(line) < 100 for line in code(x)) and "v1 = " in loops(x)


def test_shared_values_are_written_once() -> None:
    x = array(10)
    for _ in range(40):
        x = x + x
    assert len(loops(x)) < 3000


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_has_a_listing(name: str) -> None:
    value = PROGRAMS[name]()
    explained = fw.explain(value)
    assert all(k.loops.strip() for k in explained.kernels)
    assert explained.kernels or explained.library_steps


def test_show_knows_three_texts() -> None:
    value = np.exp(array(10)) * 2
    assert "for i in range(n):  # threads" in fw.show(value)
    assert "define void @kernel(" in fw.show(value, "llvm")
    assert "kernel:" in fw.show(value, "asm")
    assert repr(fw.show(value)) == str(fw.show(value))
    assert value._node.args, "showing runs nothing"


def test_show_takes_several_values_and_names_library_steps() -> None:
    a = array(4, 4)
    text = fw.show((a + 1, a @ a), "loops")
    assert "library step: matmul" in text and "# threads" in text


def test_show_refuses_what_has_no_kernel() -> None:
    done = fw.evaluate(array(3) + 1)
    with pytest.raises(ValueError, match="no kernel to show"):
        fw.show(done)
    with pytest.raises(ValueError, match="cannot show 'ptx'"):
        fw.show(array(3) + 1, "ptx")


@pytest.mark.parametrize("parts", [[(0, 6)], [(0, 2), (2, 6)]])
def test_the_listing_means_what_the_kernel_computes(parts: list[tuple[int, int]]) -> None:
    """A listing is Python that runs, also where its units are divided."""
    source = numpy.random.default_rng(1).random((6, 7))
    x = fw.asarray(source)
    known: dict[str, Any] = {
        "a": source, "n": 6, "m": 7, "s1": 0.5, "parts": lambda _: parts, "stretch": 3,
        "exp": numpy.exp,
    }  # fmt: skip
    y = np.exp(x)
    for value, kept in (
        (np.maximum(x, 0.5) * x + x.sum(axis=1)[:, None], (6,)),
        (y[1:] - y[:-1], (6, 7)),
    ):
        out, t1 = numpy.zeros(value.shape), numpy.zeros(kept)
        exec(loops(value), {**known, "out": out, "t1": t1})
        assert numpy.allclose(out, numpy.asarray(value), rtol=1e-15)
