"""A curve of energies."""

from pyscf import gto, scf

mol = gto.M(atom="N 0 0 0; N 0 0 1.1", basis="sto-3g", verbose=0, max_memory=0)
mf = scf.RHF(mol).as_scanner()
for distance in (1.0, 1.1, 1.3):
    print(mf(f"N 0 0 0; N 0 0 {distance}"))
