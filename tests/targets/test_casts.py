"""Conversions between all pairs of element types, in every form a program has for them, give the
same bits however they run; they are NumPy's but for floats as uint32, where NumPy's own depend on
the place in the array.
"""

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

TYPES = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16")
REFUSALS = (TypeError, OverflowError, ValueError)
EXTREMES = np.array([
    np.nan, np.inf, -np.inf, -1.5, 3e9, -3e9, 5e9, 1e19, -1e19, 1e25, 255.7, -0.0, 2.0**31, 2.0**32,
    2.0**63, 2.0**64, 65536.0, 7e4, 300.0, -129.0, 7.0,
])  # fmt: skip
MODES: dict[str, dict[str, Any]] = {
    "default": {"small": 512, "interpret": True},
    "unfused": {"small": 512, "interpret": True, "fuse": False, "threads": 1},
    "compiled": {"small": 512, "interpret": False},
    "all recorded": {"small": 0, "interpret": True},
}
FORMS: dict[str, Callable[[Any, Any, str], Any]] = {
    "astype": lambda m, x, to: x.astype(to),
    "of what is pending": lambda m, x, to: m.where(x == x, x, x).astype(to),
    "array": lambda m, x, to: m.array(x, dtype=to),
    "whole": lambda m, x, to: _written(m, x, to, ..., x),
    "part": lambda m, x, to: _written(m, x, to, slice(1, None), x[1:]),
    "masked": lambda m, x, to: _written(m, x, to, m.arange(x.size) % 2 == 0, x[::2]),
    "number": lambda m, x, to: _written(m, x, to, 3, x[1]),
    "out": lambda m, x, to: m.positive(x, out=m.zeros(x.size, to), casting="unsafe"),
    "full": lambda m, x, to: m.full(x.size, x[2], dtype=to),
}


def _written(module: Any, x: Any, to: str, key: Any, value: Any) -> Any:
    target = module.zeros(x.size, to)
    target[key] = value
    return target


def _bits(form: str, module: Any, x: Any, to: str) -> str | bytes:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return np.array(FORMS[form](module, x, to)).tobytes()
        except REFUSALS as error:
            return next(kind.__name__ for kind in REFUSALS if isinstance(error, kind))


@pytest.mark.parametrize("source", TYPES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [600, 20_000])
def test_conversions_have_one_meaning(source: str, form: str, count: int) -> None:
    with np.errstate(all="ignore"), contextlib.suppress(RuntimeWarning):
        plain = np.resize(EXTREMES, count).astype(source)
    for target in TYPES:
        found = {}
        for mode, settings in MODES.items():
            if mode == "compiled" and count < 20_000:
                continue
            with fw.options(**settings):
                found[mode] = _bits(form, fnp, fw.asarray(plain.copy()), target)
        others = [mode for mode in found if found[mode] != found["default"]]
        assert others == [], (target, others)
        if target == "u4" and plain.dtype.kind in "fc" and source != "f2":
            continue
        expected = _bits(form, np, plain, target)
        assert found["default"] == expected, target


WRITES = (
    "v[0] = s", "v[0:2] = s", "v[:] = s", "v[[0, 1]] = s", "v[v > 5] = s", "v.fill(s)",
    "v.T[0] = s", "v.reshape(-1)[0] = s", "v.put([0], s)", "m.put(v, [0], s)",
    "m.place(v, v > 5, s)",
    "m.putmask(v, v > 5, s)", "m.copyto(v, s)", "m.copyto(v, s, casting='unsafe')", "v += s",
    "v = m.full_like(v, s)", "v = m.full(v.size, s, v.dtype)", "v.flat[0] = s", "v.flat = s",
    "v = m.array([s, 1], v.dtype)", "v = m.asarray(s, v.dtype)", "v = s.astype(v.dtype)",
    "v = m.insert(v, 0, s)", "v = m.append(v, s)", "v[...] = [s] * v.size", "v[0:1] = [s]",
    "m.put_along_axis(v, m.array([0]), s, 0)", "v = m.where(v > 5, s, v)",
)  # fmt: skip
NUMBERS = {
    "sum": lambda m, v: v.sum(),
    "known": lambda m, v: (v.sum(), float(v.sum()))[0],
    "numpy's": lambda m, v: np.int64(300),
    "element": lambda m, v: (v.astype("i8") * 3)[1],
    "float": lambda m, v: v.sum() * 1.0,
    "nan": lambda m, v: v.mean() * np.nan,
    "large": lambda m, v: (v * 1e25).max(),
}


def _after(statement: str, module: Any, number: str, count: int, kind: str) -> str | bytes:
    names = {"m": module, "v": module.array(np.full(count, 100, kind))}
    names["s"] = NUMBERS[number](module, names["v"])
    try:
        exec(statement, names)
    except (OverflowError, TypeError, ValueError) as error:
        return next(
            k.__name__ for k in (OverflowError, TypeError, ValueError) if isinstance(error, k)
        )
    return np.asarray(names["v"]).tobytes()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "i4", "u4", "u8"])
def test_numbers_out_of_range_are_refused_or_wrap_as_numpys(
    number: str, mode: str, kind: str
) -> None:
    differing = []
    for count in (3, 513, 5000):
        for statement in WRITES:
            if kind == "u4" and number == "large":
                continue  # see above
            with fw.options(**MODES[mode]):
                found = _after(statement, fnp, number, count, kind)
            if found != _after(statement, np, number, count, kind):
                differing.append((statement, count, found if isinstance(found, str) else ""))
    assert differing == []
