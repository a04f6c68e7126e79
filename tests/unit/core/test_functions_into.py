"""Functions that are no ufuncs write into `out` what NumPy writes there, learnt or not."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests import evaluators
from tests.properties.operands import attempt

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.base import source
from fusewright.runtime import blocks, buffers, demand

ROWS, COLUMNS = 40, 50
CALLS: dict[str, Callable[..., Any]] = {
    "clip": lambda np, a, o: np.clip(a, 0.2, 0.7, out=o["all"]),
    "clip by place": lambda np, a, o: np.clip(a, 0.2, 0.7, o["all"]),
    "method clip": lambda np, a, o: a.clip(0.2, 0.7, out=o["all"]),
    "clip of itself": lambda np, a, o: np.clip(o["all"], 0.3, 0.6, out=o["all"]),
    "clip where": lambda np, a, o: np.clip(a, 0.2, 0.7, out=o["all"], where=a > 0.5),
    "round": lambda np, a, o: np.round(a, 1, out=o["all"]),
    "cumsum": lambda np, a, o: np.cumsum(a, axis=1, out=o["all"]),
    "cumsum of itself": lambda np, a, o: np.cumsum(o["all"], axis=0, out=o["all"]),
    "sum": lambda np, a, o: np.sum(a, axis=0, out=o["row"]),
    "sum into single": lambda np, a, o: np.sum(a, axis=0, out=o["single"]),
    "sum of integers": lambda np, a, o: np.sum((a * 9).astype("i4"), axis=0, out=o["row"]),
    "sum where": lambda np, a, o: np.sum(a, axis=0, out=o["row"], where=a > 0.5),
    "sum of halves": lambda np, a, o: (a * 900).astype("f2").mean(axis=1, out=o["halves"]),
    "mean into a row": lambda np, a, o: a.mean(axis=0, out=o["all"][3]),
    "max into a column": lambda np, a, o: a.max(axis=1, out=o["all"][:, 2]),
    "std": lambda np, a, o: a.std(axis=0, out=o["row"]),
    "any": lambda np, a, o: (a > 0.99).any(axis=1, out=o["truth"]),
    "argmax": lambda np, a, o: a.argmax(axis=1, out=o["places"]),
    "take": lambda np, a, o: np.take(a, [3, 1, 2] * 10 + [0] * 10, axis=0, out=o["all"]),
    "take of itself": lambda np, a, o: np.take(
        o["all"], list(range(ROWS))[::-1], axis=0, out=o["all"], mode="clip"
    ),
    "concatenate": lambda np, a, o: np.concatenate((a[20:], a[:20]), out=o["all"]),
    "concatenate its parts": lambda np, a, o: np.concatenate(
        (o["all"][20:], o["all"][:20]), out=o["all"]
    ),
    "stack": lambda np, a, o: np.stack((a, a), out=o["two"]),
    "dot": lambda np, a, o: np.dot(a.round(), np.ones(COLUMNS), out=o["column"]),
    "median": lambda np, a, o: np.median(a, axis=0, out=o["row"]),
    "and a type": lambda np, a, o: np.concatenate((a[20:], a[:20]), out=o["all"], dtype="f8"),
    "wrong shape": lambda np, a, o: np.cumsum(a, axis=1, out=o["row"]),
    "wrong type": lambda np, a, o: np.cumsum(a, axis=1, out=o["integers"]),
    "no output": lambda np, a, o: np.sort(a, out=o["all"]),
    "twice": lambda np, a, o: np.clip(a, 0.2, 0.7, o["all"], out=o["all"]),
    "read-only": lambda np, a, o: np.clip(a, 0.2, 0.7, out=o["locked"]),
    "reduce": lambda np, a, o: np.add.reduce(a, axis=0, out=o["row"]),
    "accumulate": lambda np, a, o: np.maximum.accumulate(a, axis=0, out=o["all"]),
    "outer": lambda np, a, o: np.multiply.outer(a[:, 0], a[0], out=o["all"]),
}


def _outputs(module: Any, start: Any) -> dict[str, Any]:
    made = {"all": start * 1.0, "row": start[0] * 1.0, "column": start[:, 0] * 1.0}
    made |= {"two": module.stack((start, start)), "single": start[0].astype("f4")}
    made |= {"halves": start[:, 0].astype("f2"), "truth": start[:, 0] > 0.5}
    made |= {"places": start[:, 0].astype("i8"), "integers": start.astype("i8")}
    made["locked"] = start * 1.0
    made["locked"].flags.writeable = False
    return made


def _outcome(call: Callable[..., Any], module: Any, start: Any, given: list[Any]) -> list[Any]:
    """What each of several calls gives and leaves, and how it ends."""
    outputs, found = _outputs(module, start), list[Any]()
    made = np.asarray if module is np else fw.asarray
    for values in given:
        result, error = attempt(lambda a=values: call(module, made(a), outputs))
        found.append(type(error).__mro__[-4:] if error else np.array(result))
        found += [np.array(outputs[name]) for name in outputs]
    return found


@pytest.mark.parametrize("small", (0, 512))
@pytest.mark.parametrize("name", CALLS)
def test_functions_write_as_numpys_do(name: str, small: int) -> None:
    rng = np.random.default_rng(1)
    start, *given = rng.random((6, ROWS, COLUMNS))
    want = _outcome(CALLS[name], np, start, given)
    with fw.options(small=small, interpret=True):
        got = _outcome(CALLS[name], fnp, fw.asarray(start, copy=True), given)
    for one, other in zip(want, got, strict=True):
        if isinstance(one, tuple):
            assert one == other
        else:
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=1e-12 if one.dtype.itemsize > 4 else 2e-3)


def _particles_leave() -> Any:
    x = fw.asarray(np.linspace(-1, 2, 120_000).reshape(3, -1), copy=True)

    def step() -> None:
        low, high = x[0] < 0, x[0] > 1  # `high` waits to read what is written
        x[0, low] = -x[0, low]
        x[0, high] *= 0.5

    return step


def _with_numpys(call: Callable[[Any, Any], Any]) -> Any:
    """Of an array of ours and one of NumPy's of the same type, no call without `out` before."""
    x, plain = fw.asarray(np.zeros(2000), copy=True), np.linspace(0, 1, 2000)
    return lambda: call(x, plain)


