"""Types, laziness, errors, strictness and the protocols of the drop-in."""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from tests.evaluators import compiles

import fusewright as fw
import fusewright.numpy as np
from fusewright.base.errors import FusewrightError, StrictError
from fusewright.base.options import options
from fusewright.frontends.arrays import Array, Scalar, opaque, trace
from fusewright.ir.graph import LEAF


def test_isinstance() -> None:
    x = np.linspace(0, 1, 3)
    total, count = x.sum(), np.arange(3).max()
    assert isinstance(x, np.ndarray)
    assert isinstance(numpy.zeros(1), np.ndarray)
    assert not isinstance(total, np.ndarray)
    assert isinstance(total, np.floating) and isinstance(total, float)
    assert isinstance(count, np.integer) and not isinstance(count, np.floating)
    assert isinstance(x[0] > 0, np.bool_)
    assert isinstance(np.add, np.ufunc) and isinstance(np.sin, np.ufunc)
    assert isinstance(x, np.ndarray | list) and issubclass(type(x), np.ndarray)
    assert type(x) == np.ndarray  # noqa: E721
    assert isinstance(total, Scalar | numpy.float64) and isinstance(x, Array)
    assert np.isscalar(total) and not np.isscalar(x)


def test_subclasses_are_numpys() -> None:
    class Tagged(np.ndarray):
        def __new__(cls, data: Any, tag: str) -> Any:
            made = np.asarray(data).view(cls)
            made.tag = tag
            return made

    tagged = Tagged(np.arange(3.0), "t")
    assert isinstance(tagged, numpy.ndarray) and tagged.tag == "t"
    assert isinstance(np.sin(tagged), Tagged)


RECORDED = """
np.sqrt(x)
np.where(x > 3, x, 0)
np.sum(x, 0)
np.mean(x)
np.std(x, 1)
np.cumsum(x, 1)
np.pad(x, 1, mode="reflect")
np.roll(x, 1, 0)
np.concatenate([x, x])
np.stack([x, x])
np.gradient(x)[0]
np.matmul(x, x.T)
np.sort(x)
np.fft.fft(x)
np.einsum("ij,kj->ik", x, x)
np.outer(x, x)
np.linalg.norm(x, axis=1)
np.meshgrid(x[0], x[0])[0]
np.nansum(x)
np.array([[x.sum(), 1], [2, x.max()]])
np.clip(x, 0, 1)
np.isclose(x, 1)
np.linalg.qr(x)[0]
np.cov(x)
np.tril(x)
np.take(x.T, [0, 1], 0)
np.convolve(x[0], x[1])
np.median(x, axis=0)
np.average(x, axis=0)
np.nan_to_num(x)
np.tile(x, 3)
np.diff(x)
np.unwrap(x)
np.kron(x, x)
np.trapezoid(x)
np.select([x > 3], [x])
np.argmax(x, 0)
np.repeat(x, 2)
np.interp(x, x[0], x[1])
np.add.outer(x, x)
np.maximum.accumulate(x)
np.digitize(x, [1, 2])
np.polyval([1, 2], x)
""".strip().splitlines()


