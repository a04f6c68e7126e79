"""Other libraries' calls with our arrays: ufuncs, NumPy functions, foreign operands, delegation."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.evaluators import compiles

import fusewright as fw
import fusewright.frontends.arrays as fa
from fusewright.base import errors
from fusewright.frontends.arrays import methods, opaque, ufuncs
from fusewright.ir.graph import LEAF


def ours() -> Any:
    return fa.asarray(np.arange(6.0).reshape(2, 3))


def theirs() -> Any:
    return np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize("ufunc", sorted(ufuncs.NAMES, key=str), ids=str)
def test_every_ufunc_records_what_numpy_computes(ufunc: np.ufunc) -> None:
    kinds = "?bihlBIHLfdFD"
    with np.errstate(all="ignore"):
        for kind in kinds:
            operands = [np.array([1, 0, 2], kind), np.array([2, 1, 1], kind)][: ufunc.nin]
            try:
                want = ufunc(*operands)
            except TypeError:
                with pytest.raises(TypeError):
                    ufunc(*map(fa.asarray, operands))
                continue
            got = ufunc(*map(fa.asarray, operands))
            assert got._node.kind != LEAF
            assert got.dtype == want.dtype
            assert_close(np.asarray(got), want)


def assert_close(got: Any, want: Any) -> None:
    """Equal; where our own polynomials compute, two units in the last place apart at most."""
    if compiles() and want.dtype.kind in "fc" and want.dtype != np.float16:
        parts = (got.real, want.real), (got.imag, want.imag)
        for mine, theirs in parts if want.dtype.kind == "c" else ((got, want),):
            np.testing.assert_array_max_ulp(mine, theirs, 2)
    else:
        np.testing.assert_array_equal(got, want)


def test_out_where_dtype_and_casting() -> None:
    out = fa.zeros((2, 3))
    assert np.add(ours(), 1.0, out=out) is out
    assert out.tolist() == (theirs() + 1.0).tolist()
    raw = np.zeros((2, 3))
    assert np.add(ours(), 1.0, out=raw, where=ours() > 2) is raw
    assert raw.tolist() == np.add(theirs(), 1.0, out=np.zeros((2, 3)), where=theirs() > 2).tolist()
    np.multiply(out, 0.0, out=out, where=theirs() > 3)
    assert out.tolist() == [[1, 2, 3], [4, 0, 0]]
    assert np.add(ours(), 1, dtype="float32").dtype == np.float32
    with pytest.raises(errors.DTypeError):
        np.add(ours(), 1, dtype="int32")
    with pytest.raises(errors.DTypeError):
        np.add(ours(), 1, out=fa.zeros((2, 3), int))
    np.add(ours(), 0.5, out=(target := fa.zeros((2, 3), int)), casting="unsafe")
    assert target.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_ufuncs_without_an_op_are_delegated_and_noted() -> None:
    notes: list[opaque.Note] = []
    opaque.listeners.append(notes.append)
    try:
        fraction, whole = np.modf(ours() / 2.0)
        assert np.gcd(fa.arange(4), 2).tolist() == [2, 1, 2, 1]
    finally:
        opaque.listeners.remove(notes.append)
    assert (fraction + whole).tolist() == (theirs() / 2.0).tolist()
    assert [note.name for note in notes] == ["modf", "gcd"]
    assert notes[0].line is not None
    assert notes[0].line[0] == __file__


def test_numpy_functions_take_our_arrays() -> None:
    assert np.kron(ours(), np.ones((1, 2))).tolist() == np.kron(theirs(), np.ones((1, 2))).tolist()
    assert isinstance(np.kron(ours(), ours()), fa.Array)
    assert np.median(ours()) == 2.5
    u, s, vh = np.linalg.svd(ours())
    assert (u.shape, s.shape, vh.shape) == ((2, 2), (2,), (3, 3))
    out = fa.zeros(3)
    assert np.nanmax(ours(), axis=0, out=out) is out
    assert out.tolist() == [3, 4, 5]


def test_registered_functions_are_preferred() -> None:
    methods.functions["kron"] = lambda a, b: "ours"
    try:
        assert np.kron(ours(), 1) == "ours"
    finally:
        del methods.functions["kron"]


def test_mixed_operands() -> None:
    x, n = ours(), theirs()
    row = [1.0, 2.0, 3.0]
    for value in (n + x, x + n, n.T.T * x, row + x, x - row):
        assert isinstance(value, fa.Array)
    assert (n + x).tolist() == (n + n).tolist()
    n += x
    assert type(n) is np.ndarray
    assert n.tolist() == (theirs() * 2).tolist()
    n[0] = x[1]
    assert n[0].tolist() == [3, 4, 5]
    assert isinstance(x * Fraction(1, 2), np.ndarray)


def test_other_libraries_may_take_over() -> None:
    class Refusing:
        __array_ufunc__ = None

        def __radd__(self, other: Any) -> str:
            return "theirs"

        def __rmatmul__(self, other: Any) -> str:
            return "theirs"

    class Prior:
        __array_priority__ = 1e6

        def __rmul__(self, other: Any) -> str:
            return "prior"

    assert ours() + Refusing() == "theirs"
    assert ours() * Prior() == "prior"
    for x in (ours(), theirs()):
        with pytest.raises(TypeError):
            x += Refusing()  # NumPy's arrays do not ask the other operand here


@pytest.mark.parametrize(
    "arguments",
    [(5,), (2, 9), (9, 2, -2), (0, 1, 0.1), (0.5, 7.3, 0.7), (3, 3), (5, 1), (1, 2, 0.3), (-2.5,)],
)
@pytest.mark.parametrize("dtype", [None, "float32", "int32", "complex128", "float16"])
def test_arange_is_numpys(arguments: Any, dtype: Any) -> None:
    want = np.arange(*arguments, dtype=dtype)
    got = fa.arange(*arguments, dtype=dtype)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("dtype", [None, "float32", "int64", "complex64"])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 50])
def test_linspace_is_numpys(count: int, dtype: Any, endpoint: bool) -> None:
    for start, stop in ((0, 1), (-3.3, 9.1), (2, 2), (5, -1)):
        want, step = np.linspace(start, stop, count, endpoint, retstep=True, dtype=dtype)
        got, our_step = fa.linspace(start, stop, count, endpoint, retstep=True, dtype=dtype)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(np.asarray(got), want)
        np.testing.assert_array_equal(our_step, step)


def test_constants_cost_no_memory() -> None:
    huge = fa.zeros((1 << 20, 1 << 20))
    assert float(huge[3, 4]) == 0.0
    assert float((huge[3:5, 5:7] + 1.0)[1, 1]) == 1.0
    assert fa.eye(3, k=1).tolist() == np.eye(3, k=1).tolist()
    assert fa.eye(2, 4, -1, int).tolist() == np.eye(2, 4, -1, int).tolist()
    assert fa.full((2, 2), [1, 2]).tolist() == [[1, 2], [1, 2]]


def test_asarray_of_anything() -> None:
    assert fa.asarray([[1, 2], [3, 4]]).dtype == np.int64
    assert fa.asarray([ours()[0], ours()[1]]).tolist() == theirs().tolist()
    assert fa.asarray([ours().sum(), 1.0]).tolist() == [15.0, 1.0]
    assert fa.asarray(3).shape == ()
    assert fa.asarray(np.arange(3, dtype=">i4")).tolist() == [0, 1, 2]
    assert fa.array([1, 2], ndmin=3).shape == (1, 1, 2)
    x = ours()
    assert fa.asarray(x) is x
    assert fa.asarray(x, "float32").dtype == np.float32
    with pytest.raises(errors.UnsupportedError):
        fa.asarray(["text"])


def test_opaque_steps_stay_in_the_trace() -> None:
    x = ours() + 1.0
    with fw.options(interpret=False):  # else small ones are computed at once
        product = x @ x.T
    assert product._node.kind != LEAF
    low, high = opaque.opaque_parts(
        "bounds", lambda a: (a.min(0), a.max(0)), (product,), [(float, (2,)), (float, (2,))]
    )
    total = low + high
    want = (theirs() + 1.0) @ (theirs() + 1.0).T
    assert total.tolist() == (want.min(0) + want.max(0)).tolist()
    assert x._node.kind != LEAF


class Answering:
    """Another library's array: it answers ufuncs, and has no operators."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> str:
        return f"{ufunc.__name__} of {len(inputs)}"


