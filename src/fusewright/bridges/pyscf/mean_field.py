"""A mean-field object whose class has ours in front of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from pyscf import gto, lib
from pyscf.scf import hf, uhf

from fusewright.base.errors import ArgumentError, StrictError
from fusewright.base.options import current
from fusewright.bridges.pyscf import ahead, direct, in_core
from fusewright.bridges.pyscf.names import check_names
from fusewright.bridges.pyscf.record import (
    JK,
    THEIRS,
    Evaluated,
    Geometry,
    IntegralRecord,
    PassedOn,
)

SERVED = (hf.RHF.get_jk, uhf.UHF.get_jk)
"""The methods that keep the integrals in `_eri`: those of RHF, ROHF, UHF and of Kohn-Sham."""


LEFT_OUT = "_fusewright_left_out"
"""Attribute of an object: the molecule whose integrals PySCF would have in `_eri` by now, and J and
K were made without.  It is copied, and forgotten, where `_eri` is.
"""


class OurIntegrals:
    """In front of a class of PySCF: makes J and K, or fills `_eri` before PySCF would."""

    __name_mixin__ = ""
    mol: Any
    make_rdm1: Any
    _is_mem_enough: Any

    @property
    def _eri(self) -> Any:
        """All integrals, or None.  Where PySCF would have kept them in memory and J and K were made
        without, they are made when a program asks, as post-SCF methods and many scripts do.
        """
        held = self.__dict__.get("_eri")
        if held is None and is_left_out(self) and not record_of(self).depth:
            held = self.__dict__["_eri"] = in_core.integrals(self.mol, record_of(self))
        return held

    @_eri.setter
    def _eri(self, values: Any) -> None:
        self.__dict__["_eri"], self.__dict__[LEFT_OUT] = values, None

    def get_jk(self, *arguments: Any, **keywords: Any) -> Any:
        """J and K as PySCF defines them; see its documentation of this method."""
        if following_jk(type(self)) in SERVED:
            return self._fusewright_jk(*arguments, **keywords)
        # That of a periodic system, among others, has other arguments.
        following: Any = super()
        why = f"{type(self).__name__} has a get_jk of its own"
        return passed_on(self, why, following.get_jk, *arguments, **keywords)

    def _fusewright_jk(
        self, mol: Any = None, dm: Any = None, hermi: int = 1, with_j: bool = True,
        with_k: bool = True, omega: Any = None,
    ) -> Any:  # fmt: skip
        mol = self.mol if mol is None else mol
        following: Any = super()
        if self.__dict__.get("_eri") is not None and not omega:
            return following.get_jk(mol, dm, hermi, with_j, with_k, omega)
        record, dm = record_of(self), self.make_rdm1() if dm is None else dm
        fits = not omega and (mol.incore_anyway or self._is_mem_enough())
        found = ahead.answered(record, dm, omega, with_j)
        if found is not None:
            return None, found
        try:
            check_served(mol, dm, hermi)
            geometry = direct_geometry(self, mol, omega, record, fits)
            if geometry is not None:
                if not omega:
                    self.__dict__[LEFT_OUT] = direct.molecule_key(mol) if fits else None
                more = None if omega else ahead.next_question(record, np.asarray(dm))
                if more is not None:
                    both = direct.geometry_of(self, mol, omega, record, fits, more[0])
                    return direct.get_jk(both.fock, dm, hermi, with_j, with_k, record, more[1])
                return direct.get_jk(geometry.fock, dm, hermi, with_j, with_k, record)
            self._eri = in_core.integrals(mol, record)
            return following.get_jk(mol, dm, hermi, with_j, with_k, omega)
        except PassedOn as reason:
            why = str(reason)
        return passed_on(self, why, following.get_jk, mol, dm, hermi, with_j, with_k, omega)

    def get_veff(self, *arguments: Any, **keywords: Any) -> Any:
        """PySCF's; what it asks of a range-separated functional is answered by one pass."""
        following: Any = super()
        with record_of(self):
            if "xc" not in self.__dict__:
                return following.get_veff(*arguments, **keywords)
            known = {**dict(zip(("mol", "dm", "dm_last"), arguments, strict=False)), **keywords}
            with ahead.expecting(self, record_of(self), known.get("dm"), known.get("dm_last")):
                return following.get_veff(*arguments, **keywords)

    def to_ghf(self, *arguments: Any, **keywords: Any) -> Any:
        """PySCF's object, with all that it would have copied."""
        following: Any = super()
        return with_integrals(self, following.to_ghf)(*arguments, **keywords)

    def to_gks(self, *arguments: Any, **keywords: Any) -> Any:
        """PySCF's object, with all that it would have copied."""
        following: Any = super()
        return with_integrals(self, following.to_gks)(*arguments, **keywords)

    def _transfer_attrs_(self, dst: Any) -> Any:
        following: Any = super()
        if isinstance(dst, OurIntegrals):
            return following._transfer_attrs_(dst)
        return with_integrals(self, following._transfer_attrs_)(dst)

    def to_gpu(self, *arguments: Any, **keywords: Any) -> Any:
        """PySCF's object on the GPU; our integrals stay behind."""
        return plain(self).to_gpu(*arguments, **keywords)

    def __reduce__(self) -> Any:
        # A class made at run time cannot be found by name: PySCF's is, and ours comes again.
        return apply, (plain(self),)


