"""One-electron integrals against libcint, and against closed forms where it is not installed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fusewright import integrals
from fusewright.integrals.basis import Basis
from fusewright.integrals.operators import long_range


def water(**more: Any) -> Any:
    gto = pytest.importorskip("pyscf.gto")
    basis = {"O": "6-31g*", "H": "sto-3g"}
    return gto.M(atom="O 0 0 .1; H .2 .9 .6; H 0 -.8 .55", basis=basis, verbose=0, **more)


@pytest.mark.parametrize("cart", [False, True])
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("int1e_ovlp", integrals.overlap),
        ("int1e_kin", integrals.kinetic),
        ("int1e_nuc", integrals.nuclear_attraction),
    ],
)
def test_libcint(name: str, function: Any, cart: bool) -> None:
    mol = water(cart=cart)
    found, expected = function(Basis.from_pyscf(mol)), mol.intor(name)
    assert np.abs(found - expected).max() <= 1e-13 * np.abs(expected).max()


def test_moments() -> None:
    mol = water()
    basis, origin = Basis.from_pyscf(mol), (0.1, 0.2, -0.3)
    with mol.with_common_orig(origin):
        first, second = mol.intor("int1e_r"), mol.intor("int1e_rr")
    assert np.abs(integrals.dipole(basis, origin) - first).max() <= 1e-13
    found = integrals.quadrupole(basis, origin)
    assert np.abs(found - second[[0, 1, 2, 4, 5, 8]]).max() <= 1e-13


def test_high_momenta_and_contractions() -> None:
    gto = pytest.importorskip("pyscf.gto")
    mol = gto.M(atom="O 0 0 .1", basis="cc-pvqz", verbose=0)
    basis = Basis.from_pyscf(mol)
    for function, name in [(integrals.overlap, "int1e_ovlp"), (integrals.kinetic, "int1e_kin")]:
        expected = mol.intor(name)
        assert np.abs(function(basis) - expected).max() <= 1e-13 * np.abs(expected).max()


def test_attenuated_attraction() -> None:
    """erf(w r)/r is the potential of a normal distribution of exponent w^2."""
    mol = water()
    with mol.with_rinv_origin((0.3, 0.1, 0.4)), mol.with_rinv_zeta(0.25):
        expected = mol.intor("int1e_rinv")
    at = ([-1.0], [(0.3, 0.1, 0.4)])
    found = integrals.nuclear_attraction(Basis.from_pyscf(mol), *at, long_range(0.5))
    assert np.abs(found - expected).max() <= 1e-14 * np.abs(expected).max() * 10


def test_two_s_functions() -> None:
    """Szabo and Ostlund, Modern Quantum Chemistry, appendix A: S, T and V of normalised s."""
    a, b, r = 1.3, 0.4, 1.1
    basis = Basis.from_arrays([[0, 0, 0], [0, 0, r]], [(0, 0, [a], [1.0]), (1, 0, [b], [1.0])])
    p, mu = a + b, a * b / (a + b)
    norm = (2 * a / math.pi) ** 0.75 * (2 * b / math.pi) ** 0.75
    s = norm * (math.pi / p) ** 1.5 * math.exp(-mu * r * r)
    assert integrals.overlap(basis)[0, 1] == pytest.approx(s, rel=1e-14)
    assert integrals.kinetic(basis)[0, 1] == pytest.approx(mu * (3 - 2 * mu * r * r) * s, rel=1e-13)
    t = p * (b * r / p) ** 2
    f0 = math.sqrt(math.pi / t) / 2 * math.erf(math.sqrt(t))
    v = -norm * 2 * math.pi / p * math.exp(-mu * r * r) * f0
    found = integrals.nuclear_attraction(basis, [1.0], [[0, 0, 0]])
    assert found[0, 1] == found[1, 0] == pytest.approx(v, rel=1e-13)
    assert not integrals.nuclear_attraction(basis, [], []).any()


def test_refused() -> None:
    basis = Basis.from_arrays([[0, 0, 0]], [(0, 0, [1.0], [1.0])])
    with pytest.raises(ValueError, match="multipoles of order 9"):
        integrals.multipoles(basis, 9)
    with pytest.raises(ValueError, match="one place for each charge"):
        integrals.nuclear_attraction(basis, [1.0, 2.0], [[0, 0, 0]])
