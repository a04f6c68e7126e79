"""Compiles ahead what molecules need."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyscf import gto

from fusewright.base.errors import ArgumentError, ValueRangeError
from fusewright.bridges.pyscf import ahead
from fusewright.integrals.basis import Basis
from fusewright.integrals.classes import code_of
from fusewright.integrals.fock_code import warm_digests
from fusewright.integrals.needed import classes_of
from fusewright.integrals.operators import COULOMB, Operator, long_range, short_range
from fusewright.integrals.packed import packed_repulsion

ELEMENTS = ("H", "C", "N", "O")


RANGES: dict[Any, tuple[Operator, ...]] = {
    False: (), True: (long_range(0.3), short_range(0.3)),
    "long": (long_range(0.3),), "short": (short_range(0.3),),
}  # fmt: skip
"""Operators beside 1/r, by what `range_separated` may be; the code does not depend on w."""


def warm(molecule: Any, range_separated: bool | str | None = None) -> int:
    """Compile all classes of a molecule, or of a mean-field object, on disk for later processes
    too; how many there are.

    `range_separated`: for functionals whose exact exchange is of "long" range (wB97X, CAM-B3LYP),
    of "short" range (HSE06), or True, both; left out, for the functional of the mean-field object.
    A range takes three times as many classes: 1/r; that range alone, for TDDFT and where integrals
    are in memory; and both operators in one pass, for the Fock matrices of direct calculations.
    """
    basis = Basis.from_pyscf(getattr(molecule, "mol", molecule))
    asked: list[tuple[Operator, ...]] = [(COULOMB,)]
    for each in _ranges(molecule, range_separated):
        asked += [(each,), (COULOMB, each)]
    kinds = [kind for operators in asked for kind in classes_of(basis, *operators)]
    for kind in kinds:
        code_of(kind)
    warm_digests(basis)
    packed_repulsion(replace(basis, shells=basis.shells[:1]))  # what puts integrals in their places
    return len(kinds)


def _ranges(molecule: Any, asked: bool | str | None) -> tuple[Operator, ...]:
    if asked is None:
        omega = ahead.omega_of(molecule)
        asked = "long" if omega > 0 else "short" if omega else False
    if asked not in RANGES:
        raise ValueRangeError(
            f"range_separated is {asked!r}", help='it can be "long", "short", True or False'
        )
    return RANGES[asked]


def warm_basis(
    name: str,
    elements: Sequence[str] = ELEMENTS,
    cartesian: bool = False,
    range_separated: bool | str = False,
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
