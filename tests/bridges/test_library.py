"""Functions of whole views, against NumPy's of the same names."""

import numpy as np
import pytest

import fusewright.bridges.pykokkos as pk
from fusewright.bridges.pykokkos.elementwise import ONE, TWO
from fusewright.bridges.pykokkos.linalg.l3_blas import dgemm

RNG = np.random.default_rng(11)
A, B = RNG.random((4, 3)) + 0.5, RNG.random((4, 3)) + 0.5


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_one_operand(name, kind):
    view = pk.array(A.astype(kind))
    expected = getattr(np, name)(A.astype(kind))
    found = getattr(pk, name)(view=view)
    np.testing.assert_allclose(
        np.asarray(found), expected, rtol=1e-6 if kind is np.float32 else 1e-14
    )


@pytest.mark.parametrize("name", TWO)
def test_two_operands(name):
    expected = getattr(np, name)(A, B)
    np.testing.assert_allclose(
        np.asarray(getattr(pk, name)(pk.array(A), pk.array(B))), expected, rtol=1e-14
    )
    row = getattr(np, name)(A, B[0])
    np.testing.assert_allclose(
        np.asarray(getattr(pk, name)(pk.array(A), pk.array(B[0]))), row, rtol=1e-14
    )
    number = getattr(np, name)(A, 2.0)
    np.testing.assert_allclose(np.asarray(getattr(pk, name)(pk.array(A), 2.0)), number, rtol=1e-14)


def test_rounding_keeps_the_type():
    for kind in (pk.double, pk.float):
        for function in (pk.floor, pk.ceil, pk.trunc, pk.round):
            assert function(pk.View([2, 2], kind)).dtype.value == kind.value


def test_sums():
    view = pk.array(A)
    for name in ("sum", "mean", "var"):
        found = getattr(pk, name)(view)
        assert found == pytest.approx(getattr(np, name)(A), rel=1e-14) and type(found) is float
        for axis in (0, 1):
            np.testing.assert_allclose(
                np.asarray(getattr(pk, name)(view, axis)), getattr(np, name)(A, axis), rtol=1e-14
            )
    assert bool(pk.all(view)) and bool(pk.any(view))
    assert pk.find_max(pk.array(A[0])) == A[0].max()
    assert int(pk.argmax(pk.array(A[0]))) == int(A[0].argmax())


def test_creation():
    assert list(pk.zeros(3)) == [0.0] * 3 and list(pk.ones([2])) == [1.0] * 2
    assert pk.full([2], 7, dtype=pk.int32).dtype is pk.int32
    assert pk.full_like(pk.array(A), 3.0).shape == A.shape
    assert list(pk.zeros_like(pk.array(B[0]))) == [0.0] * 3
    assert list(pk.ones_like(pk.array(B[0]))) == [1.0] * 3
    np.testing.assert_allclose(np.asarray(pk.linspace(0, 1, 5)), np.linspace(0, 1, 5))
    np.testing.assert_allclose(np.asarray(pk.logspace(0, 2, 3)), [1, 10, 100])


def test_shapes():
    view = pk.array(A)
    assert pk.reshape(view, (2, 6)).shape == (2, 6) and pk.ravel(view).shape == (12,)
    np.testing.assert_array_equal(np.asarray(pk.ravel(view, "F")), A.ravel("F"))
    assert pk.expand_dims(view).shape == (1, 4, 3)
    np.testing.assert_array_equal(np.asarray(pk.transpose(view)), A.T)
    np.testing.assert_array_equal(np.asarray(pk.hstack(view, pk.array(B))), np.hstack((A, B)))
    np.testing.assert_array_equal(np.asarray(pk.col(view, 1)), A[:, 1])
    assert pk.broadcast_view(2.0, view).shape == A.shape
    target = pk.View([4, 3], pk.double)
    pk.copyto(target, pk.array(A[0]))
    np.testing.assert_array_equal(np.asarray(target), np.broadcast_to(A[0], A.shape))
    with pytest.raises(ValueError, match="broadcastable"):
        pk.copyto(target, pk.View([5], pk.double))
    assert pk.astype(view, pk.int32).dtype is pk.int32


def test_products():
    left, right = pk.array(A[0]), pk.array(B[0])
    assert pk.dot(left, right) == pytest.approx(A[0] @ B[0])
    assert pk.matmul(left, pk.array(B[0].reshape(3, 1))) == pytest.approx(A[0] @ B[0])
    np.testing.assert_allclose(np.asarray(pk.np_matmul(pk.array(A), pk.array(B.T))), A @ B.T)
    with pytest.raises(RuntimeError, match="core dimension"):
        pk.matmul(pk.array(A[:, 0]), right)
    with pytest.raises(RuntimeError, match="not compatible"):
        pk.np_matmul(pk.array(A), pk.array(B))
    found = dgemm(2.0, pk.array(A), pk.array(B.T), 3.0, pk.array(np.ones((4, 4))))
    np.testing.assert_allclose(np.asarray(found), 2 * A @ B.T + 3)
    with pytest.raises(ValueError, match="Second dimensions"):
        dgemm(1.0, pk.array(A), pk.array(B))


def test_look_ups():
    numbers = pk.array(np.array([3.0, 1.0, 3.0, 2.0]))
    assert list(pk.unique(numbers)) == [1.0, 2.0, 3.0]
    assert list(pk.in1d(numbers, pk.array(np.array([3.0])))) == [1, 0, 1, 0]
    assert pk.searchsorted(pk.array(np.array([1.0, 2.0, 3.0])), 2.5) == 2
    places = pk.array(np.array([3, 0], np.int32))
    assert list(pk.index(numbers, places)) == [2.0, 3.0]
