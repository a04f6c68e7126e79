"""Restricted Hartree-Fock, with the integrals kept in memory and without."""

from pyscf import gto, scf

mol = gto.M(atom="O 0 0 0; H 0 0.76 0.59; H 0 -0.76 0.59", basis="6-31g", verbose=0)
kept = scf.RHF(mol)
mf = scf.RHF(mol).set(max_memory=0)
for method in (kept, mf):
    print(method.kernel(), method.converged)