def _into(call: Callable[[Any, Any], Any]) -> Any:
    a, out = (fw.asarray(np.linspace(0, 1, 2000), copy=True) for _ in range(2))
    return lambda: call(a, out)


BY_THE_CORE: dict[str, Callable[[], Any]] = {
    "masks beside numbers": _particles_leave,
    "NumPy's operand": lambda: _with_numpys(lambda x, plain: fnp.fmax(x, plain, x)),
    "flip": lambda: _into(lambda a, out: fnp.flip(a)),
    "flip of an axis": lambda: _into(lambda a, out: fnp.flip(a, 0)),
    "clip": lambda: _into(lambda a, out: a.clip(0.2, 0.7, out=out)),
    "cumsum": lambda: _into(lambda a, out: fnp.cumsum(a, out=out)),
    "method": lambda: _into(lambda a, out: a.cumprod(out=out)),
}


POOL = {module.__file__ for module in (blocks, buffers, demand)}


@pytest.mark.skipif(native is None, reason="there is no native core")
@pytest.mark.parametrize("name", BY_THE_CORE)
def test_the_core_does_it_alone(name: str) -> None:
    """After a few calls none of our Python runs but the pool's, where the core's shelves are full
    of what tests before have left.
    """
    called: set[str] = set()

    def notice(frame: Any, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(source.PACKAGE) and file not in POOL:
            called.add(frame.f_code.co_qualname)

    with fw.options(small=512, interpret=True):
        evaluators.begin()
        step = BY_THE_CORE[name]()
        for _ in range(20):
            step()
        for _ in range(8):  # a finaliser, or what was compiled beside, may come in one of them
            called.clear()
            sys.setprofile(notice)
            try:
                step()
            finally:
                sys.setprofile(None)
            if not called:
                break
            time.sleep(0.05)  # on a busy machine what is compiled beside takes its time
    assert not called
