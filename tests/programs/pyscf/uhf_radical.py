"""Unrestricted Hartree-Fock of a radical, and its spin."""

from pyscf import gto, scf

water = "O 0 0 0; H 0 0.76 0.59; H 0 -0.76 0.59"
mol = gto.M(atom=water, basis="sto-3g", charge=1, spin=1, verbose=0, max_memory=0)
mf = scf.UHF(mol)
print(mf.kernel(), mf.converged)
print(mf.spin_square()[0])
