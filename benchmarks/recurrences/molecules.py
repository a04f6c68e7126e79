"""J and K of seeded random densities, and energies, against PySCF: 12 molecules in 8 basis sets.

    python benchmarks/recurrences/molecules.py [--seed N] [molecule ...]

Direct on both sides, `hermi` 0 (which symmetric and antisymmetric parts are in).  Small molecules
also run restricted Hartree-Fock, whose energies and numbers of cycles are compared.  Half an hour.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from direct import benzene, waters
from pyscf import gto, scf
from small import MOLECULES as SMALL

import fusewright as fw
import fusewright.bridges.pyscf as fp

BASES = (
    "sto-3g", "6-31g*", "6-31++g**", "def2-svp", "cc-pvdz", "aug-cc-pvdz", "def2-tzvp", "cc-pvtz"
)  # fmt: skip
MOLECULES: dict[str, Any] = {
    "He": "He 0 0 0", "H2": "H 0 0 0; H 0 0 .74", "HF": "H 0 0 0; F 0 0 .92",
    "H2O": SMALL[0], "HCN": SMALL[3], "NH3": SMALL[1], "CO2": SMALL[4], "H2O2": SMALL[6],
    "HCl": "H 0 0 0; Cl 0 0 1.28", "CH3OH": SMALL[9], "C6H6": benzene(), "(H2O)8": waters(),
}  # fmt: skip
MOST_FUNCTIONS = 60
"""Up to which a molecule runs Hartree-Fock."""


def row(name: str, basis: str, seed: int) -> str:
    """One molecule in one basis set."""
    mol = gto.M(atom=MOLECULES[name], basis=basis, verbose=0)
    dm = np.random.default_rng([seed, mol.nao]).standard_normal((mol.nao, mol.nao))
    with fw.options(strict=True):
        mine = fp.apply(scf.RHF(mol).set(max_memory=0)).get_jk(mol, dm, 0)
    theirs = scf.RHF(mol).set(max_memory=0).get_jk(mol, dm, 0)
    j, k = (float(np.abs(a - b).max()) for a, b in zip(mine, theirs, strict=True))
    assert max(j, k) < 1e-10, (name, basis, j, k)
    cells = ""
    if mol.nao <= MOST_FUNCTIONS:
        ours, plain = fp.apply(scf.RHF(mol).set(max_memory=0)), scf.RHF(mol).set(max_memory=0)
        with fw.options(strict=True):
            ours.kernel()
        difference = abs(ours.e_tot - plain.kernel())
        assert difference < 1e-9 and ours.cycles == plain.cycles, (name, basis, difference)
        cells = f"{difference:.0e} | {ours.cycles}"
    return f"| {name} | {basis} | {mol.nao} | {j:.0e} | {k:.0e} | {cells or ' | '} |"


def main() -> None:
    """Print a row for each pair; stops where they differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("names", nargs="*")
    chosen = parser.parse_args()
    scf.hf.MUTE_CHKFILE = True
    print(
        "| molecule | basis | functions | J | K | energy | cycles |\n|---|---|---|---|---|---|---|"
    )
    for name in chosen.names or MOLECULES:
        for basis in BASES:
            print(row(name, basis, chosen.seed), flush=True)


if __name__ == "__main__":
    main()
