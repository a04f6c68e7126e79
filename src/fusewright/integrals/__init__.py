"""Integrals over Gaussian functions, compiled from their recurrence relations.

basis = integrals.Basis.from_pyscf(mol)
eri = integrals.electron_repulsion(basis)
"""

from fusewright.integrals.basis import Basis as Basis
from fusewright.integrals.basis import Shell as Shell
from fusewright.integrals.fock import Fock as Fock
from fusewright.integrals.one_electron import dipole as dipole
from fusewright.integrals.one_electron import kinetic as kinetic
from fusewright.integrals.one_electron import multipoles as multipoles
from fusewright.integrals.one_electron import nuclear_attraction as nuclear_attraction
from fusewright.integrals.one_electron import overlap as overlap
from fusewright.integrals.one_electron import quadrupole as quadrupole
from fusewright.integrals.operators import Operator as Operator
from fusewright.integrals.operators import long_range as long_range
from fusewright.integrals.operators import short_range as short_range
from fusewright.integrals.repulsion import electron_repulsion as electron_repulsion
from fusewright.integrals.repulsion import three_centre as three_centre
from fusewright.integrals.repulsion import two_centre as two_centre
from fusewright.integrals.schwarz import schwarz as schwarz

__all__ = [
    "Basis", "Shell", "Operator", "long_range", "short_range",
    "Fock", "electron_repulsion", "three_centre", "two_centre", "schwarz",
    "overlap", "kinetic", "dipole", "quadrupole", "multipoles", "nuclear_attraction",
]  # fmt: skip
