"""A second-order method, with relativity in one component."""

from pyscf import gto, scf

mol = gto.M(atom="Ne 0 0 0; H 0 0 1.1", charge=1, basis="6-31g", verbose=0, max_memory=0)
mf = scf.RHF(mol).x2c().newton()
print(mf.kernel())
