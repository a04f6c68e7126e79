"""What every test of PySCF's objects needs; PySCF itself is imported where it is there."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def no_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """PySCF leaves it to the collector to close their files."""
    scf = pytest.importorskip("pyscf.scf")
    monkeypatch.setattr(scf.hf, "MUTE_CHKFILE", True)


@pytest.fixture(scope="module")
def water() -> Any:
    """A molecule."""
    from pyscf import gto
    from tests.bridges.pyscf.molecules import WATER

    return gto.M(atom=WATER, basis="6-31g", verbose=0)
