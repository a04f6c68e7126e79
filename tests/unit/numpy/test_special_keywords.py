"""`fusewright.numpy.special` takes the keywords of ufuncs; they mean what they mean to `exp`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.numpy import special

FUNCTIONS = {"erf": math.erf, "erfc": math.erfc, "gamma": math.gamma, "gammaln": math.lgamma}
SIZES = (5, 4000)


def values(size: int) -> Any:
    return np.linspace(0.25, 4.0, size)


def expected(name: str, x: Any) -> Any:
    return np.vectorize(FUNCTIONS[name], otypes=[float])(x)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("form", ["named", "placed", "tuple"])
def test_out(name: str, size: int, form: str) -> None:
    function, x = getattr(special, name), values(size)
    for make in (np.empty, lambda n: fw.asarray(np.zeros(n))):
        out: Any = make(size)
        given = {"named": {"out": out}, "tuple": {"out": (out,)}, "placed": {}}[form]
        found = function(x, *([out] if form == "placed" else []), **given)
        assert found is out
        np.testing.assert_allclose(np.asarray(out), expected(name, x), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("size", SIZES)
def test_out_of_another_type_and_of_views(size: int) -> None:
    x = values(size)
    narrow = np.zeros(size, np.float32)
    assert special.erf(x, out=narrow) is narrow
    np.testing.assert_array_equal(narrow, np.asarray(special.erf(x)).astype(np.float32))
    whole = fw.asarray(np.zeros((2, size)))
    special.gamma(fw.asarray(x), out=whole[1])
    np.testing.assert_allclose(np.asarray(whole[1]), expected("gamma", x), rtol=1e-13)
    assert not np.asarray(whole[0]).any()
    spread = special.erf(x, out=np.empty((3, size)))
    np.testing.assert_allclose(spread, np.broadcast_to(expected("erf", x), (3, size)), rtol=1e-13)


@pytest.mark.parametrize("size", SIZES)
def test_where(size: int) -> None:
    x, mask = values(size), np.arange(size) % 2 == 0
    out = np.full(size, -7.0)
    special.erf(x, out=out, where=mask)
    np.testing.assert_allclose(out, np.where(mask, expected("erf", x), -7.0), rtol=1e-13)
    ours = fw.asarray(np.full(size, -7.0))
    special.erf(fw.asarray(x), out=ours, where=fw.asarray(mask))
    np.testing.assert_allclose(np.asarray(ours), out, rtol=1e-15)
    some = special.erf(x, where=mask)
    np.testing.assert_allclose(np.asarray(some)[mask], out[mask], rtol=1e-13)


TYPES = [
    ({}, "int8"), ({}, "int64"), ({}, "float32"), ({}, "float16"), ({}, "bool"),
    ({"dtype": "float32"}, "float32"), ({"dtype": np.float64}, "float32"),
    ({"dtype": "float32"}, "float64"), ({"dtype": "float32", "casting": "same_kind"}, "float64"),
    ({"signature": "f->f"}, "float32"), ({"signature": "d->d"}, "int32"),
    ({"order": "F"}, "float64"), ({"order": "A"}, "float64"), ({"subok": False}, "float64"),
]  # fmt: skip


@pytest.mark.parametrize(("named", "dtype"), TYPES)
@pytest.mark.parametrize("shape", [(6,), (40, 50), ()])
def test_types_and_layouts_are_those_of_exp(named: Any, dtype: str, shape: tuple[int]) -> None:
    x = np.ones(shape, dtype)
    try:
        wanted = np.exp(x, **named)
    except TypeError:
        with pytest.raises(TypeError, match="erf"):
            special.erf(x, **named)
        return
    found = special.erf(x, **named)
    assert found.dtype == wanted.dtype
    assert np.shape(found) == np.shape(wanted)
    if shape == (40, 50):
        assert np.asarray(found).flags.f_contiguous == wanted.flags.f_contiguous
    near = {"float16": 1e-3, "float32": 1e-6}.get(found.dtype.name, 1e-14)
    np.testing.assert_allclose(np.asarray(found), math.erf(1.0), rtol=near)


@pytest.mark.parametrize(
    "named",
    [
        {"out": np.zeros(3)}, {"out": np.zeros(5, int)}, {"out": (np.zeros(5), np.zeros(5))},
        {"out": [1]}, {"where": np.ones(3, bool), "out": np.zeros(5)}, {"dtype": "int64"},
        {"casting": "no such"}, {"bogus": 1}, {"dtype": "complex128"}, {"signature": "i->i"},
        {"order": "Z"},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("make", [lambda x: x, fw.asarray, lambda x: fnp.sin(fw.asarray(x))])
def test_wrong_keywords_end_as_those_of_exp_do(named: Any, make: Any) -> None:
    x = values(5)
    with pytest.raises(Exception) as theirs:
        np.exp(x, **named) if named != {"dtype": "complex128"} else np.floor(x, **named)
    kinds = tuple(kind for kind in (TypeError, ValueError) if isinstance(theirs.value, kind))
    with pytest.raises(kinds) as ours:
        special.erf(make(x), **named)
    assert "'exp'" not in str(ours.value)


def test_numbers() -> None:
    assert special.erf(1, dtype="float32").dtype == np.float32
    assert special.gamma(5.0, where=True) == 24.0
    out = np.zeros(2)
    assert special.gamma(4.0, out=out) is out and list(out) == [6.0, 6.0]
