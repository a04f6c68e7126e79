"""Excitations of singlets and triplets, by the Tamm-Dancoff approximation and without."""

from pyscf import gto, scf, tdscf

mol = gto.M(atom="B 0 0 0; H 0 0 1.23", basis="sto-3g", verbose=0, max_memory=0)
mf = scf.RHF(mol).run()
for singlet in (True, False):
    print(*tdscf.TDA(mf).set(singlet=singlet, nstates=2, conv_tol=1e-10).run().e)
print(*tdscf.TDHF(mf).set(nstates=2, conv_tol=1e-10).run().e)
