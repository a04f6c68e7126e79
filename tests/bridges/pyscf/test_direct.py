"""Direct J and K: those of PySCF, for all that `get_jk` takes."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyscf")

from pyscf import ao2mo, dft, gto, lib, mp, scf
from tests.bridges.pyscf.molecules import PEROXIDE, S_AND_D, S_AND_G, WATER, converged, need_pickle

import fusewright as fw
import fusewright.bridges.pyscf as fp
from fusewright.base.errors import StrictError
from fusewright.bridges.pyscf import ahead, compiling, direct
from fusewright.bridges.pyscf.record import AHEAD, IN_CORE, JK, OURS, THEIRS, Geometry, PassedOn
from fusewright.integrals.fock import Fock
from fusewright.integrals.needed import classes_of
from fusewright.runtime import background


def applied(mf: Any) -> Any:
    """With no memory for integrals."""
    return fp.apply(mf.set(max_memory=0))


def by(mf: Any, whom: str, what: str = JK) -> int:
    rows = fp.explain(mf).rows
    return sum(many for item, many, _ in rows if item.what == what and item.by == whom)


MOLECULES: dict[str, dict[str, Any]] = {
    "one function": {"atom": "He 0 0 0", "basis": "sto-3g"},
    "sto-3g": {"atom": PEROXIDE, "basis": "sto-3g"},
    "6-31g*": {"atom": WATER, "basis": "6-31g*"},
    "general": {"atom": WATER, "basis": "cc-pvdz"},
    "diffuse": {"atom": PEROXIDE, "basis": "6-31++g"},
    "def2-svp": {"atom": PEROXIDE, "basis": "def2-svp"},
    "cartesian": {"atom": "H 0 0 0; H 0 0.5 1.3", "basis": S_AND_D, "cart": True},
    "far": {"atom": f"{WATER}; O 0 40 0; H 0 40.76 0.59; H 0 39.24 0.59", "basis": "6-31g"},
}


@pytest.mark.parametrize("name", MOLECULES)
def test_random_densities(name: str) -> None:
    mol = gto.M(**MOLECULES[name], verbose=0)
    mf, theirs = applied(scf.RHF(mol)), scf.RHF(mol).set(max_memory=0)
    dms = np.random.default_rng(mol.nao).standard_normal((3, mol.nao, mol.nao))
    turned = dms.swapaxes(1, 2)
    with fw.options(strict=True):
        for hermi, dm in ((0, dms), (1, dms + turned), (2, dms - turned), (1, dms[0] + turned[0])):
            for mine, their in zip(
                mf.get_jk(mol, dm, hermi), theirs.get_jk(mol, dm, hermi), strict=True
            ):
                assert mine.shape == their.shape
                assert np.abs(mine - their).max() < 1e-10
    assert by(mf, OURS) == 4 and not by(mf, THEIRS)


@pytest.mark.parametrize("omega", [0.0, 0.3, -0.11])
def test_parts_and_operators(omega: float, water: Any) -> None:
    mf, theirs = applied(scf.RHF(water)), scf.RHF(water).set(max_memory=0)
    dm = np.random.default_rng(5).standard_normal((2, water.nao, water.nao))
    dm += dm.swapaxes(1, 2)
    with fw.options(strict=True):
        for with_j, with_k in ((True, True), (True, False), (False, True)):
            mine = mf.get_jk(water, dm, 1, with_j, with_k, omega)
            their = theirs.get_jk(water, dm, 1, with_j, with_k, omega)
            for one, two, wanted in zip(mine, their, (with_j, with_k), strict=True):
                assert (one is not None) == wanted
                assert not wanted or np.abs(one - two).max() < 1e-10
        assert np.abs(mf.get_j(water, tuple(dm)) - theirs.get_j(water, dm)).max() < 1e-10


@pytest.mark.parametrize("hermi", [1, 2])
def test_a_matrix_that_is_not_as_claimed(hermi: int, water: Any) -> None:
    dm = np.random.default_rng(6).standard_normal((water.nao, water.nao))
    mf, theirs = applied(scf.RHF(water)), scf.RHF(water).set(max_memory=0)
    pairs = zip(mf.get_jk(water, dm, hermi), theirs.get_jk(water, dm, hermi), strict=True)
    assert all(np.abs(one - two).max() < 1e-12 for one, two in pairs)
    with (
        fw.options(strict=True),
        pytest.raises(StrictError, match=r"symmetric, as hermi = \d says"),
    ):
        mf.get_jk(water, dm, hermi)


def test_a_difference_is_as_symmetric_as_its_matrices() -> None:
    direct.check_matrices(np.array([[1e-12, 3e-13], [4e-13, -1e-12]]), 2, 1)
    with pytest.raises(PassedOn, match="not symmetric"):
        direct.check_matrices(np.array([[1.0, 1e-9], [2e-9, 1.0]]), 2, 1)


CASES: dict[str, Any] = {
    "UHF": (scf.UHF, {"charge": 1, "spin": 1}),
    "newton": (lambda mol: scf.RHF(mol).set(max_memory=0).newton(), {}),
    "g functions": (scf.RHF, {"atom": "He 0 0 0; He 0 0 1.1", "basis": S_AND_G}),
    "no screening": (lambda mol: scf.RHF(mol).set(direct_scf=False), {}),
}
"""Others are programs (`tests/programs/pyscf`)."""


@pytest.mark.parametrize("case", CASES)
def test_energies_and_cycles(case: str) -> None:
    make, molecule = CASES[case]
    mol = gto.M(**{"atom": WATER, "basis": "sto-3g", **molecule}, verbose=0)
    theirs, mf = make(mol).set(max_memory=0), applied(make(mol))
    expected, their_cycles = converged(theirs)
    with fw.options(strict=True):
        found, cycles = converged(mf)
    assert abs(found - expected) < 1e-9
    assert cycles == their_cycles > 0
    assert by(mf, OURS) and not by(mf, THEIRS)


def test_a_pickled_object(water: Any) -> None:
    need_pickle()
    with fw.options(strict=True):
        mf = applied(scf.RHF(water))
        energy = mf.kernel()
        again = pickle.loads(pickle.dumps(mf))
        assert abs(again.kernel() - energy) < 1e-9 and by(again, OURS)


def test_objects(water: Any) -> None:
    with fw.options(strict=True):
        mf = applied(scf.RHF(water))
        mf.kernel()
        scan = mf.as_scanner()
        moved = water.set_geom_(WATER.replace("0.76", "0.8"), inplace=False)
        plain = scf.RHF(water).set(max_memory=0).as_scanner()
        for mol in (moved, water):
            assert abs(scan(mol) - plain(mol)) < 1e-9
        assert not by(scan, THEIRS)
        assert abs(mf.reset(moved).kernel() - plain(moved)) < 1e-9
    assert abs(fp.undo(mf).kernel() - plain(moved)) < 1e-9
    fitted = mf.density_fit()
    fitted.kernel()
    assert "stands in front of ours" in str(fp.explain(fitted))


def test_the_faster_one_is_taken(water: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fp.warm(water)
    monkeypatch.setattr(direct, "check_size", lambda mol, fits: None)
    ours, theirs = [1.0], [0.5]
    monkeypatch.setattr(Fock, "seconds", lambda self, threads: ours[0])
    monkeypatch.setattr(Fock, "seconds_of_libcint", lambda self, threads: theirs[0])
    mf = applied(scf.RHF(water))
    mf.get_jk(water, np.eye(water.nao))
    assert by(mf, THEIRS) == 1
    assert "predicted 1.00 s, PySCF 500 ms" in str(fp.explain(mf))
    theirs[0] = 2.0
    mf.get_jk(water, np.eye(water.nao))
    assert by(mf, OURS) == 1
    kept = fp.apply(scf.RHF(water))  # 1 s ten times is more than integrals in memory
    kept.get_jk(water, np.eye(water.nao))
    assert not by(kept, OURS) and kept._eri is not None
    ours[0], theirs[0] = 1e-9, 1e-6
    forgotten = fp.apply(scf.RHF(water))
    forgotten.get_jk(water, np.eye(water.nao))
    assert by(forgotten, OURS) == 1 and not by(forgotten, OURS, IN_CORE)
    assert forgotten.__dict__["_eri"] is None


@pytest.mark.parametrize("second_order", [False, True])
def test_integrals_that_were_left_out_are_there_when_asked_for(
    second_order: bool, water: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scripts and post-SCF methods read `_eri`, which PySCF would have filled by then."""
    fp.warm(water)
    monkeypatch.setattr(direct, "check_size", lambda mol, fits: None)
    monkeypatch.setattr(direct, "worth", lambda fock: None)
    monkeypatch.setattr(direct, "prefers_memory", lambda geometry: False)
    mf = fp.apply(scf.RHF(water))
    mf = mf.newton() if second_order else mf
    assert mf._eri is None
    energy = mf.kernel()
    mf.get_veff(water, mf.make_rdm1())
    inner = getattr(mf, "_scf", mf)  # second-order methods read it themselves
    assert by(mf, OURS) and (inner.__dict__["_eri"] is not None) == second_order
    plain = scf.RHF(water).run()
    assert abs(energy - plain.e_tot) < 1e-9
    assert np.abs(inner._eri - plain._eri).max() < 1e-12
    expected = ao2mo.kernel(plain._eri, plain.mo_coeff)
    assert np.abs(np.abs(ao2mo.kernel(mf._eri, mf.mo_coeff)) - np.abs(expected)).max() < 1e-6
    assert abs(mp.MP2(mf).kernel()[0] - mp.MP2(plain).kernel()[0]) < 1e-8
    mf.reset(water.set_geom_(WATER.replace("0.76", "0.8"), inplace=False))
    assert inner._eri is None and fp.undo(inner)._eri is None
    assert applied(scf.RHF(water)).run()._eri is None  # PySCF has no memory for it, either


