"""Masks and values of other shapes than the array: the same results and the same classes of errors
as NumPy's.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

SHAPES: tuple[tuple[int, ...], ...] = ((1,), (6,), (2, 3), (3, 2), (0,), ())
VALUES: tuple[Any, ...] = (7, [1, 2], np.arange(3.0))
ERRORS = (IndexError, TypeError, OverflowError, ValueError)


def _into(write: Callable[[Any, Any, Any, Any], Any]) -> Callable[..., Any]:
    def written(m: Any, array: Any, mask: Any, value: Any) -> Any:
        write(m, array, mask, value)
        return array

    return written


FORMS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "putmask": _into(lambda m, a, k, v: m.putmask(a, k, v)),
    "place": _into(lambda m, a, k, v: m.place(a, k, v)),
    "copyto": _into(lambda m, a, k, v: m.copyto(a, v, where=k)),
    "setitem": _into(lambda m, a, k, v: a.__setitem__(k, v)),
    "put": _into(lambda m, a, k, v: m.put(a, k, v)),
    "in place": _into(lambda m, a, k, v: a.__iadd__(v)),
    "masked in place": _into(lambda m, a, k, v: a.__setitem__(k, a[k].__isub__(v))),
    "out": _into(lambda m, a, k, v: m.add(a, v, out=a, where=k)),
    "getitem": lambda m, a, k, v: a[k],
    "extract": lambda m, a, k, v: m.extract(k, a),
    "compress": lambda m, a, k, v: m.compress(k, a),
    "where": lambda m, a, k, v: m.where(k, a, v),
    "choose": lambda m, a, k, v: m.choose(k, [a, v]),
    "select": lambda m, a, k, v: m.select([k], [a], v),
    "piecewise": lambda m, a, k, v: m.piecewise(a, [k], [v]),
    "sum": lambda m, a, k, v: m.sum(a, where=k),
}


def _outcome(form: str, m: Any, array: Any, mask: Any, value: Any) -> Any:
    try:
        value = m.array(value) if isinstance(value, np.ndarray) else value
        result = np.asarray(FORMS[form](m, m.array(array), m.array(mask), value))
    except ERRORS as error:
        return next(kind for kind in ERRORS if isinstance(error, kind))
    return str(result.dtype), result.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["f8", "i4"])
def test_masks_of_other_shapes(form: str, kind: str) -> None:
    differing = []
    for shape, other, value in itertools.product(SHAPES, SHAPES, VALUES):
        array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(kind)
        mask = (np.arange(np.prod(other, dtype=int)) % 2 == 0).reshape(other)
        with fw.options(small=0, interpret=True):
            found = _outcome(form, fnp, array, mask, value)
        if found != _outcome(form, np, array, mask, value):
            differing.append((shape, other, value))
    assert differing == []