@pytest.mark.parametrize("make", [theirs, ours, lambda: ours().sum()])
def test_operators_ask_another_librarys_ufunc(make: Any) -> None:
    assert make() * Answering() == "multiply of 2"
    assert Answering() - make() == "subtract of 2"
    assert np.hypot(make(), Answering()) == "hypot of 2"


class Tensor:
    """A tensor of a type that NumPy lacks, as torch's are."""

    dtype = "torch.bfloat16"

    def __array__(self, dtype: Any = None) -> Any:
        raise TypeError("Got unsupported ScalarType BFloat16")


def test_a_tensor_of_bfloat16_says_what_to_do() -> None:
    with pytest.raises(fw.FusewrightError, match=r"torch\.bfloat16 is not supported") as found:
        fw.asarray(Tensor())
    assert "float()" in str(found.value)


@pytest.mark.parametrize(
    "array",
    [np.ones(5000), np.ones((50, 100)), np.ones((5, 100, 9), np.int16), np.ones((0, 3))],
    ids=lambda array: f"{array.shape}",
)
def test_pythons_size_of_an_array_is_numpys(array: Any) -> None:
    mine = fa.asarray(array, copy=True)
    assert sys.getsizeof(mine) == sys.getsizeof(array)
    assert sys.getsizeof(mine + 1) == sys.getsizeof(np.asarray(array + 1))
    if array.ndim:
        assert sys.getsizeof(mine[..., :1]) == sys.getsizeof(array[..., :1])
        assert sys.getsizeof(mine.T) == sys.getsizeof(array.T)
