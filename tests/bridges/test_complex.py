"""Complex views in work units: compiled code gives what the `Debug` space gives."""

import numpy as np
import pytest
from tests.bridges import complex_units as units

import fusewright.bridges.pykokkos as pk

N = 23


def points(seed=1, dtype=pk.complex128):
    rng = np.random.default_rng(seed)
    z = pk.View([N], dtype)
    z[:] = rng.standard_normal(N) + 1j * rng.standard_normal(N)
    return z


def in_both(run):
    found = [run(space) for space in (pk.OpenMP, pk.Debug)]
    assert found[0] == found[1]


def test_arithmetic():
    def run(space):
        z, w, out = points(), points(2), pk.View([6, N], pk.complex128)
        pk.parallel_for(pk.RangePolicy(space, 0, N), units.arithmetic, z=z, w=w, out=out)
        return np.asarray(out).tobytes()

    in_both(run)


def test_complex64_stays_complex64():
    z, w, out = points(1, pk.complex64), points(2, pk.complex64), pk.View([6, N], pk.complex64)
    pk.parallel_for(N, units.arithmetic, z=z, w=w, out=out)
    a, b = np.asarray(z), np.asarray(w)
    assert np.asarray(out).dtype == np.complex64
    np.testing.assert_allclose(np.asarray(out)[2], a * b, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(out)[5], a * a.real + b.imag, rtol=1e-6)


def test_declared_types_and_numbers():
    def run(space):
        z, out = points(), pk.View([N], pk.complex128)
        policy = pk.RangePolicy(space, 0, N)
        pk.parallel_for(policy, units.annotated, z=z, out=out, f=pk.complex128(0.5, -1.0))
        first = np.asarray(out).tobytes()
        pk.parallel_for(policy, units.annotated, z=z, out=out, f=2j)
        return first, np.asarray(out).tobytes()

    in_both(run)


def test_sizes_and_conjugates():
    z, x = points(), pk.View([3, N], pk.double)
    pk.parallel_for(N, units.sizes, z=z, x=x)
    plain = np.array(np.asarray(z))
    np.testing.assert_allclose(np.asarray(x), [abs(plain), plain.real, plain.imag], rtol=1e-15)
    pk.parallel_for(N, units.conjugates, z=z)
    assert np.array_equal(np.asarray(z), plain.conj())


def test_reductions_and_scans():
    z, w, out = points(), points(2), pk.View([N], pk.complex128)
    found = pk.parallel_reduce(N, units.total, z=z, w=w)
    assert type(found) is complex
    assert found == pytest.approx(complex((np.asarray(z) * np.asarray(w)).sum()), rel=1e-14)
    last = pk.parallel_scan(N, units.sums, z=z, out=out)
    np.testing.assert_allclose(np.asarray(out), np.cumsum(np.asarray(z)), rtol=1e-14)
    assert last == out[N - 1]


def test_atomic_updates():
    z, out = points(), pk.View([3], pk.complex128)
    pk.parallel_for(N, units.gathered, z=z, out=out)
    wanted = [np.asarray(z)[k::3].sum() for k in range(3)]
    np.testing.assert_allclose(np.asarray(out), wanted, rtol=1e-13)


def test_subviews_and_fill():
    z = pk.View([4, N], pk.complex64)
    z.fill(pk.complex64(1.0, -2.0))
    pk.parallel_for(N, units.rotate, z=z[1, :], f=1j)
    whole = np.asarray(z)
    assert np.all(whole[1] == 2 + 1j) and np.all(whole[[0, 2, 3]] == 1 - 2j)


def test_arrays_of_numpy_and_chains():
    z = np.ones(N, complex)
    for f in (1j, 2.0, np.complex64(1 - 1j)):
        pk.parallel_for(N, units.rotate, z=z, f=f)
    assert np.all(z == 2j * (1 - 1j))
    view = points()
    plain = np.array(np.asarray(view))
    for step in range(5):
        pk.parallel_for(N, units.rotate, z=view, f=0.5j + step)
        plain = np.array([z * (0.5j + step) for z in plain])
    assert np.asarray(view).tobytes() == plain.tobytes()


def test_functor():
    turning = units.Oscillators(N, 0.6 + 0.8j)
    for _ in range(3):
        pk.parallel_for(pk.RangePolicy(pk.OpenMP, 0, N), turning.turn)
    wanted = np.full(N, 1 + 0.5j)
    for _ in range(3):
        wanted = np.array([z * (0.6 + 0.8j) * (i + 1) for i, z in enumerate(wanted)])
    assert np.asarray(turning.z).tobytes() == wanted.tobytes()


def test_refused():
    with pytest.raises(pk.Error, match="complex"):
        pk.parallel_for(N, units.narrow, z=points(), x=pk.View([N], pk.double))
    with pytest.raises(pk.Error, match="no order"):
        pk.parallel_reduce(N, units.total, z=points(), w=points(), reducer=pk.Max)