@pytest.mark.parametrize("expression", RECORDED)
def test_nothing_is_computed_before_it_is_asked_for(
    expression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What can be recorded is recorded, and its value is NumPy's when it is asked for."""
    names = {"np": np, "x": np.arange(12.0).reshape(3, 4) + 1}

    def refuse(nodes: Any) -> None:
        raise AssertionError("something was computed")

    trace.flush()
    with monkeypatch.context() as patch, fw.options(interpret=False):
        patch.setattr("fusewright.base.hooks.evaluate", refuse)
        result = eval(expression, names)
    assert isinstance(result, Array)
    assert result._node.kind != LEAF
    plain = {"np": numpy, "x": numpy.arange(12.0).reshape(3, 4) + 1}
    numpy.testing.assert_allclose(result, eval(expression, plain), rtol=1e-13)


ERRORS: list[tuple[Callable[[Any], Any], type[Exception]]] = [
    (lambda x: np.add(x, np.ones(5)), ValueError),
    (lambda x: np.sum(x, axis=2), numpy.exceptions.AxisError),
    (lambda x: np.reshape(x, (5, 5)), ValueError),
    (lambda x: np.concatenate([x, np.ones(4)]), ValueError),
    (lambda x: np.matmul(x, x), ValueError),
    (lambda x: np.stack([x, x.T]), ValueError),
    (lambda x: np.take(x, 99), IndexError),
    (lambda x: np.split(x, 2), ValueError),
    (lambda x: np.sort(x, axis=5), numpy.exceptions.AxisError),
    (lambda x: np.fft.fft(x, axis=5), IndexError),
    (lambda x: np.broadcast_to(x, (2, 2)), ValueError),
    (lambda x: np.moveaxis(x, [0, 1], [0]), ValueError),
    (lambda x: np.einsum("ij,jk", x, x), ValueError),
    (lambda x: np.max(x[:0]), ValueError),
    (lambda x: np.bitwise_and(x, 1), TypeError),
    (lambda x: np.squeeze(x, 0), ValueError),
    (lambda x: np.linalg.det(x), numpy.linalg.LinAlgError),
    (lambda x: np.linalg.inv(np.zeros((2, 2))), numpy.linalg.LinAlgError),
    (lambda x: np.linalg.cholesky(-np.eye(2)), numpy.linalg.LinAlgError),
    (lambda x: np.gradient(x, 1, 2, 3), TypeError),
    (lambda x: np.tensordot(x, x, 1), ValueError),
    (lambda x: np.cross(x, x, axis=7), numpy.exceptions.AxisError),
    (lambda x: np.zeros((2, -1)), ValueError),
    (lambda x: np.sin(x, 1, 2), TypeError),
    (lambda x: np.random.default_rng(0).choice(x[:0, 0]), ValueError),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors_are_raised_by_the_call(number: int) -> None:
    """Shape, dtype, axis and value errors come from the line that made them, as NumPy's class."""
    call, kind = ERRORS[number]
    with pytest.raises(kind):
        call(np.arange(6.0).reshape(3, 2))


def test_errors_show_the_users_line() -> None:
    with pytest.raises(FusewrightError) as caught:
        np.add(np.ones(3), np.ones(4))
    assert "test_meaning.py" in str(caught.value)
    assert "np.add(np.ones(3), np.ones(4))" in str(caught.value)


def test_delegated_steps_are_named_and_strict_refuses_them() -> None:
    notes: list[Any] = []
    x = np.arange(4.0)
    opaque.listeners.append(notes.append)
    try:
        np.apply_along_axis(lambda row: row, 0, x)
        np.linalg.inv(np.eye(2) + x[0])
    finally:
        opaque.listeners.remove(notes.append)
    assert [note.name for note in notes] == ["apply_along_axis", "linalg.inv"]
    assert all(note.line[0].endswith("test_meaning.py") and note.why for note in notes)
    with options(strict=True):
        np.linalg.inv(np.eye(2) + x[0])  # a library step is meant to run in NumPy
        assert float(np.sum(np.sqrt(x) * 2)) > 0
        with pytest.raises(StrictError) as caught:
            np.apply_along_axis(lambda row: row, 0, x)
    assert "test_meaning.py" in str(caught.value)


def test_numpys_functions_dispatch_here() -> None:
    x = np.arange(4.0)
    assert isinstance(numpy.sum(x), Scalar | numpy.float64)
    assert isinstance(numpy.concatenate([x, x]), Array)
    assert isinstance(numpy.linalg.norm(x), Scalar | numpy.float64)
    importlib.import_module("fusewright.numpy.fft")
    assert isinstance(numpy.fft.fft(x), Array)
    assert isinstance(numpy.sin(x), Array)
    assert x.__array_namespace__() is np


SUBMODULES = """
linalg fft random testing ma char strings rec ctypeslib typing exceptions dtypes lib
lib.stride_tricks lib.scimath lib.recfunctions lib.npyio lib.format polynomial
polynomial.polynomial polynomial.chebyshev polynomial.hermite polynomial.hermite_e
polynomial.laguerre polynomial.legendre polynomial.polyutils
"""


@pytest.mark.parametrize("name", SUBMODULES.split())
def test_submodules_hold_numpys_names(name: str) -> None:
    module = importlib.import_module(f"fusewright.numpy.{name}")
    original = importlib.import_module(f"numpy.{name}")
    names = getattr(original, "__all__", None) or [n for n in dir(original) if n[0] != "_"]
    assert names
    for public in names:
        assert hasattr(module, public), public


def test_submodules_compute_with_ours() -> None:
    x = np.arange(1.0, 5.0)
    np.testing.assert_allclose(np.polynomial.Polynomial([1, 2])(x), 1 + 2 * x)
    np.testing.assert_array_equal(np.ma.masked_greater(x, 2).filled(0), [1, 2, 0, 0])
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(x, x + 1)
    assert float(np.polynomial.polynomial.polyval(2.0, x)) == 1 + 4 + 12 + 32
    assert list(np.char.upper(["a"])) == ["A"]
    np.testing.assert_array_equal(np.poly1d([1, 2])(x), x + 2)


def test_pickles() -> None:
    rng = np.random.default_rng(1)
    twin = pickle.loads(pickle.dumps(rng))
    np.testing.assert_array_equal(twin.random(3), rng.random(3))
    assert pickle.loads(pickle.dumps(np.add)) is np.add
    assert pickle.loads(pickle.dumps(np.ndarray)) is np.ndarray


def test_the_standards_namespace() -> None:
    """Every function of the array API standard 2025.12 is there."""
    x = np.reshape(np.arange(4.0), (2, 2))
    info = np.__array_namespace_info__()
    assert info.default_device() == "cpu" and info.devices() == ("cpu",)
    assert info.default_dtypes()["real floating"] == numpy.float64
    assert "float32" in info.dtypes(kind="real floating")
    for name in STANDARD.split():
        assert callable(getattr(np, name)), name
    for name in STANDARD_LINALG.split():
        assert callable(getattr(np.linalg, name)), name
    assert isinstance(np.meshgrid(x[0], x[1]), tuple)
    assert isinstance(np.broadcast_arrays(x, 1.0), tuple)
    assert np.unique_counts(x).counts.shape == (4,)
    np.testing.assert_array_equal(np.from_dlpack(numpy.ones(2)), [1, 1])
    np.testing.assert_array_equal(np.permute_dims(x, (1, 0)), x.T)


STANDARD = """
arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like
tril triu zeros zeros_like abs acos acosh add asin asinh atan atan2 atanh bitwise_and
bitwise_left_shift bitwise_invert bitwise_or bitwise_right_shift bitwise_xor ceil clip conj
copysign cos cosh divide equal exp expm1 floor floor_divide greater greater_equal hypot imag
isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and logical_not
logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow real
reciprocal remainder round sign signbit sin sinh square sqrt subtract tan tanh trunc astype
broadcast_arrays broadcast_to broadcast_shapes can_cast finfo iinfo isdtype result_type take
take_along_axis matmul matrix_transpose tensordot vecdot concat expand_dims flip moveaxis
permute_dims repeat reshape roll squeeze stack tile unstack argmax argmin count_nonzero nonzero
searchsorted where isin unique_all unique_counts unique_inverse unique_values argsort sort
cumulative_prod cumulative_sum max mean min prod std sum var all any diff
"""
STANDARD_LINALG = """
cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank
matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm eig
eigvals
"""


def test_functions_can_be_pickled() -> None:
    for name in ["where", "sum", "sin", "einsum", "full", "hanning", "cumsum", "linalg.qr"]:
        function: Any = np
        for part in name.split("."):
            function = getattr(function, part)
        assert pickle.loads(pickle.dumps(function)) is function


def test_a_mask_without_elements_selects_nothing() -> None:
    for xp in (numpy, np):
        x = xp.arange(6).reshape(2, 3)
        assert x[xp.zeros((0, 3), bool)].shape == (0,)
        x[xp.zeros((2, 0), bool)] = 7
        assert x.sum() == 15
        with pytest.raises(IndexError):
            x[xp.zeros((0, 4), bool)]


def test_results_of_one_step_may_be_asked_for_one_by_one() -> None:
    calls = []

    def halves(x: Any) -> Any:
        calls.append(1)
        return x / 2, x / 4, x / 8

    parts = opaque.opaque_parts("halves", halves, (np.arange(3.0) + 1,), [("f8", (3,))] * 3)
    assert [float(part.sum()) for part in parts] == [3, 1.5, 0.75]
    assert [float(part[0]) for part in parts] == [0.5, 0.25, 0.125]
    assert len(calls) == 1 or not compiles()


@pytest.mark.parametrize("name", ["matmul", "vecdot", "matvec", "vecmat"])
def test_functions_of_whole_vectors_have_the_fields_of_ufuncs(name: str) -> None:
    ours, theirs = getattr(np, name), getattr(numpy, name)
    for field in ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature", "__name__"):
        assert getattr(ours, field) == getattr(theirs, field), field
    x = numpy.arange(4.0).reshape(2, 2)
    for method, arguments in (("reduce", (x,)), ("outer", (x, x)), ("at", (x, [0], x))):
        with pytest.raises(Exception) as refused:
            getattr(theirs, method)(*arguments)
        with pytest.raises(refused.type):
            getattr(ours, method)(*map(fw.asarray, arguments))
