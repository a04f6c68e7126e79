"""Basis sets: what is taken, what is refused and how it is named."""

from __future__ import annotations

import math
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
        (TWO, [(0, 0, [1.0], [0.0])], "a contraction of a s shell is zero"),
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
