"""Mean-field objects of PySCF with our integrals: same energies, and objects that stay PySCF's."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyscf")

from pyscf import dft, gto, lib, scf
from pyscf.pbc import dft as pbc_dft
from pyscf.pbc import gto as pbc_gto
from pyscf.pbc import scf as pbc
from tests.bridges.pyscf.molecules import PEROXIDE, S_AND_D, S_AND_G, WATER, converged, need_pickle

import fusewright as fw
import fusewright.bridges.pyscf as fp
from fusewright.base.errors import FusewrightError, StrictError
from fusewright.bridges.pyscf import compiling, in_core, names
from fusewright.bridges.pyscf.record import IN_CORE, JK, OURS, THEIRS
from fusewright.integrals.classes import QuartetClass
from fusewright.integrals.costs import Prediction
from fusewright.machine.integrals import LOADING
from fusewright.runtime import background


def ours(mf: Any) -> bool:
    return any(item.what == IN_CORE and item.by == OURS for item, _, _ in fp.explain(mf).rows)


def reasons(mf: Any) -> set[tuple[str, str]]:
    return {(item.what, item.why) for item, _, _ in fp.explain(mf).rows if item.by == THEIRS}


def rks(mol: Any) -> Any:
    return dft.RKS(mol, xc="b3lyp").set(grids=dft.Grids(mol).set(level=0))


CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "sto-3g": (scf.RHF, {"atom": PEROXIDE, "basis": "sto-3g"}),
    "6-31g*": (scf.RHF, {"atom": WATER, "basis": "6-31g*"}),
    "cc-pvdz": (scf.RHF, {"atom": WATER, "basis": "cc-pvdz"}),  # general contraction
    "def2-svp": (scf.RHF, {"atom": PEROXIDE, "basis": "def2-svp"}),
    "cartesian": (scf.RHF, {"atom": "H 0 0 0; H 0 0.5 1.3", "basis": S_AND_D, "cart": True}),
    "ghost": (scf.RHF, {"atom": WATER + "; ghost-O 0 0 3", "basis": "6-31g"}),
    "radical": (scf.UHF, {"atom": WATER, "charge": 1, "basis": "6-31g*", "spin": 1}),
    "open shell": (scf.ROHF, {"atom": WATER, "charge": 1, "basis": "6-31g", "spin": 1}),
    "g functions": (scf.RHF, {"atom": "He 0 0 0; He 0 0 1.1", "basis": S_AND_G}),
    "symmetry": (scf.RHF, {"atom": WATER, "basis": "6-31g", "symmetry": True}),
    "B3LYP": (rks, {"atom": WATER, "basis": "6-31g"}),
    "UKS": (lambda m: dft.UKS(m).set(grids=dft.Grids(m).set(level=0)),
            {"atom": WATER, "charge": 1, "basis": "6-31g", "spin": 1}),
    "ROKS": (lambda m: dft.ROKS(m).set(grids=dft.Grids(m).set(level=0)),
             {"atom": WATER, "charge": 1, "basis": "6-31g", "spin": 1}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_energy_cycles_and_matrices(case: str) -> None:
    make, molecule = CASES[case]
    mol = gto.M(**molecule, verbose=0)
    theirs, mf = make(mol), fp.apply(make(mol))
    expected, their_cycles = converged(theirs)
    with fw.options(strict=True):
        found, cycles = converged(mf)
    assert abs(found - expected) < 1e-9
    assert cycles == their_cycles > 0
    assert ours(mf)
    dm = np.random.default_rng(1).standard_normal((2, mol.nao, mol.nao))
    for hermi, matrices in ((0, dm), (1, dm + dm.swapaxes(1, 2))):
        for mine, their in zip(
            mf.get_jk(mol, matrices, hermi), theirs.get_jk(mol, matrices, hermi), strict=True
        ):
            assert np.abs(mine - their).max() < 1e-10


def test_the_class_keeps_its_name_and_is_applied_once(water: Any) -> None:
    mf = scf.RHF(water)
    once = fp.apply(mf)
    assert once is mf and fp.apply(mf) is mf
    assert type(mf).__name__ == "RHF" and isinstance(mf, scf.hf.RHF)
    assert type(fp.undo(mf)) is scf.hf.RHF
    assert fp.undo(scf.hf.RHF(water)).__class__ is scf.hf.RHF
    with pytest.raises(FusewrightError, match="is not a mean-field object"):
        fp.apply(water)


def pickled(mf: Any) -> Any:
    need_pickle()
    return pickle.loads(pickle.dumps(mf))


def copied_deeply(mf: Any) -> Any:
    need_pickle()
    return copy.deepcopy(mf)


@pytest.mark.parametrize("change", [
    lambda mf: mf.copy(), copy.copy, copied_deeply, lambda mf: mf.newton(), lambda mf: mf.x2c(),
    pickled, lambda mf: mf.reset(), lambda mf: fp.apply(fp.undo(mf)),
])  # fmt: skip
def test_survives(change: Any, water: Any) -> None:
    with fw.options(strict=True):
        mf = change(fp.apply(scf.RHF(water)))
        energy = mf.kernel()
    assert ours(mf)
    assert abs(energy - change(scf.RHF(water)).kernel()) < 1e-9


def test_scanner(water: Any) -> None:
    scan = fp.apply(scf.RHF(water)).as_scanner()
    moved = WATER.replace("0.76", "0.8")
    with fw.options(strict=True):
        found = [scan(WATER), scan(moved)]
    plain = scf.RHF(water).as_scanner()
    assert np.abs(np.subtract(found, [plain(WATER), plain(moved)])).max() < 1e-9
    rows = fp.explain(scan).rows
    assert [many for item, many, _ in rows if item.what == IN_CORE] == [2]


def test_density_fitting_is_passed_on(water: Any) -> None:
    fitted = fp.apply(scf.RHF(water)).density_fit()
    assert abs(fitted.kernel() - scf.RHF(water).density_fit().kernel()) < 1e-9
    assert "stands in front of ours" in str(fp.explain(fitted))


def test_what_is_pyscfs(water: Any) -> None:
    general = fp.apply(scf.GHF(water))
    assert abs(general.kernel() - scf.GHF(water).kernel()) < 1e-9
    assert (JK, "GHF has a get_jk of its own") in reasons(general)
    fitted = fp.apply(scf.RHF(water).density_fit())
    with fw.options(strict=True), pytest.raises(StrictError, match="DFRHF has a get_jk"):
        fitted.kernel()
    mf = fp.apply(scf.RHF(water).set(max_memory=0))
    for dm, why in (
        (np.eye(water.nao) + 0j, "the density matrix is complex"),
        (np.eye(2 * water.nao), f"the density matrix has the shape {(2 * int(water.nao),) * 2}"),
    ):
        with fw.options(strict=True), pytest.raises(StrictError) as caught:
            mf.get_jk(water, dm)
        assert caught.value.why == why
    with (
        water.with_range_coulomb(0.2),
        fw.options(strict=True),
        pytest.raises(StrictError) as caught,
    ):
        mf.get_jk(water, np.eye(water.nao))
    assert caught.value.why == "the molecule is set to omega = 0.2"


@pytest.mark.parametrize("made", [
    pbc.RHF, pbc.UHF, lambda cell: pbc_dft.RKS(cell, xc="pbe"),
    lambda cell: pbc_dft.RKS(cell, xc="hse06"),
    lambda cell: pbc.KRHF(cell, cell.make_kpts([1, 1, 2])),
    lambda cell: pbc_dft.KRKS(cell, cell.make_kpts([1, 1, 2]), xc="pbe0"),
])  # fmt: skip
def test_periodic_systems_are_pyscfs(made: Any) -> None:
    """Their `get_jk` has other arguments, and J and K of molecules are not theirs."""
    cell = pbc_gto.M(atom="He 0 0 0", basis="sto-3g", a=3 * np.eye(3), mesh=[15] * 3, verbose=0)
    mf = fp.apply(made(cell))
    assert abs(mf.kernel() - made(cell).kernel()) < 1e-9
    assert all("has a get_jk of its own" in why for _, why in reasons(mf)) and reasons(mf)
    assert not ours(mf)
    with fw.options(strict=True), pytest.raises(StrictError, match="of its own"):
        fp.apply(made(cell)).kernel()


def test_to_gpu_is_asked_of_pyscfs_object(water: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scf.hf.SCF, "to_gpu", lambda self: type(self), raising=False)
    monkeypatch.setattr(scf.hf.RHF, "to_gpu", lambda self: type(self), raising=False)
    assert fp.apply(scf.RHF(water)).to_gpu() is scf.hf.RHF


def test_shells_above_g(monkeypatch: pytest.MonkeyPatch) -> None:
    basis = {"H": gto.basis.parse("H S\n 1.0 1.0\nH H\n 1.0 1.0")}
    mol = gto.M(atom="H 0 0 0; H 0 0 1.4", basis=basis, verbose=0)
    monkeypatch.setattr(in_core, "too_small", lambda mol: "")
    mf = fp.apply(scf.RHF(mol))
    assert abs(mf.kernel() - scf.RHF(mol).kernel()) < 1e-9
    assert any("functions above g" in why for _, why in reasons(mf))
    with fw.options(strict=True), pytest.raises(StrictError, match="functions above g"):
        mf.reset().kernel()


def test_effective_core_potentials_stay_pyscfs() -> None:
    mol = gto.M(atom="Na 0 0 0; H 0 0 1.9", basis="lanl2dz", ecp={"Na": "lanl2dz"}, verbose=0)
    mf = fp.apply(scf.RHF(mol))
    with fw.options(strict=True):
        assert abs(mf.kernel() - scf.RHF(mol).kernel()) < 1e-9


def test_no_slower_one_is_taken(water: Any) -> None:
    mf = fp.apply(scf.RHF(water))
    with fw.options(threads=1):
        threads = lib.num_threads()
        try:
            lib.num_threads(1)
            mf.kernel()
        finally:
            lib.num_threads(threads)
    ((_, why),) = {pair for pair in reasons(mf) if pair[0] == IN_CORE}
    assert why.startswith("predicted ")
    classes = {item.what: many for item, many, _ in fp.explain(mf).rows}
    assert classes["(ss|ss)"] == 406


def test_installed(water: Any) -> None:
    before = scf.hf.SCF.__init__
    fp.install()
    fp.install()
    try:
        assert "call fp.apply" not in str(fp.explain(dft.UKS(water)))
        assert "call fp.apply" in str(fp.explain(scf.GHF(water)))
    finally:
        fp.uninstall()
    assert scf.hf.SCF.__init__ is before
    assert "call fp.apply" in str(fp.explain(scf.RHF(water)))


def test_missing_names_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(scf.hf, "dot_eri_dm")
    with pytest.raises(NotImplementedError, match=r"PySCF \d.*has no `pyscf.scf.hf.dot_eri_dm`"):
        names.check_names()


def test_nobody_asks_what_is_compiled_before_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "savings", [])
    part = 0.4 * LOADING
    assert [compiling.is_worth_asking(part) for _ in range(5)] == [False, False, True, True, True]


SMALL = """
import sys
from pyscf import gto, lib, scf
import fusewright.bridges.pyscf as fp
lib.num_threads(1)
mol = gto.M(atom="C 0 0 0; O 0 0 1.16; O 0 0 -1.16", basis="sto-3g", verbose=0)
mf = fp.apply(scf.RHF(mol))
mf.kernel()
assert "predicted to save" in str(fp.explain(mf)), fp.explain(mf)
print(sorted(name for name in sys.modules if name.startswith("fusewright.targets.cpu")))
"""


def test_a_small_molecule_loads_no_target() -> None:
    done = subprocess.run([sys.executable, "-c", SMALL], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_classes_are_compiled_once_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    submitted: list[Any] = []
    monkeypatch.setattr(compiling, "asked", set())
    monkeypatch.setattr(compiling, "spent", {})
    monkeypatch.setattr(background, "submit", submitted.append)
    missing = QuartetClass((1, 1, 1, 1), True, ((False,),), False)
    case = Prediction(0.1, 0.1, 2.0, 3.0, (missing,))
    with fw.options(background=False):
        assert in_core.slower(case, 1, 1).startswith("1 classes are not compiled")
    assert in_core.slower(case, 1, 1).startswith("1 classes are not compiled")
    assert not submitted
    for _ in range(2):  # 1.8 s twice is more than 3 s
        assert in_core.slower(case, 1, 1) == "1 classes are being compiled"
    assert [job.args for job in submitted] == [(missing,)]
    assert in_core.slower(case, 1, 20).startswith("predicted")
    dear = Prediction(0.1, 0.1, 4.0, 3.0, (missing,))
    assert in_core.slower(dear, 1, 1) == ""  # compiled at once


def test_a_program_as_it_is(tmp_path: Path) -> None:
    program = tmp_path / "water.py"
    program.write_text(
        "from pyscf import gto, scf\n"
        f"mf = scf.RHF(gto.M(atom='{WATER}', basis='sto-3g', verbose=0))\n"
        "print(type(mf).__mro__[1].__name__, f'{mf.kernel():.6f}')\n"
    )
    command = [sys.executable, "-m", "fusewright", "run", "--pyscf", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    energy = scf.RHF(gto.M(atom=WATER, basis="sto-3g", verbose=0)).kernel()
    assert done.stdout == f"OurIntegrals {energy:.6f}\n"
