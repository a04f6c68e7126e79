"""PySCF's mean-field objects with our integrals: `fp.apply(mf)`, then the program as it was.

Needs `pip install "fusewright[pyscf]"`.
"""

from importlib.util import find_spec
from typing import Any

import fusewright as fw


def energies() -> None:
    """Hartree-Fock for water, by PySCF and with our integrals."""
    from pyscf import gto, scf

    import fusewright.bridges.pyscf as fp

    molecule: Any = gto.M(atom="O 0 0 0; H 0 0.76 0.59; H 0 -0.76 0.59", basis="6-31g", verbose=0)
    theirs: float = scf.RHF(molecule).kernel()

    mf: Any = fp.apply(scf.RHF(molecule))  # the same object, still called RHF
    mf.kernel()
    print(fp.explain(mf))  # for so small a molecule PySCF's integrals are the faster ones

    fp.warm(molecule)  # compiles the classes of integrals; they are kept on disk
    with fw.options(strict=True):  # ours in any case, or an error that says why not
        ours: float = mf.reset().kernel()
    print(fp.explain(mf))
    assert abs(ours - theirs) < 1e-9
    print(f"PySCF {theirs:.9f}, with our integrals {ours:.9f} hartree")


if find_spec("pyscf") is None:
    print("PySCF is not installed: pip install 'fusewright[pyscf]'")
else:
    energies()
