"""What stands around products in real programs, in a chain or at its end: other dtypes, writes in
place, rows in another order, steps of libraries.  The bits are those of the unfused program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.properties.random_chains import small_ones

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.frontends.arrays.linalg import matmul

GENERATOR = np.random.default_rng(0)
X, W, V = (
    GENERATOR.standard_normal(shape).astype(np.float32) for shape in ((100, 20), (20, 30), (30, 17))
)


def _in_place(x: Any, w: Any, v: Any) -> Any:
    h = matmul(x, w)
    h += 1
    h[h < 0] = 0
    h[:, 3] = 5
    h *= 2
    return matmul(h, v)


def _into(x: Any, w: Any, v: Any) -> Any:
    h = matmul(x, w)
    fnp.maximum(h, 0, out=h)
    result = matmul(h, v)
    result -= result.max(axis=1, keepdims=True)
    return result, h


def _normed(x: Any, w: Any, v: Any) -> Any:
    h = matmul(x, w)
    h = (h - h.mean(-1, keepdims=True)) / fnp.sqrt(h.var(-1, keepdims=True) + 1e-5)
    return matmul(h, v)


PROGRAMS: dict[str, tuple[Callable[..., Any], list[int]]] = {
    "complex": (
        lambda x, w, v: matmul(abs((matmul(x, w) * (1 + 2j)).astype(np.complex64)), v), [2],
    ),
    "float16": (
        lambda x, w, v: matmul((matmul(x, w).astype(np.float16) * 2).astype(np.float32), v), [2],
    ),
    "int8": (
        lambda x, w, v: matmul((matmul(x, w) * 10).astype(np.int8).astype(np.float32), v), [2],
    ),
    "truth values": (lambda x, w, v: matmul((matmul(x, w) > 0).astype(np.float32), v) > 1, [2]),
    "layer norm": (_normed, [2]),
    "sorted": (lambda x, w, v: matmul(fnp.sort(matmul(x, w), axis=-1), v), [1, 1]),
    "joined": (
        lambda x, w, v: matmul(fnp.concatenate([matmul(x, w)[:, :15]] * 2, axis=1), v), [1, 1],
    ),
    "an element of another row": (
        lambda x, w, v: matmul(matmul(x, w) * 3.5 + matmul(x, w)[0, 0], v), [1, 2],
    ),
    "its own transpose": (lambda x, w, v: matmul(matmul(x, w), matmul(x, w).T), [1, 2]),
    "rows in another order": (lambda x, w, v: matmul(matmul(x, w)[::-1] + 1, v), [1, 1]),
    "some rows": (lambda x, w, v: matmul(matmul(x, w)[10:60] + 1, v), [1, 1]),
    "rows by number": (
        lambda x, w, v: matmul(matmul(x, w)[fw.asarray(np.arange(100)[::-1])], v), [1, 1],
    ),
    "sums over all rows": (
        lambda x, w, v: matmul(x, w).sum(axis=0) + matmul(fnp.tanh(matmul(x, w)), v).sum(), [1, 2],
    ),
    "in place": (_in_place, [1, 1]),
    "out": (_into, [2]),
}  # fmt: skip
"""Programs, and the products of each segment that runs fused."""
WAYS: tuple[dict[str, Any], ...] = (
    {"fuse": False}, {"interpret": False}, {"interpret": False, "threads": 2, "features": "avx2"},
    {"verify": True},
)  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_bits_do_not_depend_on_fusing(name: str) -> None:
    program, wanted = PROGRAMS[name]
    results, fused = [], []
    with small_ones() as ran:
        for way in WAYS:
            ran.clear()
            with fw.options(**way):
                found = program(*map(fw.asarray, (X, W, V)))
                found = found if isinstance(found, tuple) else (found,)
                results.append([np.asarray(each).tobytes() for each in found])
            fused.append([len(segment.products) for segment in ran])
    assert all(result == results[0] for result in results)
    assert fused[0] == []
    assert fused[1] == wanted
