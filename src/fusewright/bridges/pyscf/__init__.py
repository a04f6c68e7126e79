"""PySCF's mean-field objects with our electron-repulsion integrals.

    import fusewright.bridges.pyscf as fp
    mf = fp.apply(scf.RHF(mol))
    mf.kernel()
    print(fp.explain(mf))

J and K are ours, from integrals that are evaluated and forgotten; or where all integrals are rather
kept in memory, that array is ours and J and K of it are PySCF's.  Everything else is PySCF's.
"""

from fusewright.bridges.pyscf.explanation import IntegralExplanation as IntegralExplanation
from fusewright.bridges.pyscf.explanation import explain as explain
from fusewright.bridges.pyscf.install import install as install
from fusewright.bridges.pyscf.install import uninstall as uninstall
from fusewright.bridges.pyscf.mean_field import apply as apply
from fusewright.bridges.pyscf.mean_field import undo as undo
from fusewright.bridges.pyscf.warm import warm as warm
from fusewright.bridges.pyscf.warm import warm_basis as warm_basis

__all__ = [
    "apply",
    "undo",
    "explain",
    "install",
    "uninstall",
    "warm",
    "warm_basis",
    "IntegralExplanation",
]
