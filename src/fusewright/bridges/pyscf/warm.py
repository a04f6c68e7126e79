"""Compiles ahead what molecules need."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyscf import gto

from fusewright.base.errors import ArgumentError
from fusewright.integrals.basis import Basis
from fusewright.integrals.classes import code_of
from fusewright.integrals.fock_code import warm_digests
from fusewright.integrals.needed import classes_of
from fusewright.integrals.operators import COULOMB, Operator, long_range, short_range
from fusewright.integrals.packed import packed_repulsion

ELEMENTS = ("H", "C", "N", "O")


def warm(molecule: Any, range_separated: bool = False) -> int:
    """Compile all classes of a molecule (or of the molecule of a mean-field object), on disk for
    later processes too; how many there are.

    `range_separated`: those of erf(w r)/r and erfc(w r)/r as well, alone and beside 1/r.
    """
    basis = Basis.from_pyscf(getattr(molecule, "mol", molecule))
    asked: list[tuple[Operator, ...]] = [(COULOMB,)]
    if range_separated:
        ranges = (long_range(0.3), short_range(0.3))
        asked += [(*before, each) for each in ranges for before in ((), (COULOMB,))]
    kinds = [kind for operators in asked for kind in classes_of(basis, *operators)]
    for kind in kinds:
        code_of(kind)
    warm_digests(basis)
    packed_repulsion(replace(basis, shells=basis.shells[:1]))  # what puts integrals in their places
    return len(kinds)


def warm_basis(
    name: str,
    elements: Sequence[str] = ELEMENTS,
    cartesian: bool = False,
    range_separated: bool = False,
) -> int:
    """`warm` for all molecules of these elements in a basis set of PySCF, by name."""
    atoms = [(element, (0.0, 0.0, 10.0 * place)) for place, element in enumerate(elements)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where else the basis set might be found
            molecule = gto.M(atom=atoms, basis=name, spin=None, cart=cartesian, verbose=0)
    except (RuntimeError, KeyError) as error:  # what PySCF raises for names that it does not know
        raise ArgumentError(
            f"PySCF has no basis set {name!r} for {', '.join(elements)}", why=str(error).strip()
        ) from error
    return warm(molecule, range_separated)
