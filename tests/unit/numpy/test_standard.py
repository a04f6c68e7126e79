"""What the array API standard asks for beyond NumPy, on arrays of both kinds."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

INF, NAN = float("inf"), float("nan")
KINDS: list[Callable[..., Any]] = [np.asarray, fw.asarray]
VALUES = np.array([[3.0, 1.0, 2.0, 1.0], [5.0, 5.0, 4.0, 6.0]])


@pytest.mark.parametrize("of", KINDS)
@pytest.mark.parametrize("axis", [-1, 0, None])
def test_sorting_from_the_greatest(of: Any, axis: Any) -> None:
    given = of(VALUES)
    flat = VALUES.ravel() if axis is None else VALUES
    at = -1 if axis is None else axis
    made = fnp.sort(given, axis, descending=True)
    np.testing.assert_array_equal(np.asarray(made), -np.sort(-flat, at))
    order = fnp.argsort(given, axis, descending=True, stable=True)
    np.testing.assert_array_equal(np.asarray(order), np.argsort(-flat, at, stable=True))
    assert type(made) is type(fnp.sort(given, axis, descending=False))
    np.testing.assert_array_equal(np.asarray(given), VALUES)


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies_of_a_type(name: str) -> None:
    made = getattr(fnp.fft, name)(9, dtype=np.float32)
    assert made.dtype == np.float32
    np.testing.assert_array_equal(made, getattr(np.fft, name)(9).astype(np.float32))


@pytest.mark.parametrize("of", KINDS)
def test_both_names_of_bounds(of: Any) -> None:
    given = of(VALUES)
    for made in (
        fnp.clip(given, 2, 4),
        fnp.clip(given, min=2, max=4),
        fnp.clip(given, a_min=2, a_max=4),
    ):
        np.testing.assert_array_equal(np.asarray(made), VALUES.clip(2, 4))


def test_signatures() -> None:
    assert [*inspect.signature(fnp.clip).parameters][:3] == ["a", "min", "max"]
    assert "descending" in inspect.signature(fnp.sort).parameters
    assert "dtype" in inspect.signature(fnp.fft.fftfreq).parameters


@pytest.mark.parametrize("of", KINDS)
def test_limits_of_arrays(of: Any) -> None:
    assert fnp.finfo(of(np.ones(3, np.float32))).bits == 32
    assert fnp.iinfo(of(np.ones(3, np.int16))).max == 32767
    assert isinstance(fnp.finfo(np.float64), fnp.finfo)
    assert isinstance(np.iinfo(int), fnp.iinfo)


@pytest.mark.parametrize(
    ("z", "want"),
    [
        (complex(0.0, 0.0), complex(0.0, 0.0)), (complex(-0.0, 0.0), complex(0.0, 0.0)),
        (complex(INF, 0.0), complex(INF, 0.0)), (complex(-INF, INF), complex(-1.0, 0.0)),
        (complex(INF, INF), complex(INF, NAN)), (complex(-INF, NAN), complex(-1.0, 0.0)),
        (complex(INF, NAN), complex(INF, NAN)), (complex(NAN, 0.0), complex(NAN, 0.0)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_expm1(z: complex, want: complex, dtype: Any) -> None:
    plain = np.full(3, z, dtype)
    for made in (
        fnp.expm1(z), fnp.expm1(dtype(z)), fnp.expm1(plain), fnp.expm1(fw.asarray(plain)),
    ):  # fmt: skip
        each = np.asarray(made).ravel()[0]
        assert str(each.real) == str(np.float64(want.real).astype(each.real.dtype))
        assert str(each.imag) == str(np.float64(want.imag).astype(each.imag.dtype))


def test_complex_expm1_is_numpys_elsewhere() -> None:
    draw = np.random.default_rng(3)
    plain = draw.standard_normal(900) + 1j * draw.standard_normal(900)
    for given in (plain[:9], plain, fw.asarray(plain)):
        np.testing.assert_array_equal(np.asarray(fnp.expm1(given)), np.expm1(np.asarray(given)))
    with pytest.raises(TypeError):
        fnp.expm1(plain, plain, plain)
