"""Hybrid functionals: one range, long range and short range."""

from pyscf import dft, gto

mol = gto.M(atom="H 0 0 0; H 0 0 0.8", basis="6-31g", verbose=0, max_memory=0)
for xc in ("b3lyp", "wb97x", "hse06"):
    mf = dft.RKS(mol, xc=xc)
    mf.grids.level = 0
    print(mf.kernel(), mf.converged)
