"""What is compiled ahead: for a molecule, a functional, a basis set."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyscf")

from pyscf import dft, gto, scf

import fusewright as fw
import fusewright.bridges.pyscf as fp


def test_what_a_functional_needs_is_compiled_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """1/r; with a range also that range alone, and both in one pass."""
    compiled: list[Any] = []
    monkeypatch.setattr(import_module("fusewright.bridges.pyscf.warm"), "code_of", compiled.append)
    mol = gto.M(atom="He 0 0 0", basis="sto-3g", verbose=0)
    full, mixed, far = ((False,),), ((False, True),), ((True,),)
    cases: list[tuple[Any, dict[str, Any], set[Any]]] = [
        (mol, {}, {full}), (scf.RHF(mol), {}, {full}), (dft.RKS(mol, xc="b3lyp"), {}, {full}),
        (dft.RKS(mol, xc="wb97x"), {}, {full, far, full + far}),
        (fp.apply(dft.UKS(mol, xc="camb3lyp")), {}, {full, far, full + far}),
        (dft.RKS(mol, xc="hse06"), {}, {full, mixed, full + mixed}),
        (mol, {"range_separated": "long"}, {full, far, full + far}),
        (mol, {"range_separated": True}, {full, far, full + far, mixed, full + mixed}),
        (dft.RKS(mol, xc="hse06"), {"range_separated": False}, {full}),
    ]  # fmt: skip
    for given, how, expected in cases:
        compiled.clear()
        assert fp.warm(given, **how) == len(expected)
        assert {kind.parts for kind in compiled} == expected
    with pytest.raises(fw.FusewrightError, match="range_separated is 'near'"):
        fp.warm(mol, range_separated="near")
    with pytest.raises(fw.FusewrightError, match="is no molecule of PySCF"):
        fp.warm("water")


def test_after_warming_nothing_of_a_functional_is_missing(tmp_path: Path) -> None:
    """A first calculation, and TDA of it, are ours: what they need is what was compiled."""
    program = tmp_path / "program.py"
    program.write_text(
        "from pyscf import dft, gto, lib\n"
        "import fusewright as fw, fusewright.bridges.pyscf as fp\n"
        "lib.num_threads(1)\n"
        "from fusewright.integrals import classes\n"
        "mol = gto.M(atom='He 0 0 0; He 0 0 3', basis='6-31g', verbose=0, max_memory=0)\n"
        "mf = fp.apply(dft.RKS(mol, xc='hse06'))\n"
        "mf.grids.level = 0\n"
        "fp.warm(mf)\n"
        "def none(lanes): raise AssertionError('compiled late')\n"
        "classes.listed = none\n"
        "with fw.options(strict=True):\n"
        "    mf.run().TDA().run(nstates=1)\n"
    )
    env = {**os.environ, "FUSEWRIGHT_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run([sys.executable, str(program)], check=True, env=env)
