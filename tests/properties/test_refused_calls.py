"""A call that is refused holds nothing: its operands die when the program lets go of them and of
the error, without the garbage collector.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

SIZE = 5000
SHORT = np.ones(600)
REFUSED: dict[str, Callable[[Any], Any]] = {
    "x + short": lambda x: x + SHORT,
    "x += 1j": lambda x: x.__iadd__(1j),
    "x @ short": lambda x: x @ SHORT,
    "x & 1": lambda x: x & 1,
    "x + object()": lambda x: x + object(),
    "int": lambda x: int(x),
    "bool": lambda x: bool(x),
    "x[k]": lambda x: x[2 * SIZE],
    "x[k] = ": lambda x: x.__setitem__(2 * SIZE, 1),
    "x[:3] = short": lambda x: x.__setitem__(slice(0, 3), SHORT),
    "add": lambda x: fnp.add(x, SHORT),
    "add out": lambda x: fnp.add(x, 1, out=SHORT),
    "add unknown": lambda x: fnp.add(x, 1, nope=3),
    "add.at": lambda x: fnp.add.at(x, [2 * SIZE], 1),
    "add.reduce": lambda x: fnp.add.reduce(x, axis=3),
    "sum": lambda x: fnp.sum(x, axis=3),
    "mean": lambda x: fnp.mean(x, axis="x"),
    "std": lambda x: x.std(ddof="x"),
    "cumsum": lambda x: x.cumsum(axis=4),
    "argmax": lambda x: x.argmax(axis=2),
    "median": lambda x: fnp.median(x, axis=2),
    "reshape": lambda x: x.reshape(7, 7),
    "transpose": lambda x: x.transpose(3, 1),
    "astype": lambda x: x.astype("nope"),
    "item": lambda x: x.item(),
    "sort": lambda x: x.sort(axis=3),
    "take": lambda x: fnp.take(x, 2 * SIZE),
    "where": lambda x: fnp.where(x > 1, x, SHORT),
    "copyto": lambda x: fnp.copyto(x, SHORT),
    "concatenate": lambda x: fnp.concatenate((x, SHORT[None])),
    "stack": lambda x: fnp.stack((x, x[1:])),
    "split": lambda x: fnp.split(x, 7),
    "roll": lambda x: fnp.roll(x, 1, axis=5),
    "tile": lambda x: fnp.tile(x, "x"),
    "einsum": lambda x: fnp.einsum("ij", x),
    "dot": lambda x: x.dot(SHORT),
    "fft": lambda x: fnp.fft.fft(x, axis=3),
    "solve": lambda x: fnp.linalg.solve(x, x),
}


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_call_holds_nothing(name: str) -> None:
    for _ in range(3):  # what is known of earlier calls decides the way
        array = fw.asarray(np.arange(float(SIZE))) * 2
        array.tolist()
        alive = weakref.ref(array)
        try:
            REFUSED[name](array)
        except (TypeError, ValueError, IndexError, np.linalg.LinAlgError):
            pass
        else:
            raise AssertionError("it is not refused")
        del array
        assert alive() is None
