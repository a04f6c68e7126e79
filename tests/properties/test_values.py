"""Values of every kind, written into or combined with arrays of ours by every function that takes
one, are cast or refused as NumPy does, alone and in lists beside arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.properties.operands import attempt, classes, difference

import fusewright as fw
import fusewright.numpy as fnp

SIZE = 900
VALUES: dict[str, Callable[[Any], Any]] = {
    "1.5": lambda np: 1.5,
    "-1": lambda np: -1,
    "3000": lambda np: 3000,
    "1j": lambda np: 1j,
    "nan": lambda np: np.nan,
    "True": lambda np: True,
    "None": lambda np: None,
    "text": lambda np: "x",
    "float64": lambda np: np.float64(1.5),
    "int64": lambda np: np.int64(3000),
    "no dims": lambda np: np.array(1.5),
    "integer without dims": lambda np: np.array(2),
    "complex without dims": lambda np: np.array(1j),
    "object": lambda np: np.array(2, dtype=object),
    "objects": lambda np: (np.arange(SIZE) % 90 + 1).astype(object),
    "a sum": lambda np: (np.arange(900.0) / 2).max(),
    "one": lambda np: np.array([1.5]),
    "a list": lambda np: [1.5],
    "an array": lambda np: np.arange(float(SIZE)),
}
CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "putmask": lambda np, x, v: np.putmask(x, x > 2, v),
    "place": lambda np, x, v: np.place(x, x > 2, v),
    "put": lambda np, x, v: np.put(x, [1, 2], v),
    "copyto": lambda np, x, v: np.copyto(x, v),
    "copyto where": lambda np, x, v: np.copyto(x, v, where=x > 2),
    "fill": lambda np, x, v: x.fill(v),
    "x[mask] = ": lambda np, x, v: x.__setitem__(x > 2, v),
    "x[2:9] = ": lambda np, x, v: x.__setitem__(slice(2, 9), v),
    "x[3] = ": lambda np, x, v: x.__setitem__(3, v),
    "x[[1, 2]] = ": lambda np, x, v: x.__setitem__([1, 2], v),
    "x.flat[1:5] = ": lambda np, x, v: x.flat.__setitem__(slice(1, 5), v),
    "x.real = ": lambda np, x, v: setattr(x, "real", v),
    "fill_diagonal": lambda np, x, v: np.fill_diagonal(x.reshape(30, 30), v),
    "put_along_axis": lambda np, x, v: np.put_along_axis(x, np.array([1, 2]), v, 0),
    "+=": lambda np, x, v: x.__iadd__(v),
    "*=": lambda np, x, v: x.__imul__(v),
    "add.at": lambda np, x, v: np.add.at(x, [1, 1], v),
    "add out": lambda np, x, v: np.add(x, v, out=x, where=x > 2),
    "full_like": lambda np, x, v: np.full_like(x, v),
    "where": lambda np, x, v: np.where(x > 2, x, v),
    "clip": lambda np, x, v: np.clip(x, v, None),
    "append": lambda np, x, v: np.append(x, v),
    "insert": lambda np, x, v: np.insert(x, 1, v),
    "pad": lambda np, x, v: np.pad(x, 1, constant_values=v),
    "select": lambda np, x, v: np.select([x > 2], [v], x),
    "choose": lambda np, x, v: np.choose(x > 2, [v, x]),
    "ediff1d": lambda np, x, v: np.ediff1d(x, to_end=v),
    "diff": lambda np, x, v: np.diff(x, prepend=v),
    "divmod": lambda np, x, v: divmod(x, v),
    "divmod of": lambda np, x, v: divmod(v, x + 1),
    "isin": lambda np, x, v: np.isin(x, v),
}


def computed(value: Any) -> Any:
    """What casts complex numbers warns when it is computed."""
    if value is not None:
        np.asarray(value)
    return value


@pytest.mark.parametrize("name", CALLS)
def test_values_are_cast_as_numpys(name: str) -> None:
    for dtype in ("u1", "i8", "?", "f4", "f8", "c16"):
        for value, maker in VALUES.items():
            left, found = [], []
            for namespace in (np, fnp):
                x = namespace.arange(SIZE).astype(dtype)
                result, error = attempt(
                    lambda np=namespace, x=x, maker=maker: computed(CALLS[name](np, x, maker(np)))
                )
                attempt(lambda x=x: computed(x))
                left.append([x] if result is None else [x, result])
                found.append(classes(error))
            assert found[1] == found[0], f"{dtype}, {value}"
            assert not difference(left[1], left[0], 0), f"{dtype}, {value}"


LISTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda np, x, y: np.add([x, y], 1),
    "multiply": lambda np, x, y: np.multiply(2, (y, x)),
    "sqrt": lambda np, x, y: np.sqrt([x, y]),
    "add.reduce": lambda np, x, y: np.add.reduce((x, y)),
    "maximum.reduce": lambda np, x, y: np.maximum.reduce([x, y]),
    "logical_and.reduce": lambda np, x, y: np.logical_and.reduce((x, y)),
    "hypot.reduce": lambda np, x, y: np.hypot.reduce([x, y]),
    "add.accumulate": lambda np, x, y: np.add.accumulate([x, y]),
    "add.outer": lambda np, x, y: np.add.outer([x, y], 2),
    "add.reduceat": lambda np, x, y: np.add.reduceat([x, y], [0, 1]),
    "sum": lambda np, x, y: np.sum([x, y], axis=0),
    "sort": lambda np, x, y: np.sort([x, y], 0),
    "stack": lambda np, x, y: np.stack([x, y]),
    "where": lambda np, x, y: np.where([x, y], 1, 2),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_hold_what_has_no_compiled_form(name: str) -> None:
    numbers = np.arange(SIZE)
    for dtype in ("g", "G", "O", "S3", "U", "m8[s]", "f8", "V3"):
        beside = numbers.astype(dtype)
        want, refused = attempt(lambda: LISTS[name](np, numbers / 2, beside))  # noqa: B023
        ours = fw.asarray(numbers / 2)
        got, error = attempt(lambda: LISTS[name](fnp, ours, beside))  # noqa: B023
        assert classes(error) == classes(refused), dtype
        exact = not refused and np.asarray(want).dtype.char in "?bBhHiIlLfdFDO"
        assert not exact or not difference(got, want, 4), dtype
