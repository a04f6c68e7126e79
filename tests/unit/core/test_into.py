"""`out=` and `where=` of element-wise functions: written as NumPy writes it, learnt or not."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.frontends.arrays import reductions, ufuncs

Base = Callable[[Any], Any]
"""Of a random array: what is written to."""
BASES: dict[str, Base] = {
    "an array": lambda x: x,
    "rows": lambda x: x[1:9],
    "a box": lambda x: x[2:10, 3:],
    "every other": lambda x: x[::2],
    "from the end": lambda x: x[::-1],
    "turned": lambda x: x.T,
    "a column": lambda x: x[:, 4],
    "a reshape": lambda x: x.reshape(-1),
}
CALLS: dict[str, Callable[..., Any]] = {
    "add": lambda np, a, b, out, m: np.add(a, b, out=out),
    "by place": lambda np, a, b, out, m: np.subtract(a, b, out),
    "in a tuple": lambda np, a, b, out, m: np.multiply(a, b, out=(out,)),
    "a number": lambda np, a, b, out, m: np.multiply(a, 0.5, out=out),
    "a number before": lambda np, a, b, out, m: np.subtract(2, a, out),
    "one operand": lambda np, a, b, out, m: np.sqrt(a, out=out),
    "itself": lambda np, a, b, out, m: np.add(out, a, out=out),
    "one place over": lambda np, a, b, out, m: np.add(out[:-1], a[1:], out=out[1:]),
    "backwards": lambda np, a, b, out, m: np.maximum(out[::-1], a, out=out),
    "masked": lambda np, a, b, out, m: np.divide(a, b, out=out, where=m),
    "masked by itself": lambda np, a, b, out, m: np.negative(out, out=out, where=out > 0.5),
    "where everything": lambda np, a, b, out, m: np.floor(a * 9, where=True, out=out),
    "masked by place": lambda np, a, b, out, m: np.add(a, b, out, where=m),
    "a broadcast": lambda np, a, b, out, m: np.add(a, b[-1], out=out),
    "a row's mask": lambda np, a, b, out, m: np.add(a, b, out=out, where=m[-1]),
    "too many": lambda np, a, b, out, m: np.add(a, b, out, out=out),
    "wider": lambda np, a, b, out, m: np.add(a, b, out=out[0]),
    "into integers": lambda np, a, b, out, m: np.add(a, b, out=out.astype(int)),
    "into single": lambda np, a, b, out, m: np.add(a, b, out=out.astype(np.float32)),
    "comparison": lambda np, a, b, out, m: np.less(a, b, out=out),
    "integers as a mask": lambda np, a, b, out, m: np.add(a, b, out=out, where=m.astype(int)),
}  # fmt: skip


def outcome(call: Callable[..., Any], base: Base, module: Any, x: Any, given: Any) -> list[Any]:
    """Values after each of some calls, and what ended them: twice to learn, then as learnt."""
    out, found = base(x), []
    for a, b in given:
        a, b = (module.asarray(v) for v in (a, b))
        try:
            made = call(module, a, b, out, a > b)
        except (TypeError, ValueError) as error:
            found.append(next(kind for kind in (TypeError, ValueError) if isinstance(error, kind)))
        else:
            same = made is out or made.shape != out.shape or made.dtype != out.dtype
            found += [same or np.array_equal(np.asarray(made), np.asarray(out)), np.array(made)]
        found.append(np.array(x))
    return found


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("base", BASES)
def test_writes_as_numpy_does(base: str, name: str) -> None:
    rng = np.random.default_rng(3)
    start = rng.random((12, 12))
    shape = BASES[base](start).shape
    given = [(rng.random(shape), rng.random(shape)) for _ in range(4)]
    want = outcome(CALLS[name], BASES[base], np, start.copy(), given)
    x = fw.asarray(start, copy=True)
    before = x.copy()
    got = outcome(CALLS[name], BASES[base], fnp, x, given)
    assert len(want) == len(got)
    for one, other in zip(want, got, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(np.asarray(before), start)


@pytest.mark.parametrize("locked", (False, True))
def test_memory_of_others_is_written_at_once(locked: bool) -> None:
    a = fw.asarray(np.arange(600.0))
    theirs = np.zeros(600)
    shared = fw.asarray(theirs, copy=False)
    for turn in range(4):
        if locked:
            shared.flags.writeable = False
            with pytest.raises(ValueError, match="read-only"):
                fnp.add(a, turn, out=shared)
            assert not theirs.any()
        else:
            assert fnp.add(a, turn, out=shared) is shared
            np.testing.assert_array_equal(theirs, np.arange(600.0) + turn)


@pytest.mark.skipif(native is None, reason="the core writes")
def test_the_core_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    a, w = fnp.ones((40, 40)), fnp.zeros((40, 40))
    fnp.add(a, 1.0, out=w)  # the types are learnt
    fnp.add(a, a, out=w)
    monkeypatch.setattr(reductions, "into", None)
    monkeypatch.setattr(ufuncs, "apply", None)
    for out in (w, w[3:], w[:, 2]):
        like = a[tuple(map(slice, out.shape))] if out.ndim == 2 else a[0]
        assert fnp.add(like, 1.0, out=out) is out
        assert fnp.add(like, like, out, where=like > 0) is out
    np.testing.assert_array_equal(np.asarray(w), np.full((40, 40), 2.0))


def test_views_see_what_is_written() -> None:
    w = fnp.zeros((40, 40))
    row, a = w[3], fnp.ones((40, 40))
    for turn, where in itertools.product(range(3), (True, a > 0)):
        fnp.multiply(a, float(turn), out=w, where=where)
        assert row[5] == turn
