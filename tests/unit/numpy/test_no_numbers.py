"""What is no index, no count and no number of the type: NumPy says what it means, or refuses."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.properties.operands import attempt

import fusewright as fw
import fusewright.numpy as fnp

WHOLE = np.arange(600)
INDICES: list[Any] = [
    None, True, np.True_, slice(2), ..., (1, 2), 3, -1, 700, 1.0, "a", [], [True, False],
    [[1, 2], [3, 4]], np.array([1.0]), np.array([1], "u1"), np.array(3), WHOLE % 2 == 0,
]  # fmt: skip
NUMBERS: list[Any] = [
    float("nan"), float("inf"), np.float64("nan"), np.float32("inf"), 0.5, -0.25, np.float64(2.7),
    1j, 3, np.int64(2),
]  # fmt: skip
STRANGE: list[Any] = [
    "a", b"x", None, np.timedelta64(1, "s"), np.datetime64("2001"), [None], [1, "a"],
]  # fmt: skip


def _copied(np: Any, x: Any, value: Any) -> Any:
    target = x.copy()
    np.copyto(target, value)
    return target


CALLS: dict[str, tuple[list[Any], Callable[[Any, Any, Any], Any]]] = {
    "take": (INDICES, lambda np, x, i: np.take(x, i)),
    "take, method": (INDICES, lambda np, x, i: x.take(i)),
    "take, clipped": (INDICES, lambda np, x, i: np.take(x, i, mode="clip")),
    "take, wrapped": (INDICES, lambda np, x, i: np.take(x, i, mode="wrap")),
    "pad": (NUMBERS, lambda np, x, v: np.pad(x, 2, constant_values=v)),
    "pad, two": (NUMBERS, lambda np, x, v: np.pad(x, 2, constant_values=(1, v))),
    "pad, floats": (NUMBERS, lambda np, x, v: np.pad(x * 0.5, 2, constant_values=v)),
    "tile": (NUMBERS, lambda np, x, v: np.tile(x, v)),
    "tile, several": (NUMBERS, lambda np, x, v: np.tile(x, (2, v))),
    "interp": (NUMBERS, lambda np, x, v: np.interp(v, x, x * 2.0)),
    "interp, places": (NUMBERS, lambda np, x, v: np.interp(x * v, x, x * 2.0)),
    "interp, values": (NUMBERS, lambda np, x, v: np.interp(3.5, x, x * v)),
    "copyto": (STRANGE + NUMBERS, _copied),
}


def _outcome(call: Callable[[Any, Any, Any], Any], np_: Any, x: Any, value: Any) -> Any:
    found, error = attempt(lambda: np.asarray(call(np_, x, value)))
    if error is not None:  # what a program may catch
        return {kind for kind in type(error).__mro__ if kind.__module__ == "builtins"}
    return found.dtype, found.shape, found.tolist()


@pytest.mark.parametrize("name", CALLS)
def test_numpy_decides(name: str) -> None:
    values, call = CALLS[name]
    for value in values:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = _outcome(call, np, WHOLE, value)
            for _ in range(2):
                mine = _outcome(call, fnp, fw.asarray(WHOLE), value)
                if isinstance(wanted, set):
                    assert isinstance(mine, set), value
                    assert wanted <= mine, value
                else:
                    assert repr(mine) == repr(wanted), value
