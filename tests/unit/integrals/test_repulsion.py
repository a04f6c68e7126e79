"""Electron-repulsion integrals: against mpmath for single functions, against libcint for molecules,
and what symmetry says.
"""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from tests.unit.integrals.reference import Gaussian, repulsion

import fusewright as fw
from fusewright import integrals
from fusewright.integrals import classes
from fusewright.integrals.basis import Basis, radial_norm
from fusewright.integrals.harmonics import cartesian
from fusewright.integrals.operators import COULOMB, Operator, long_range, short_range
from fusewright.integrals.pairs import grouped
from fusewright.integrals.schwarz import bounds

OPERATORS = {
    "coulomb": (COULOMB, [(1.0, mpmath.inf)]),
    "long": (long_range(0.4), [(1.0, 0.4)]),
    "short": (short_range(0.4), [(1.0, mpmath.inf), (-1.0, 0.4)]),
    "mixed": (Operator(0.2, 0.8, 1.3), [(0.2, mpmath.inf), (0.8, 1.3)]),
}
ANGULAR = {0: math.sqrt(1 / (4 * math.pi)), 1: math.sqrt(3 / (4 * math.pi))}


def quartet(letters: str, seed: int, size: float, spread: float) -> Basis:
    """Four shells of one primitive each; far apart or near, tight or diffuse."""
    rng = np.random.default_rng(seed)
    exponents = 10 ** rng.uniform(-spread, spread, 4)
    places = size * rng.standard_normal((4, 3))
    return Basis.from_arrays(
        places, [(n, "spdfg".index(c), [exponents[n]], [1.0]) for n, c in enumerate(letters)],
        np.zeros(4), cartesian=True,
    )  # fmt: skip


def compare(basis: Basis, name: str) -> None:
    """A few components of the class; the error is against the Schwarz bound."""
    operator, parts = OPERATORS[name]
    ranges = [(n, n + 1) for n in range(4)]
    found = integrals.electron_repulsion(basis, ranges, operator)
    bra, ket = ([bounds(basis, g) for g in grouped(basis, [p])] for p in [(0, 1), (2, 3)])
    q = float(bra[0][0] * ket[0][0])
    rng = np.random.default_rng(1)
    for _ in range(3):
        place = tuple(int(rng.integers(size)) for size in found.shape)
        functions, norm = [], 1.0
        for shell, component in zip(basis.shells, place, strict=True):
            powers = cartesian(shell.l)[component]
            functions.append(Gaussian(shell.exponents[0], tuple(shell.centre), powers))
            norm *= float(shell.coefficients[0, 0]) * ANGULAR.get(shell.l, 1.0)
        expected = norm * float(repulsion(functions, parts))
        assert abs(found[place] - expected) <= 2e-14 * q


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("letters", ["ssss", "psss", "spps", "ppps", "dspp", "sdsp"])
def test_classes(letters: str, name: str) -> None:
    for seed, (size, spread) in enumerate([(1.0, 0.5), (0.0, 1.0), (1e-6, 3.0), (4.0, 2.0)]):
        compare(quartet(letters, seed, size, spread), name)


@pytest.mark.parametrize("letters", ["fsps", "gsss"])
def test_high_momenta(letters: str) -> None:
    compare(quartet(letters, 5, 1.0, 0.5), "coulomb")


