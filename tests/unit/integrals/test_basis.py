"""Basis sets: what is taken, what is refused and how it is named."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright import integrals
from fusewright.integrals.basis import Basis, Shell

TWO = [[0.0, 0, 0], [0, 0, 1.4]]


@pytest.mark.parametrize(
    ("atoms", "shells", "message"),
    [
        (TWO, [(0, 0, [1.0], [1.0]), (1, 1, [0.5, -1.0], [1.0, 1.0])],
         r"shell 1 \(l = 1, atom 1\) has the exponent -1.0"),
        (TWO, [(0, 0, [0.0], [1.0])], "has the exponent 0.0"),
        (TWO, [(0, 0, [math.inf], [1.0])], "has the exponent inf"),
        (TWO, [(0, 0, [math.nan], [1.0])], "has the exponent nan"),
        (TWO, [(0, 0, [1.0], [math.nan])], "has a coefficient that is not finite"),
        (TWO, [(0, 0, [], [])], "has no primitives"),
        (TWO, [(2, 0, [1.0], [1.0])], "shell 0 is at atom 2 of 2"),
        (TWO, [(0, 0, [1.0], [0.0])], r"shell 0 .* has the norm 0 in its contraction 0"),
        (TWO, [(0, -1, [1.0], [1.0])], "negative angular momentum"),
        ([[0.0, 0, math.nan]], [(0, 0, [1.0], [1.0])], r"shell 0 \(l = 0, atom 0\) is at"),
        ([[0.0, 0, 0]] * 2, [(0, 0, [1.0], [1.0]), (1, 0, [1.0], [1.0])],
         r"atom 1 \(shells 1 to 1\) is where atom 0 is"),
    ],
)  # fmt: skip
def test_refused(atoms: Any, shells: Any, message: str) -> None:
    with pytest.raises(fw.FusewrightError, match=message) as raised:
        Basis.from_arrays(atoms, shells)
    assert isinstance(raised.value, ValueError)


def test_momenta_that_do_not_exist() -> None:
    with pytest.raises(
        NotImplementedError, match=r"shell 1 \(l = 5, atom 1\) has functions above g"
    ):
        Basis.from_arrays(TWO, [(0, 0, [1.0], [1.0]), (1, 5, [1.0], [1.0])])


def test_h_shells_behind_an_option() -> None:
    shells = [(0, 0, [1.0], [1.0]), (1, 5, [1.0], [1.0])]
    with pytest.raises(NotImplementedError) as caught:
        Basis.from_arrays(TWO, shells)
    assert 'fw.options(shells="h") has them' in caught.value.help
    with fw.options(shells="h"):
        basis = Basis.from_arrays(TWO, shells)
        with pytest.raises(NotImplementedError, match=r"l = 6.* has functions above h") as caught:
            Basis.from_arrays(TWO, [(0, 6, [1.0], [1.0])])
    assert "leave these functions out" in caught.value.help
    assert integrals.overlap(basis).shape == (12, 12)  # what is made stays of use


def test_ghosts_may_be_where_atoms_are() -> None:
    shells = [(0, 0, [1.0], [1.0]), (1, 0, [2.0], [1.0])]
    basis = Basis.from_arrays([[0.0, 0, 0]] * 2, shells, charges=[1.0, 0.0])
    assert integrals.overlap(basis).shape == (2, 2)
    with pytest.raises(ValueError, match="is where atom 0 is"):
        Basis.from_arrays([[0.0, 0, 0]] * 2, shells, charges=[1.0, 1.0])


def test_shapes_of_a_bare_shell() -> None:
    wrong = Shell(0, np.zeros(3), np.ones(2), np.ones((3, 1)))
    with pytest.raises(ValueError, match="2 exponents and coefficients of the shape"):
        Basis((wrong,))


def test_from_arrays_is_from_pyscf() -> None:
    gto = pytest.importorskip("pyscf.gto")
    mol = gto.M(atom="O 0 0 .1; H .2 .9 .6; H 0 -.8 .55", basis="cc-pvdz", verbose=0)
    theirs = Basis.from_pyscf(mol)
    shells = []
    for atom in range(mol.natm):
        for l, *rows in mol._basis[mol.atom_symbol(atom)]:  # noqa: E741
            table = np.array(rows)
            shells.append((atom, l, table[:, 0], table[:, 1:]))
    ours = Basis.from_arrays(mol.atom_coords(), shells, mol.atom_charges())
    assert np.array_equal(ours.offsets, theirs.offsets)
    assert theirs.offsets[-1] == mol.nao
    for one, two in zip(ours.shells, theirs.shells, strict=True):
        assert np.array_equal(one.centre, two.centre)
        order = [np.argsort(each.exponents) for each in (one, two)]
        np.testing.assert_allclose(one.exponents[order[0]], two.exponents[order[1]])
        np.testing.assert_allclose(
            one.coefficients[order[0]], two.coefficients[order[1]], rtol=1e-12
        )


SHELL = (0, 0, [1.0], [1.0])


@pytest.mark.parametrize(
    ("atoms", "shells", "charges", "error", "message"),
    [
        (TWO, [(0, 1.5, [1.0], [1.0])], None, TypeError, "momentum of shell 0 is 1.5, not an int"),
        (TWO, [(0.0, 1, [1.0], [1.0])], None, TypeError, "the atom of shell 0 is 0.0"),
        (TWO, [(0, 0, [1.0])], None, TypeError, r"shell 0 is \(0, 0, \[1.0\]\)"),
        (TWO, [7], None, TypeError, "shell 0 is 7"),
        (
            TWO,
            [(0, 0, [1j], [1.0])],
            None,
            TypeError,
            "exponents of shell 0 have elements",
        ),
        (
            TWO,
            [(0, 0, ["a"], [1.0])],
            None,
            TypeError,
            "exponents of shell 0 have elements",
        ),
        (TWO, [(0, 0, [1.0], [1j])], None, TypeError, "the coefficients of shell 0"),
        (np.zeros((3, 4)), [SHELL], None, ValueError, r"places of atoms have the shape \(3, 4\)"),
        (
            np.array(TWO) * 1j,
            [SHELL],
            None,
            TypeError,
            "places of atoms have elements",
        ),
        (TWO, [SHELL], [1j, 0], TypeError, "charges have elements of type complex"),
    ],
)
def test_what_is_no_basis(atoms: Any, shells: Any, charges: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message) as raised:
        Basis.from_arrays(atoms, shells, charges)
    assert isinstance(raised.value, fw.FusewrightError)


def made() -> Basis:
    return Basis.from_arrays(TWO, [SHELL, (1, 1, [0.8], [1.0])], [1.0, 1.0])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda b: integrals.dipole(b, [1, 2]), ValueError, "origin are"),
        (lambda b: integrals.dipole(b, [math.nan, 0, 0]), ValueError, "origin are"),
        (lambda b: integrals.multipoles(b, 1.5), TypeError, "the order of multipoles is 1.5"),
        (lambda b: integrals.nuclear_attraction(b, [1.0], np.zeros((3, 1))), ValueError, "shape"),
        (lambda b: integrals.nuclear_attraction(b, [1j, 0]), TypeError, "complex128"),
        (lambda b: integrals.electron_repulsion(b, operator="erf"), TypeError, "the operator is"),
        (lambda b: integrals.schwarz(b, 0.3), TypeError, "the operator is 0.3"),
        (
            lambda b: integrals.electron_repulsion(b, (0, 1, 0, 1)),
            TypeError,
            "of shells is 0",
        ),
        (lambda b: integrals.two_centre(b, ((0, 1.0), None)), TypeError, "not an integer"),
        (lambda b: integrals.Fock(b, "erf"), TypeError, "the operator is 'erf'"),
        (lambda b: integrals.Fock(b, tolerance=math.nan), ValueError, "the tolerance is nan"),
        (lambda b: integrals.Fock(b, tolerance=-1.0), ValueError, "the tolerance is -1.0"),
        (lambda b: integrals.Fock(b).matrices(np.eye(4) * 1j), TypeError, "matrices of complex128"),
        (lambda b: integrals.Fock(b).matrices(np.eye(3)), ValueError, r"\(3, 3\), for 4 functions"),
        (lambda b: integrals.Fock(b).matrices(np.eye(5)), ValueError, r"\(5, 5\), for 4 functions"),
        (lambda b: integrals.Fock(b).matrices(np.eye(4)[0]), ValueError, r"the shape \(4,\)"),
        (lambda b: integrals.Fock(b).matrices(np.eye(4), 3), ValueError, "hermi is 3"),
        (lambda b: integrals.electron_repulsion(b, 3), TypeError, "ranges of shells are 3"),
        (lambda b: integrals.long_range("a"), TypeError, "made of numbers, not of 'a'"),
        (lambda b: integrals.short_range(None), TypeError, "not of None"),
        (lambda b: integrals.three_centre(b, None), TypeError, "the basis is None"),
        (lambda b: Basis.from_arrays(TWO, 3), TypeError, "shells are 3, not a sequence"),
        (lambda b: Basis.from_pyscf(None), TypeError, "None is no molecule of PySCF"),
        (lambda b: Basis.from_pyscf(b), TypeError, "of the class Basis is no molecule of PySCF"),
    ],
)
def test_what_is_no_argument(call: Any, error: Any, message: str) -> None:
    """It was read as something else, or not looked at: a complex density lost its imaginary part, a
    tolerance that is not a number left everything out.
    """
    with pytest.raises(error, match=message) as raised:
        call(made())
    assert isinstance(raised.value, fw.FusewrightError)


@pytest.mark.parametrize("function", [
    integrals.overlap, integrals.kinetic, integrals.dipole, integrals.nuclear_attraction,
    integrals.electron_repulsion, integrals.two_centre, integrals.schwarz, integrals.Fock,
])  # fmt: skip
@pytest.mark.parametrize("wrong", [None, "sto-3g", np.eye(3)])
def test_what_is_no_basis_of_ours(function: Any, wrong: Any) -> None:
    with pytest.raises(fw.FusewrightError, match="the basis is") as raised:
        function(wrong)
    assert isinstance(raised.value, TypeError)


@pytest.mark.parametrize("exponent", [1e-300, 1e308])
def test_exponents_of_no_norm(exponent: float) -> None:
    with pytest.raises(ValueError, match=r"shell 1 \(l = 0, atom 0\) has the norm"):
        Basis.from_arrays(TWO, [SHELL, (0, 0, [exponent], [1.0])])


def test_a_molecule_that_is_not_built() -> None:
    gto = pytest.importorskip("pyscf.gto")
    mol = gto.Mole(atom="H 0 0 0; H 0 0 1", basis="sto-3g", verbose=0)
    with pytest.raises(fw.FusewrightError, match="the molecule is not built"):
        Basis.from_pyscf(mol)
    assert len(Basis.from_pyscf(mol.build()).shells) == 2


def test_the_long_range_of_everything() -> None:
    """erf(w r)/r is 1/r as w grows, also where w has no square."""
    whole = integrals.electron_repulsion(made())
    for w in (1e20, 1e160, 1e308):
        found = integrals.electron_repulsion(made(), operator=integrals.long_range(w))
        np.testing.assert_allclose(found, whole, rtol=1e-14, atol=1e-15)


def test_matrices_of_a_pickled_fock() -> None:
    for more in ((), (integrals.long_range(0.3),)):
        fock = integrals.Fock(made(), integrals.Operator(), 1e-12, *more)
        again = pickle.loads(pickle.dumps(fock))
        assert (again.operators, again.tolerance) == (fock.operators, 1e-12)
        for one, two in zip(again.matrices(np.eye(4)), fock.matrices(np.eye(4)), strict=True):
            np.testing.assert_array_equal(one, two)
