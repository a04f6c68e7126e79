"""Every function that takes a mask takes those that NumPy takes, does with them what NumPy does,
and refuses the others with an error that is caught as NumPy's is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.properties.operands import attempt, classes, difference

import fusewright as fw
import fusewright.numpy as fnp

SIZE = 700
MASKS: dict[str, Callable[[Any, Any], Any]] = {
    "truth": lambda np, x: x > 3,
    "floats": lambda np, x: x,
    "integers": lambda np, x: (x > 3).astype("i1"),
    "a number": lambda np, x: 2.0,
    "numpy's number": lambda np, x: np.float64(2),
    "numpy's truth": lambda np, x: np.bool_(1),
    "a sum": lambda np, x: x.sum(),
    "any": lambda np, x: (x > 3).any(),
    "a list of floats": lambda np, x: [1.0] * SIZE,
    "a list of truth": lambda np, x: [True, False] * (SIZE // 2),
    "a list of an array": lambda np, x: [x > 3],
    "a list too short": lambda np, x: [0.0, 1.0],
    "too short": lambda np, x: (x > 3)[:3],
    "nothing": lambda np, x: None,
    "text": lambda np, x: "x",
    "no text": lambda np, x: "",
}
"""By the namespace and the array they stand beside."""
FOREIGN: dict[str, Callable[[Any, Any], Any]] = {
    name: lambda _, x, kind=kind: np.ones(SIZE, kind)
    for name, kind in {"numpy's": "?", "numpy's floats": "f8", "objects": "O", "spans": "m8[s]",
                       "wide": "g"}.items()
}  # fmt: skip
CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "copyto": lambda np, x, m: np.copyto(x, 1.5, where=m),
    "copyto of an array": lambda np, x, m: np.copyto(x, x[::-1], where=m),
    "copyto of itself": lambda np, x, m: np.copyto(x, x, where=m),
    "add": lambda np, x, m: np.add(x, 1, out=x, where=m),
    "sum": lambda np, x, m: x.sum(where=m),
    "max": lambda np, x, m: x.max(where=m, initial=0),
    "any": lambda np, x, m: np.any(x, where=m),
    "reduce": lambda np, x, m: np.add.reduce(x, where=m),
    "reduce from": lambda np, x, m: np.maximum.reduce(x, where=m, initial=1),
    "putmask": lambda np, x, m: np.putmask(x, m, 1),
    "place": lambda np, x, m: np.place(x, m, [1]),
    "where": lambda np, x, m: np.where(m, x, 1),
    "select": lambda np, x, m: np.select([m], [x]),
    "compress": lambda np, x, m: np.compress(m, x),
    "extract": lambda np, x, m: np.extract(m, x),
    "x[m]": lambda np, x, m: x[m],
    "x[m] = 1": lambda np, x, m: x.__setitem__(m, 1),
    "nansum": lambda np, x, m: np.nansum(x, where=m),
    "piecewise": lambda np, x, m: np.piecewise(x, [m], [1, 2]),
    "choose": lambda np, x, m: np.choose(m, [x, x + 1]),
}


@pytest.mark.parametrize("small", [0, 512])
@pytest.mark.parametrize("name", CALLS)
def test_masks_are_numpys(name: str, small: int) -> None:
    for mask, maker in (MASKS | FOREIGN).items():
        left, found = [], []
        for namespace in (np, fnp):
            with fw.options(small=small):
                x = namespace.arange(float(SIZE))
                value, error = attempt(
                    lambda np=namespace, x=x, maker=maker: CALLS[name](np, x, maker(np, x))
                )
            left.append([x] if value is None else [x, value])
            found.append(classes(error))
        assert found[1] == found[0], mask
        assert not difference(left[1], left[0], 0), mask


@pytest.mark.parametrize("given", [{"initial": None}, {"where": None}, {"keepdims": None}])
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "logical_or"])
def test_none_is_an_argument_of_reductions(name: str, given: dict[str, None]) -> None:
    for shape in ((900,), (0, 900), (2, 500)):
        plain = np.arange(np.prod(shape)).reshape(shape) % 7
        want, refused = attempt(lambda plain=plain: getattr(np, name).reduce(plain, **given))
        ours = fw.asarray(plain)
        got, error = attempt(lambda ours=ours: getattr(fnp, name).reduce(ours, **given))
        assert classes(error) == classes(refused), shape
        assert refused or not difference(got, want, 0), shape