@pytest.mark.parametrize("general", [False, True])
def test_pairs_about_a_point_between_their_shells(general: bool) -> None:
    """Harmonics of both parities, several contractions; kets of this kind: `test_fock`."""
    gto = pytest.importorskip("pyscf.gto")
    exponents = [[1.2, 0.4, 1.0], [0.5, 0.7, 0.0]] if general else [[1.2, 0.4], [0.5, 0.7]]
    basis = {"H": [[4, *exponents], [0, [0.9, 1.0]]], "He": [[3, [0.6, 1.0]], [0, [1.1, 1.0]]]}
    mol = gto.M(atom="H 0 0 0; He 0.3 0.9 -0.7", basis=basis, spin=1, verbose=0)
    made = Basis.from_pyscf(mol)
    letters = "".join("spdfg"[shell.l] for shell in made.shells)
    g, f, s = (letters.index(letter) for letter in "gfs")
    assert classes.is_centred(4, 3) and not classes.is_centred(4, 0)
    sides = [mol.intor("int2e", shls_slice=(m, m + 1, n, n + 1) * 2) for m, n in ((g, f), (s, s))]
    scale = math.sqrt(math.prod(np.abs(side).max() for side in sides))
    for numbers in ((g, f, s, s), (s, s, f, g)):
        ranges = [(n, n + 1) for n in numbers]
        expected = mol.intor("int2e", shls_slice=sum(ranges, ()))
        found = integrals.electron_repulsion(made, ranges)
        assert np.abs(found - expected).max() <= 1e-13 * scale


def water(basis: str = "6-31g*", **more: Any) -> Any:
    gto = pytest.importorskip("pyscf.gto")
    return gto.M(atom="O 0 0 .1; H .2 .9 .6; H 0 -.8 .55", basis=basis, verbose=0, **more)


def bound(mol: Any, basis: Basis) -> float:
    """The largest Schwarz bound, which is that of the largest integral."""
    return float(integrals.schwarz(basis).max() ** 2)


@pytest.mark.parametrize("cart", [False, True])
@pytest.mark.parametrize("omega", [0.0, 0.3, -0.3])
def test_libcint(cart: bool, omega: float) -> None:
    mol = water(cart=cart)
    basis = Basis.from_pyscf(mol)
    operator = {0.0: COULOMB, 0.3: long_range(0.3), -0.3: short_range(0.3)}[omega]
    shells = [(0, 3), (1, 4), (2, 6), (0, 5)]
    with mol.with_range_coulomb(omega):
        expected = mol.intor("int2e", shls_slice=sum(shells, ()))
    found = integrals.electron_repulsion(basis, shells, operator)
    assert np.abs(found - expected).max() <= 1e-13 * bound(mol, basis)


def test_general_contractions() -> None:
    """Two contractions of the same primitives in a shell."""
    mol = water("cc-pvdz")
    basis = Basis.from_pyscf(mol)
    assert max(shell.contractions for shell in basis.shells) > 1
    mol.basis = {"O": mol._basis["O"][:2], "H": mol._basis["H"]}  # s and p: few classes
    mol.build()
    basis = Basis.from_pyscf(mol)
    found = integrals.electron_repulsion(basis)
    assert np.abs(found - mol.intor("int2e")).max() <= 1e-13 * bound(mol, basis)


def test_fewer_centres() -> None:
    mol = water("sto-3g")
    auxiliary = water({"O": [[0, [1.3, 1]], [1, [0.8, 1]], [2, [0.6, 1]]], "H": [[0, [1.1, 1]]]})
    one, two = Basis.from_pyscf(mol), Basis.from_pyscf(auxiliary)
    found = integrals.two_centre(two)
    assert np.abs(found - auxiliary.intor("int2c2e")).max() <= 1e-13 * np.abs(found).max()
    both, n, m = mol + auxiliary, mol.nbas, auxiliary.nbas
    expected = both.intor("int3c2e", shls_slice=(0, n, 0, n, n, n + m))
    found = integrals.three_centre(one, two)
    assert np.abs(found - expected).max() <= 1e-13 * np.abs(expected).max()
    part = integrals.three_centre(one, two, [(1, 3), None, slice(1, 3)], long_range(0.5))
    with both.with_range_coulomb(0.5):
        expected = both.intor("int3c2e", shls_slice=(1, 3, 0, n, n + 1, n + 3))
    assert np.abs(part - expected).max() <= 1e-13


