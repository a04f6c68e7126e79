"""An object that goes to disk and comes back."""

import pickle

from pyscf import gto, scf

mol = gto.M(atom="C 0 0 0; O 0 0 1.13", basis="sto-3g", verbose=0)
first = scf.RHF(mol).run()
mf = pickle.loads(pickle.dumps(first))
print(first.e_tot, mf.e_tot, mf.kernel())
print(type(mf).__name__)
