"""Cartesian functions, ghost atoms, and a core potential."""

from pyscf import gto, scf

heavy = gto.M(atom="I 0 0 0; H 0 0 1.6", basis="lanl2dz", ecp={"I": "lanl2dz"}, verbose=0)
ghosts = gto.M(atom="He 0 0 0; ghost-He 0 0 1.5", basis="6-31g", verbose=0)
s_and_d = {"H": gto.basis.parse("H S\n 1.2 0.4\n 0.3 0.6\nH D\n 0.9 1.0")}
cartesian = gto.M(atom="H 0 0 0; H 0 0.5 1.3", basis=s_and_d, cart=True, verbose=0)
for mol in (heavy, ghosts, cartesian):
    mf = scf.RHF(mol).set(max_memory=0)
    print(mf.kernel(), mf.converged)
