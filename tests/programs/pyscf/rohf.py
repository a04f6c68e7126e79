"""Restricted open-shell Hartree-Fock."""

from pyscf import gto, scf

mol = gto.M(atom="O 0 0 0; H 0 0 0.97", basis="6-31g", spin=1, verbose=0, max_memory=0)
mf = scf.ROHF(mol)
print(mf.kernel(), mf.converged)
