"""Small programs whose slices tests look at: as nodes, as stages, as plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import fusewright as fw
import fusewright.numpy as np
from fusewright.base.options import current
from fusewright.ir import graph
from fusewright.ir.nest import Program
from fusewright.plan.plan import Plan
from fusewright.runtime.trace import Slice, take
from fusewright.targets.cpu.build import decide


def array(*shape: int, dtype: str = "float64") -> Any:
    return fw.asarray(numpy.random.default_rng(0).random(shape).astype(dtype))


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def stencil(u: Any) -> Any:
    v = u.copy()
    v[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    return v


def patched(a: Any) -> Any:
    v = a + 1
    v[::3] = 2
    return v


PROGRAMS: dict[str, Callable[[], Any]] = {
    "chain": lambda: np.sqrt(array(10) * 2.5 + 1) - np.inf,
    "softmax": lambda: softmax(array(20, 30)),
    "stencil": lambda: stencil(stencil(array(20, 30))),
    "scan": lambda: np.cumsum(array(20, 30), axis=1) * np.float32(2),
    "comparison": lambda: np.where(np.isnan(array(9)) | (array(9) > 0.5), array(9), np.nan),
    "taken": lambda: array(50)[np.argsort(array(50))] * 2,
    "reshaped": lambda: array(6, 4).reshape(4, 6).T.sum(axis=0),
    "library": lambda: (array(5, 5) @ array(5, 5)).max(),
    "complex": lambda: (array(5) * 1j + (2 - 3j)).sum(),
    "patched": lambda: patched(array(20)),
    "integers": lambda: (np.arange(20) // 3).astype("uint8") << 1,
    "strided": lambda: array(30, 40)[::2, ::-3] + 1,
}


def decided(value: Any) -> tuple[Slice, Program, Plan]:
    """The slice of a pending value, its stages and its plan."""
    slice_ = take([value._node])
    return slice_, *decide(slice_, current())


def leaves(slice_: Slice) -> set[int]:
    return {slot for slot, node in enumerate(slice_.order) if node.kind == graph.LEAF}