def copies_that_run(mf: Any) -> Any:
    """A copy at another geometry, which has left out its own integrals."""
    mf.copy().reset(mf.mol.set_geom_(WATER.replace("0.76", "0.8"), inplace=False)).kernel()
    return mf


COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": lambda mf: mf.copy(), "another": copies_that_run,
    "reset": lambda mf: mf.copy().reset(), "uhf": lambda mf: mf.to_uhf(),
    "rks": lambda mf: mf.to_rks("pbe"), "ghf": lambda mf: mf.to_ghf(),
    "gks": lambda mf: mf.to_gks("pbe"), "undo": fp.undo, "newton": lambda mf: mf.newton(),
}  # fmt: skip


@pytest.mark.parametrize("installed", [False, True])
@pytest.mark.parametrize("way", COPIES)
def test_copies_have_integrals_where_those_of_pyscf_do(
    way: str, installed: bool, water: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fp.warm(water)
    monkeypatch.setattr(direct, "check_size", lambda mol, fits: None)
    monkeypatch.setattr(direct, "worth", lambda fock: None)
    monkeypatch.setattr(direct, "prefers_memory", lambda geometry: False)
    expected = COPIES[way](scf.RHF(water).run())._eri
    if installed:
        fp.install()
    try:
        mf = fp.apply(scf.RHF(water)).run()
        found = COPIES[way](mf)._eri
    finally:
        fp.uninstall()
    assert by(mf, OURS)
    assert (found is None) == (expected is None)
    assert found is None or np.abs(found - expected).max() < 1e-12


def test_small_molecules_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> Any:
        raise AssertionError("pairs of a small molecule are made")

    monkeypatch.setattr(direct, "Fock", refuse)
    mol = gto.M(atom="H 0 0 0; H 0 0 0.74", basis="sto-3g", verbose=0)
    for mf in (fp.apply(scf.RHF(mol)), applied(scf.RHF(mol))):
        assert abs(mf.kernel() - scf.RHF(mol).kernel()) < 1e-12
        assert not by(mf, OURS)
    assert "predicted at least 1.00 ms, PySCF at most" in str(fp.explain(mf))


def test_pyscf_goes_on_while_classes_are_compiled(
    water: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[Any] = []
    monkeypatch.setattr(compiling, "asked", set())
    monkeypatch.setattr(compiling, "spent", {})
    monkeypatch.setattr(background, "submit", jobs.append)
    monkeypatch.setattr(
        compiling, "missing_of",
        lambda basis, operator: [] if len(jobs) > 9 else classes_of(basis, operator),
    )  # fmt: skip
    mf = applied(scf.RHF(water))
    plain = scf.RHF(water).set(max_memory=0).get_jk(water, np.eye(water.nao))[0]
    monkeypatch.setattr(compiling, "BUILDS", 10_000)
    monkeypatch.setattr(direct, "check_size", lambda mol, fits: None)
    j, _ = mf.get_jk(water, np.eye(water.nao))
    assert np.abs(j - plain).max() < 1e-12
    assert by(mf, THEIRS) == 1 and "6 classes are being compiled" in str(fp.explain(mf))
    assert len(jobs) == 6
    jobs += jobs
    monkeypatch.setattr(Fock, "seconds", lambda self, threads: 0.0)
    j, _ = mf.get_jk(water, np.eye(water.nao))
    assert by(mf, OURS) == 1 and np.abs(j - plain).max() < 1e-10


def test_geometries_are_kept_and_forgotten(water: Any) -> None:
    mf = applied(scf.RHF(water))
    record = mf._fusewright
    with fw.options(strict=True):
        first = direct.geometry_of(mf, water, None, record, False)
        assert direct.geometry_of(mf, water, 0, record, False) is first
        for omega in (0.1, 0.2, 0.3):
            assert isinstance(direct.geometry_of(mf, water, omega, record, False), Geometry)
        assert len(record.geometries) == direct.KEPT
        assert direct.geometry_of(mf, water, None, record, False) is not first


@pytest.mark.parametrize(("kind", "xc"), [("RKS", "wb97x"), ("UKS", "hse06")])
def test_both_ranges_in_one_pass(kind: str, xc: str) -> None:
    spin = int(kind != "RKS")
    mol = gto.M(atom="Li 0 0 0; H 0 0 1.6", basis="sto-3g", charge=spin, spin=spin, verbose=0)
    found = {}
    for mine in (True, False):
        mf = getattr(dft, kind)(mol, xc=xc).set(max_memory=0)
        mf.grids.level = 0
        with fw.options(strict=True):
            found[mine] = converged(applied(mf) if mine else mf)
        if mine:
            passes = found[mine][1] + 2
            asked = by(mf, OURS) - passes  # 1 where an old version asks otherwise, once
            assert by(mf, OURS, AHEAD) == passes and 0 <= asked <= 1
    assert found[True][1] == found[False][1]
    assert abs(found[True][0] - found[False][0]) < 1e-9


def test_what_was_not_expected_is_evaluated(water: Any) -> None:
    """K was made of a matrix, and is asked for of another one; J is asked for beside it."""
    mf = applied(dft.RKS(water, xc="wb97x"))
    dm, other = (np.eye(water.nao) + k for k in (0, 1))
    theirs = scf.RHF(water).set(max_memory=0)
    with fw.options(strict=True), ahead.expecting(mf, mf._fusewright, dm, None):
        mf.get_jk(water, dm)
        assert by(mf, OURS, AHEAD) == 1
        for matrix, with_j in ((other, False), (dm, True), (dm, False)):
            j, k = mf.get_jk(water, matrix, 1, with_j, True, 0.3)
            expected = theirs.get_jk(water, matrix, 1, with_j, True, 0.3)
            assert (j is None) != with_j and np.abs(k - expected[1]).max() < 1e-10
    assert by(mf, OURS) == 3 and mf._fusewright.expected is None


def test_threads_of_both_are_counted(water: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    monkeypatch.setattr(direct, "check_size", lambda mol, fits: None)
    monkeypatch.setattr(Fock, "seconds", lambda self, threads: float(not seen.append(threads)))
    before = lib.num_threads()
    try:
        lib.num_threads(1)
        with fw.options(threads=7):
            fp.warm(water)
            applied(scf.RHF(water)).get_jk(water, np.eye(water.nao))
    finally:
        lib.num_threads(before)
    assert set(seen) == {7}
