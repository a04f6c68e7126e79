"""PySCF's mean-field objects with our electron-repulsion integrals.

    import fusewright.bridges.pyscf as fp
    mf = fp.apply(scf.RHF(mol))
    mf.kernel()
    print(fp.explain(mf))

Where PySCF keeps all integrals in memory, that array is ours; J and K of it, and everything else,
are PySCF's.
"""

from fusewright.bridges.pyscf.explanation import IntegralExplanation as IntegralExplanation
from fusewright.bridges.pyscf.explanation import explain as explain
from fusewright.bridges.pyscf.install import install as install
from fusewright.bridges.pyscf.install import uninstall as uninstall
from fusewright.bridges.pyscf.mean_field import apply as apply
from fusewright.bridges.pyscf.mean_field import undo as undo
from fusewright.bridges.pyscf.warm import warm as warm

__all__ = ["apply", "undo", "explain", "install", "uninstall", "warm", "IntegralExplanation"]