def passed_on(
    mf: Any, why: str, theirs: Callable[..., Any], *arguments: Any, **keywords: Any
) -> Any:
    """What PySCF's `get_jk` returns; with `strict=True` a `StrictError`."""
    if current().strict:
        raise StrictError(f"PySCF would compute J and K of this {type(mf).__name__}", why=why)
    start = time.perf_counter()
    result = theirs(*arguments, **keywords)
    record_of(mf).add(Evaluated(JK, THEIRS, why), 1, time.perf_counter() - start)
    return result


def check_served(mol: Any, dm: Any, hermi: int) -> None:
    """`PassedOn` where PySCF's `get_jk` does something that ours does not know."""
    if getattr(mol, "omega", None):
        raise PassedOn(f"the molecule is set to omega = {mol.omega}")
    if type(mol).intor is not gto.Mole.intor:
        raise PassedOn(f"{type(mol).__name__} has integrals of its own")
    direct.check_matrices(dm, int(mol.nao), hermi)


def is_left_out(mf: Any) -> bool:
    """Whether PySCF would have the integrals of the object's molecule in memory by now."""
    left_out = mf.__dict__.get(LEFT_OUT)
    return (
        left_out is not None
        and type(mf).get_jk is OurIntegrals.get_jk
        and following_jk(type(mf)) in SERVED
        and left_out == direct.molecule_key(mf.mol)
    )


def with_integrals(mf: Any, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that hands `_eri` on to an object that has nothing of ours."""
    if is_left_out(mf):
        mf._eri = in_core.integrals(mf.mol, record_of(mf))
    return method


def direct_geometry(
    mf: Any, mol: Any, omega: Any, record: IntegralRecord, fits: bool
) -> Geometry | None:
    """What direct J and K need; None where all integrals fit in memory and are rather kept there.

    `PassedOn` where PySCF makes J and K directly.
    """
    if fits and current().strict:
        return None
    try:
        geometry = direct.geometry_of(mf, mol, omega, record, fits)
        if fits and direct.prefers_memory(geometry):
            return None
        direct.worth(geometry.fock)
    except PassedOn:
        if fits:
            return None
        raise
    return geometry


def following_jk(kind: type) -> Any:
    """The `get_jk` that comes after ours."""
    order = list(kind.__mro__)
    behind = order[order.index(OurIntegrals) + 1 :] if OurIntegrals in order else order
    return next((c.__dict__["get_jk"] for c in behind if "get_jk" in c.__dict__), None)


def record_of(mf: Any) -> IntegralRecord:
    """What was evaluated for this object and its copies."""
    record: IntegralRecord | None = mf.__dict__.get("_fusewright")
    if record is None:
        record = mf.__dict__["_fusewright"] = IntegralRecord()
    return record


def apply(mf: Any) -> Any:
    """The same object, with our integrals where PySCF keeps all of them in memory.

    `mf` is a mean-field object of PySCF; one that has our integrals stays as it is.  Raises
    `ArgumentError` for other objects.
    """
    if isinstance(mf, OurIntegrals):
        return mf
    check_names()
    if not isinstance(mf, hf.SCF):
        raise ArgumentError(f"{type(mf).__name__} is not a mean-field object of PySCF")
    inner = getattr(mf, "_scf", None)  # second-order methods ask the object that they were made of
    if isinstance(inner, hf.SCF):
        mf.__dict__.setdefault("_fusewright", record_of(inner))
        mf._scf = apply(inner)
    record_of(mf)
    mf.__dict__.setdefault(LEFT_OUT, None)  # PySCF copies attributes that both objects have
    return lib.set_class(mf, (OurIntegrals, type(mf)), type(mf).__name__)


def undo(mf: Any) -> Any:
    """A view of the object as PySCF has it, with all its attributes but the record."""
    return with_integrals(mf, plain)(mf) if isinstance(mf, OurIntegrals) else mf


def plain(mf: OurIntegrals) -> Any:
    """The same without integrals that were left out, where nobody will read them."""
    found = lib.view(mf, lib.drop_class(type(mf), OurIntegrals))
    for name in ("_fusewright", LEFT_OUT):
        found.__dict__.pop(name, None)
    return found
