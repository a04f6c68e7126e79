"""Compiles ahead what a molecule needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fusewright.integrals.basis import Basis
from fusewright.integrals.classes import code_of
from fusewright.integrals.costs import group_pairs
from fusewright.integrals.operators import COULOMB
from fusewright.integrals.packed import packed_repulsion
from fusewright.integrals.repulsion import kind_of


def warm(molecule: Any) -> int:
    """Compile all classes of a molecule (or of the molecule of a mean-field object), on disk for
    later processes too; how many there are.
    """
    basis = Basis.from_pyscf(getattr(molecule, "mol", molecule))
    kinds = {kind_of(bra, ket, basis, COULOMB) for bra, ket in group_pairs(basis)}
    for kind in sorted(kinds, key=lambda kind: (sum(kind.momenta), kind.momenta)):
        code_of(kind)
    packed_repulsion(replace(basis, shells=basis.shells[:1]))  # what puts integrals in their places
    return len(kinds)
