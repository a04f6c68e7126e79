"""Molecules of several tests; a basis of s and d functions; what older versions of PySCF lack."""

from __future__ import annotations

import io
import pickle
from typing import Any

import pytest
from pyscf import gto, scf

WATER = "O 0 0 0; H 0 0.76 0.59; H 0 -0.76 0.59"
PEROXIDE = "H 0.9 0.8 0.4; O 0 0.7 0; O 0 -0.7 0; H -0.9 -0.8 0.4"
S_AND_D = {"H": gto.basis.parse("H S\n 1.2 0.4\n 0.3 0.6\nH D\n 0.9 1.0")}

S_AND_G = {"He": gto.basis.parse("He S\n 3.1 0.6\n 0.7 0.5\nHe G\n 1.4 1.0")}


def converged(mf: Any) -> tuple[float, int]:
    """Energy and number of cycles; old versions do not keep it."""
    seen: list[Any] = []
    mf.callback = lambda names: seen.append(None)
    energy = float(mf.kernel())
    mf.callback = None
    return energy, len(seen)


def need_pickle() -> None:
    """Skip a test where PySCF's own objects cannot be pickled: their standard output stops that."""
    molecule = gto.M(atom="He 0 0 0", basis="sto-3g", verbose=0)
    molecule.stdout = io.TextIOWrapper(io.BytesIO())
    try:
        pickle.dumps(scf.RHF(molecule))
    except TypeError:
        pytest.skip("objects of this version of PySCF cannot be pickled")
