"""A geometry optimised by geomeTRIC; gradients are PySCF's."""

from pyscf import gto, scf
from pyscf.geomopt.geometric_solver import optimize

mol = gto.M(atom="H 0 0 0; F 0 0 1.0", basis="sto-3g", verbose=0, max_memory=0)
mf = scf.RHF(mol)
best = optimize(mf, maxsteps=10)
print(abs(best.atom_coords()[0] - best.atom_coords()[1]).max())
