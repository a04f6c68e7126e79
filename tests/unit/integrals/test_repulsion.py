"""Electron-repulsion integrals: against mpmath for single functions, against libcint for molecules,
and what symmetry says.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.unit.integrals.against_libcint import difference
from tests.unit.integrals.precision import Case, bound_of, cases, error

import fusewright as fw
from fusewright import integrals
from fusewright.integrals import classes, pairs
from fusewright.integrals.basis import Basis, Shell, radial_norm
from fusewright.integrals.harmonics import spherical
from fusewright.integrals.operators import COULOMB, Operator, long_range, short_range
from fusewright.integrals.pairs import grouped


@pytest.mark.parametrize(
    "letters", ["ssss", "psss", "psps", "ppps", "dspp", "dsds", "dpps", "fsps", "gsss"]
)
def test_against_mpmath(letters: str) -> None:
    """The short form of `precision`, with another seed."""
    for case in cases(letters, 100, 8):
        assert error(case, 2) <= 1e-14, case.name


@pytest.mark.parametrize("letters", ["hsss", "hsps"])
def test_h_against_mpmath(letters: str) -> None:
    with fw.options(shells="h"):
        for case in cases(letters, 100, 8):
            assert error(case, 2) <= 1e-14, case.name


@pytest.mark.parametrize(
    "letters", ["ppps", "dpdp", "fsds", "ddds", "fpps", "gsps", "gpss", "gsgs", "ggss"]
)
def test_classes_against_libcint(letters: str) -> None:
    """The short form of `against_libcint`, with another seed."""
    pytest.importorskip("pyscf")
    assert difference(letters, 100) <= 1e-13


@pytest.mark.parametrize("letters", ["hsss", "hpss", "hsds", "hshs"])
def test_h_against_libcint(letters: str) -> None:
    pytest.importorskip("pyscf")
    with fw.options(shells="h"):
        assert difference(letters, 100) <= 1e-13


def test_contractions_of_tight_and_diffuse_primitives() -> None:
    """A tight one has a prefactor 10^25 times that of a diffuse one, and they matter alike."""
    *_, case = cases("gsfs", 0, 16)
    assert error(case) <= 1e-14


@pytest.mark.parametrize("letters", ["pppp", "dpdp", "dddd"])
def test_a_diffuse_shell_far_from_a_tight_one(
    letters: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The horizontal relation about the diffuse one, the first of a pair, would lose digits."""
    exponents = [0.02, 4e3] * 2 if letters == "dpdp" else [4e3, 0.02] * 2
    shells = [(n, "spdfg".index(c), [exponents[n]], [1.0]) for n, c in enumerate(letters)]
    places = [[0, 0, 0], [1.5, 2.0, -1.0], [1.4, 1.9, -0.9], [0.3, 0.1, 0.2]]
    basis = Basis.from_arrays(places, shells, np.zeros(4), cartesian=True)
    assert all(group.lossy for group in grouped(basis, [(1, 0), (3, 2)], careful=True))
    case = Case(basis, "coulomb", letters)
    bound = bound_of(case)
    assert error(case, 12, bound) <= 1e-14
    monkeypatch.setattr(pairs, "MOST_LOSS", math.inf)
    assert error(case, 12, bound) > 2e-14


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


def d_and_s(exponent: float, cartesian: bool) -> Basis:
    """A d shell and an s shell of one primitive there, and two shells elsewhere; bare functions."""
    one, two = np.array([0.1, -0.4, 0.3]), np.array([1.2, 0.5, -0.6])
    unit = np.ones((1, 1))
    return Basis(
        (Shell(2, one, np.array([exponent]), unit), Shell(0, one, np.array([exponent]), unit),
         Shell(1, two, np.array([0.8]), unit), Shell(2, two, np.array([0.5]), unit)),
        is_cartesian=cartesian,
    )  # fmt: skip


@pytest.mark.parametrize("operator", [COULOMB, long_range(0.4)])
def test_cartesian_is_spherical_and_an_s_component(operator: Operator) -> None:
    """Solid harmonics of Cartesian integrals are the spherical ones, and what d has beside them,
    xx + yy + zz, is minus the derivative of an s function by its exponent.
    """
    exponent, step = 0.9, 1e-4
    cartesian, harmonic = (
        integrals.electron_repulsion(d_and_s(exponent, kind), operator=operator)
        for kind in (True, False)
    )
    turn, row, column = np.zeros((14, 16)), 0, 0
    for momentum in (2, 0, 1, 2):
        block = spherical(momentum)
        rows, columns = block.shape
        turn[row : row + rows, column : column + columns] = block
        row, column = row + rows, column + columns
    turned = np.einsum("pi,qj,rk,sl,ijkl->pqrs", *(turn,) * 4, cartesian, optimize=True)
    assert np.abs(turned - harmonic).max() <= 1e-14 * np.abs(cartesian).max()
    round_part = cartesian[[0, 3, 5]].sum(axis=0)[7:, 7:, 7:]
    rest = [(1, 2), (2, 4), (2, 4), (2, 4)]
    more, less = (
        integrals.electron_repulsion(d_and_s(moved, True), rest, operator)[0]
        for moved in (exponent + step, exponent - step)
    )
    derivative = (more - less) / (2 * step) / math.sqrt(1 / (4 * math.pi))
    assert np.abs(round_part + derivative).max() <= 1e-7 * np.abs(derivative).max()


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
