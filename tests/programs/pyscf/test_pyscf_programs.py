"""Unmodified programs of PySCF: the same numbers with our integrals, and who made them."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyscf")

from pyscf import scf
from tests.bridges.pyscf.molecules import need_pickle

import fusewright as fw
import fusewright.bridges.pyscf as fp
from fusewright.bridges.pyscf.record import IN_CORE, JK, OURS, THEIRS

PROGRAMS = {
    "rhf": OURS, "uhf_radical": OURS, "rohf": OURS, "hybrids": OURS, "excitations": OURS,
    "newton": OURS, "optimization": OURS, "scan": OURS, "pickled": OURS, "functions": OURS,
    "high_momentum": THEIRS,
}  # fmt: skip
"""Who makes J and K; where it is us, everything that PySCF would make of them is an error."""
NEEDS = {"optimization": "geometric"}
HERE = Path(__file__).parent


def test_no_program_is_forgotten() -> None:
    found = {path.stem for path in HERE.glob("*.py")} - {Path(__file__).stem, "__init__"}
    assert found == set(PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_numbers(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    if name == "pickled":
        need_pickle()
    monkeypatch.setattr(scf.hf, "MUTE_CHKFILE", True)  # files that wait for the collector
    runpy.run_path(str(HERE / f"{name}.py"))
    expected = capsys.readouterr().out
    fp.install()
    try:
        with fw.options(strict=PROGRAMS[name] == OURS):
            names = runpy.run_path(str(HERE / f"{name}.py"))
    finally:
        fp.uninstall()
    found = capsys.readouterr().out
    assert [line.split() for line in found.splitlines()]
    for mine, theirs in zip(found.split(), expected.split(), strict=True):
        assert mine == theirs or abs(float(mine) - float(theirs)) < 1e-7
    assert _made_by(names["mf"]) == {PROGRAMS[name]}


def _made_by(mf: Any) -> set[str]:
    return {item.by for item, _, _ in fp.explain(mf).rows if item.what in (JK, IN_CORE)}