def shells(places: Any) -> Basis:
    exponents, coefficients = [3.0, 0.7, 0.2], [0.3, 0.5, 0.4]
    return Basis.from_arrays(
        places, [(0, 0, exponents, coefficients), (1, 1, [0.8, 0.3], [0.6, 0.5]),
                 (0, 1, [1.5], [1.0]), (1, 0, exponents, [[0.2, 0], [0.7, 0.1], [0.2, 1]])],
    )  # fmt: skip


PLACES = np.array([[0.1, -0.4, 0.3], [1.2, 0.5, -0.6]])


def test_permutations_and_ranges() -> None:
    basis = shells(PLACES)
    whole = integrals.electron_repulsion(basis)
    assert whole.shape == (9,) * 4
    for order in [(1, 0, 2, 3), (0, 1, 3, 2), (2, 3, 0, 1)]:
        assert np.abs(whole - whole.transpose(order)).max() <= 1e-14
    offsets = basis.offsets
    part = integrals.electron_repulsion(basis, [(1, 3), (0, 4), slice(2, None), (3, 3)])
    assert part.shape == (6, 9, offsets[4] - offsets[2], 0)
    part = integrals.electron_repulsion(basis, [(1, 3), (0, 2), (2, 4), (0, 1)])
    own = [slice(offsets[i], offsets[j]) for i, j in [(1, 3), (0, 2), (2, 4), (0, 1)]]
    np.testing.assert_allclose(part, whole[tuple(own)], atol=1e-15)


def test_translation_and_rotation() -> None:
    turn, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))
    whole = integrals.electron_repulsion(shells(PLACES))
    moved = integrals.electron_repulsion(shells(PLACES + np.array([3.0, -2.0, 5.0])))
    np.testing.assert_allclose(moved, whole, atol=1e-13)
    turned = integrals.electron_repulsion(shells(PLACES @ turn.T))
    p = slice(1, 4)  # the sum over a shell's functions in both places is invariant
    np.testing.assert_allclose(
        np.einsum("iijj->", turned[p, p, p, p]), np.einsum("iijj->", whole[p, p, p, p]), rtol=1e-13
    )


def test_bits_depend_on_neither_threads_nor_width() -> None:
    basis, found = shells(PLACES), set()
    for settings in ({"threads": 1}, {"threads": 2}, {"threads": 7}, {"features": "avx2"}):
        with fw.options(**settings):
            found.add(integrals.electron_repulsion(basis, operator=short_range(0.7)).tobytes())
    assert len(found) == 1


def test_an_empty_basis() -> None:
    empty = Basis(())
    assert integrals.electron_repulsion(empty).shape == (0, 0, 0, 0)
    assert integrals.two_centre(empty).shape == (0, 0)
    assert integrals.three_centre(shells(PLACES), empty).shape == (9, 9, 0)
    assert integrals.overlap(empty).shape == (0, 0)


def test_norms() -> None:
    basis = shells(PLACES)
    assert np.allclose(np.diag(integrals.overlap(basis)), 1.0)
    assert radial_norm(0, np.array([1.0]))[0] == pytest.approx(2 * (8 / np.pi) ** 0.25)


@pytest.mark.parametrize(("full", "long", "w"), [(1, 1, -0.1), (math.nan, 0, 1), (1, 0, math.inf)])
def test_refused_operators(full: float, long: float, w: float) -> None:
    with pytest.raises(ValueError, match="makes no sense"):
        Operator(full, long, w)


def test_refused_ranges() -> None:
    basis = shells(PLACES)
    for wrong, message in [
        ([(0, 1)], "4 ranges of shells are needed, not 1"),
        ([(0, 5), None, None, None], "shells 0 to 5 of 4"),
        ([slice(0, 4, 2), None, None, None], "the step 1"),
    ]:
        with pytest.raises(fw.FusewrightError, match=message):
            integrals.electron_repulsion(basis, wrong)
