"""A molecule with h functions, which are ours behind an option only."""

from pyscf import gto, scf

basis = {"H": gto.basis.parse("H S\n 1.0 1.0\nH H\n 1.0 1.0")}
mf = scf.RHF(gto.M(atom="H 0 0 0; H 0 0 1.4", basis=basis, verbose=0))
print(mf.kernel(), mf.converged)
