"""NumPy's scalar types called with arrays: `np.float32(image)`, `np.uint8(x)`."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native

pytestmark = pytest.mark.skipif(native is None, reason="NumPy's types are taken over by the core")
TYPES = (
    np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64,
    np.float16, np.float32, np.float64, np.complex64, np.complex128, np.longdouble,
)  # fmt: skip
VALUES = {
    "floats": np.linspace(0.0, 100.0, 60).reshape(5, 12),
    "integers": np.arange(60).reshape(5, 12),
    "flags": np.arange(60).reshape(5, 12) % 3 == 0,
    "empty": np.zeros((0, 3)),
    "long": np.arange(3000.0),
}


def compared(ours: Any, theirs: Any) -> None:
    assert np.asarray(ours).dtype == theirs.dtype and np.shape(ours) == theirs.shape
    assert np.array_equal(np.asarray(ours), theirs)
    assert ours.flags.writeable == theirs.flags.writeable


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("kind", TYPES)
def test_arrays_are_converted(kind: type, values: Any) -> None:
    x = fw.asarray(values)
    compared(kind(x), kind(values))
    compared(kind(x[::2]), kind(values[::2]))
    compared(kind(x.T), kind(values.T))


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_of_the_same_type_it_is_the_array(kind: type) -> None:
    x = fw.asarray(np.arange(3000, dtype=kind))
    assert kind(x) is x
    other: Any = np.float16 if kind is np.float32 else np.float32
    y = other(x)
    y += 1
    assert float(x[5]) == 5.0 and float(y[5]) == 6.0
    part = x[10:20]
    kind(part)[0] = -1.0
    assert float(x[10]) == -1.0


def test_numbers_are_numpys() -> None:
    x = fw.asarray(np.arange(3000.0))
    for one in (x[7], x.sum(), x[7:8], x[7:8].reshape(1, 1)):
        plain = np.asarray(one)[()]
        assert np.array_equal(np.asarray(np.float64(one)), np.asarray(np.float64(plain)))
        assert np.shape(np.int32(one)) == np.shape(np.int32(plain))


def test_everything_else_is_numpys_own() -> None:
    class Metres(np.float64):
        pass

    assert type(Metres(2.5)) is Metres and Metres("1.5") == 1.5
    assert np.asarray(Metres(fw.asarray([1.0, 2.0]))).tolist() == [1.0, 2.0]
    assert np.float64() == 0.0 and np.float32("2") == 2.0
    assert np.uint8([1, 2]).tolist() == [1, 2] and np.float64(None) != np.float64(None)
    for wrong in ("a", object()):
        with pytest.raises((TypeError, ValueError)):
            np.float64(wrong)
    with pytest.raises(TypeError):
        np.float64(1, 2, 3)
    assert pickle.loads(pickle.dumps(np.float32(2.5))) == 2.5


def test_a_conversion_is_recorded_and_fused() -> None:
    image = fw.asarray(np.arange(100_000, dtype=np.uint8))
    result = fnp.sqrt(np.float32(image) / 255)
    assert isinstance(result, fw.Array)
    expected = np.sqrt(np.float32(np.asarray(image)) / 255)
    assert np.array_equal(np.asarray(result), expected)
