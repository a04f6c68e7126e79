"""What a kernel says about itself, and which loops run in vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import loaded, same_as_cpython

import fusewright as fw
from fusewright.plan.loops.plan import OF_FLOATS


@fw.kernel
def elementwise(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] * 2 + 1


@fw.kernel
def in_branches(a, b, k):
    for i in range(a.shape[0]):
        x = a[i]
        if x > 0.5:
            y = x * 2
            if k > 2:
                y += b[0 * k]
        elif x < -0.5:
            y = -x
        else:
            y = 0.0
        a[i] = y
        if y > 1:
            a[i] = 1


@fw.kernel
def along_rows(m, v):
    for i, j in fw.ndrange(m.shape[0], m.shape[1]):
        m[i, j] += v[j] * i


@fw.kernel
def gathers(a, index, out):
    for i in range(out.shape[0]):
        out[i] = a[index[i]] + a[i * 2]


@fw.kernel
def with_math(a, b):
    for i in range(a.shape[0]):
        b[i] = math.exp(a[i]) + np.sin(a[i] * 1e6)


@fw.kernel
def mixed_types(a, c, b):
    for i in range(a.shape[0]):
        b[i] = a[i] > c[i] and i % 3 != 0


@fw.kernel
def carried(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
        a[i] = s


@fw.kernel
def recurrence(a):
    for i in range(1, a.shape[0]):
        a[i] = a[i - 1] * 0.5


@fw.kernel
def one_place(a):
    for i in range(a.shape[0]):
        a[0] += i


@fw.kernel
def float_sum(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


@fw.kernel
def float_sum_until(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
        if s > 3.0:
            break
    return s


@fw.kernel
def stops(a):
    for i in range(a.shape[0]):
        if a[i] < 0:
            break
        a[i] = 1


@fw.kernel
def used_after(a):
    last = 0.0
    for i in range(a.shape[0]):
        last = a[i]
        a[i] = 2 * last
    return last


X, Y = np.linspace(-1, 1, 37), np.linspace(0, 3, 37)
PARALLEL: dict[str, tuple[Any, ...]] = {
    "elementwise": (elementwise, X, Y),
    "elementwise of float32": (elementwise, X.astype(np.float32), Y.astype(np.float32)),
    "in branches": (in_branches, X, Y, 3),
    "in branches, none taken": (in_branches, X, np.zeros(0), 1),
    "along rows": (along_rows, np.ones((3, 37)), X),
    "gathers": (gathers, np.linspace(0, 1, 80), np.arange(37)[::-1] - 20, Y),
    "mixed types": (mixed_types, X, (9 * Y).astype(np.int16), np.zeros(37, bool)),
}
ORDERED = {
    "carried": (carried, "`s`"),
    "recurrence": (
        recurrence,
        "read after write of `a`, distance +1: e.g. a.shape[0]=3: an iteration",
    ),
    "one place": (one_place, "it reduces `a`, element after element"),
    "a sum of floats": (float_sum, f"it reduces `s`, element after element: {OF_FLOATS}"),
    "a sum and what ends it": (float_sum_until, "may be left early"),
    "stops": (stops, "may be left early"),
    "used after": (used_after, "`last` is used after the loop"),
}


@pytest.mark.parametrize("name", PARALLEL)
def test_parallel(name: str) -> None:
    kernel, *arguments = PARALLEL[name]
    fresh = fw.kernel(kernel.__wrapped__)
    same_as_cpython(fresh, *arguments)
    fresh = fw.kernel(kernel.__wrapped__)
    fresh(*[a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
    assert fresh.stats.parallel_loops == 1, str(fresh.explain())


def test_math_in_vectors() -> None:
    found, interpreted = np.zeros(37), np.zeros(37)
    with_math(X, found)
    assert with_math.stats.parallel_loops == 1
    with fw.options(features="avx2"):
        with_math(X, interpreted)
    assert found.tobytes() == interpreted.tobytes()
    wanted = [math.exp(x) + float(np.sin(x * 1e6)) for x in X.tolist()]
    np.testing.assert_allclose(found, wanted, rtol=4e-16, atol=5e-16)


@pytest.mark.parametrize("name", ORDERED)
def test_ordered(name: str) -> None:
    kernel, why = ORDERED[name]
    kernel(np.arange(9.0))
    text = str(kernel.explain())
    assert kernel.stats.parallel_loops == 0
    assert why in text
    assert "runs in order" in text


@pytest.mark.parametrize("name", ORDERED)
def test_what_reassociate_is_said_to_free(name: str) -> None:
    """The advice stands where it helps, and nowhere else."""
    kernel, why = ORDERED[name]
    fresh = fw.kernel(kernel.__wrapped__)
    with fw.options(reassociate=True):
        fresh(np.arange(9.0))
    assert (fresh.stats.parallel_loops > 0) == (OF_FLOATS in why)


def test_overlapping_views_run_in_order() -> None:
    fresh = fw.kernel(elementwise.__wrapped__)
    base = np.arange(20.0)
    fresh(base[:10], base[10:])
    fresh(base[:10], base[1:11])
    stats = fresh.stats
    assert (stats.translations, stats.codes) == (1, 2)
    assert (stats.parallel_loops, stats.ordered_loops) == (1, 1)
    assert "may share memory" in str(fresh.explain())


def test_the_text() -> None:
    fresh = fw.kernel(elementwise.__wrapped__)
    assert str(fresh.explain()) == "kernel elementwise: not called yet"
    fresh(X.copy(), Y.copy())
    lines = str(fresh.explain()).splitlines()
    assert lines[:2] == ["kernel elementwise", "for (float64[:], float64[:])"]
    assert "    runs on threads and in vectors: its iterations are independent" in lines
    assert "        b[i] = a[i] * 2.0 + 1.0" in lines
    assert fresh.stats.calls == 1


@fw.kernel
def until_large(a, n, shift):
    x = 1.0
    while x < 100:
        for j in range(n):
            x += a[j]
        x *= 2
    for i in range(n):
        a[i + shift] = i
    for i in range(n):
        a[i] = a[i] + 1
    return x


def test_a_while_is_explained_in_words() -> None:
    until_large(np.ones(50), 20, 3)
    text = str(until_large.explain())
    assert "while x < 100\n    runs in order: each iteration decides whether there is" in text
    assert ": for j in range(n)\n" in text
    assert "140737488355" not in text
    assert until_large.stats.ordered_loops < 4, "it is no loop that could have run otherwise"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("try: a[0] = 1\n    except ValueError: pass", "test for what would go wrong"),
        ("with open('x') as f: a[0] = 1", "open and close it around the call"),
        ("raise ValueError(a[0])", "or an f-string"),
        ("import math", "at the top of the module"),
        ("global x; x = 1", "return the new value"),
    ],
)
def test_a_refusal_says_what_to_write(line: str, text: str, tmp_path: Any) -> None:
    kernel = loaded(
        f"import fusewright as fw\n\n@fw.kernel\ndef kernel(a):\n    {line}\n", tmp_path / "one.py"
    )
    with pytest.raises(fw.FusewrightError, match=text):
        kernel(np.ones(3))


def test_each_call_is_counted_for_its_types() -> None:
    """Calls that the core runs by itself as well, whichever types come in which order."""

    def doubled(a):
        for i in range(len(a)):
            a[i] = a[i] + a[i]

    kernel = fw.kernel(doubled)
    wanted = {"float64[:]": 12, "float32[:]": 5, "int64[:]": 1}
    arrays = {name: np.ones(100, name.partition("[")[0]) for name in wanted}
    for turn in range(max(wanted.values())):
        for name, times in wanted.items():
            if turn < times:
                kernel(arrays[name])
    assert {code.arguments[0]: code.calls for code in kernel.explain().codes} == wanted
    assert kernel.stats.calls == sum(wanted.values())
    assert "calls: 12" in str(kernel.explain())
