"""Basis sets: shells of contracted Gaussian functions at the atoms of one geometry.

A shell has the functions sum over k of c_k N_l(e_k) (polynomial of degree l) exp(-e_k |r - R|^2),
N_l such that r^l exp(-e r^2) has the norm 1 in the radial measure r^2 dr.  Lengths are in bohr,
exponents in bohr^-2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from itertools import pairwise
from math import gamma
from typing import Any

import numpy as np

from fusewright.base.errors import ArgumentError, UnsupportedError, ValueRangeError
from fusewright.base.options import SHELLS, current
from fusewright.base.values import dataclass
from fusewright.integrals import given
from fusewright.integrals.harmonics import cartesian
from fusewright.ir.fused import Array

LETTERS = "spdfghiklm"


@dataclass(frozen=True, slots=True, eq=False)
class Shell:
    """Functions of one angular momentum and the same primitives at one place.

    `exponents` (primitives,); `coefficients` (primitives, contractions) multiply functions without
    normalisation: N_l is within them.  `atom` is the number of its atom.
    """

    l: int  # noqa: E741 - the quantum number's name
    centre: Array
    exponents: Array
    coefficients: Array
    atom: int = 0

    @property
    def contractions(self) -> int:
        """Functions for each component."""
        return int(self.coefficients.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """Shells in order; atoms with their charges (for nuclear attraction) and places (atoms, 3).

    `is_cartesian`: all components of degree l instead of the 2l+1 solid harmonics.  Raises
    `ValueRangeError` for numbers that make no sense and `UnsupportedError` for an l that does not
    exist, both naming the shell.
    """

    shells: tuple[Shell, ...]
    charges: Array = field(default_factory=lambda: np.zeros(0))
    places: Array = field(default_factory=lambda: np.zeros((0, 3)))
    is_cartesian: bool = False

    def __post_init__(self) -> None:
        _check_atoms(self.charges, self.places, self.charges, self.shells)
        for number, shell in enumerate(self.shells):
            _check_shell(number, shell)

    @property
    def offsets(self) -> Array:
        """(shells + 1,): where each shell's functions begin; the last is their number."""
        sizes = [self.components(s.l) * s.contractions for s in self.shells]
        return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)

    def components(self, l: int) -> int:  # noqa: E741
        """Functions of one contraction."""
        return len(cartesian(l)) if self.is_cartesian else 2 * l + 1

    @staticmethod
    def from_arrays(
        atoms: Any,
        shells: Iterable[tuple[int, int, Any, Any]],
        charges: Any = None,
        cartesian: bool = False,
    ) -> Basis:
        """From places (atoms, 3) and shells (atom, l, exponents, coefficients).

        The coefficients, (primitives,) or (primitives, contractions), are those of basis-set
        tables: they multiply normalised primitives, and each contraction is normalised here.
        """
        places = given.points(atoms, "the places of atoms")
        known = np.zeros(len(places)) if charges is None else given.reals(charges, "charges")
        made: list[Shell] = []
        for number, shell in enumerate(given.sequence(shells, "shells")):
            atom, l, exponents, coefficients = _parts(number, shell)  # noqa: E741
            if not 0 <= atom < len(places):
                raise ValueRangeError(f"shell {number} is at atom {atom} of {len(places)}")
            e = given.reals(exponents, f"the exponents of shell {number}").reshape(-1)
            c = given.reals(coefficients, f"the coefficients of shell {number}")
            c = c[:, None] if c.ndim == 1 else c
            bare = Shell(l, places[atom], e, c, atom)
            _check_shell(number, bare)
            made.append(Shell(bare.l, places[atom], e, _normalised(number, bare), atom))
        _check_atoms(known, places, np.ones(len(places)) if charges is None else known, made)
        return Basis(tuple(made), known, places, cartesian)

    @staticmethod
    def from_pyscf(mol: Any) -> Basis:
        """From a `pyscf.gto.Mole` that is built, with its order and normalisation."""
        if not all(hasattr(mol, name) for name in ("_bas", "_env", "cart", "atom_coords")):
            raise ArgumentError(
                f"{given.kind_of(mol)} is no molecule of PySCF",
                help="pass a `gto.Mole`; that of a mean-field object is `mf.mol`",
            )
        if not len(mol._bas) and not getattr(mol, "_built", True):
            raise ArgumentError("the molecule is not built", help="call mol.build()")
        places = np.array(mol.atom_coords(), np.float64).reshape(-1, 3)
        charges = np.array(mol.atom_charges(), np.float64)
        env = np.asarray(mol._env)
        shells = []
        for row in np.asarray(mol._bas).tolist():
            atom, l, primitives, contractions, _, e, c, _ = row  # noqa: E741
            exponents = np.array(env[e : e + primitives])
            coefficients = env[c : c + primitives * contractions].reshape(contractions, -1)
            shells.append(Shell(l, places[atom], exponents, coefficients.T.copy(), atom))
        return Basis(tuple(shells), charges, places, bool(mol.cart))


def a_basis(value: Any) -> Basis:
    """A basis of ours."""
    if not isinstance(value, Basis):
        raise ArgumentError(
            f"the basis is {given.kind_of(value)}",
            help="make one with Basis.from_arrays or Basis.from_pyscf",
        )
    return value


def _parts(number: int, shell: Any) -> tuple[int, int, Any, Any]:
    """Atom, l, exponents and coefficients of a shell that is given as a tuple."""
    if not isinstance(shell, Sequence) or len(shell) != 4:
        raise ArgumentError(
            f"shell {number} is {shell!r}", help="(atom, l, exponents, coefficients)"
        )
    atom = given.whole(shell[0], f"the atom of shell {number}")
    l = given.whole(shell[1], f"the angular momentum of shell {number}")  # noqa: E741
    return atom, l, shell[2], shell[3]


def radial_norm(l: int, exponents: Array) -> Array:  # noqa: E741
    """N_l: 1/sqrt of the integral of r^(2l+2) exp(-2 e r^2) over r > 0."""
    power = l + 1.5
    return np.sqrt(2 * (2 * exponents) ** power / gamma(power))


def _normalised(number: int, shell: Shell) -> Array:
    """Coefficients of bare functions, each contraction of norm 1."""
    e, power = shell.exponents, shell.l + 1.5
    with np.errstate(all="ignore"):  # what comes of it is told
        inner = shell.coefficients * radial_norm(shell.l, e)[:, None]
        overlap = gamma(power) / (2 * (e[:, None] + e) ** power)
        norms = np.einsum("ic,ij,jc->c", inner, overlap, inner)
    for contraction, norm in enumerate(norms):
        if not 0 < norm < np.inf:
            raise ValueRangeError(
                f"{_named(number, shell)} has the norm {norm:g} in its contraction {contraction}",
                why="its coefficients are all zero, or its exponents too small or too large",
            )
    scaled: Array = inner / np.sqrt(norms)
    return scaled


def _check_atoms(charges: Array, places: Array, real: Array, shells: Sequence[Shell]) -> None:
    """`real` is not zero for atoms that no other one may meet; a ghost has the charge 0."""
    if len(charges) != len(places):
        raise ValueRangeError(f"{len(charges)} charges are given for {len(places)} atoms")
    if not np.all(np.isfinite(charges)):
        raise ValueRangeError("a charge is not finite")
    for number, place in enumerate(places):
        if not np.all(np.isfinite(place)):
            raise ValueRangeError(f"atom {number} is at {place.tolist()}")
    order = np.lexsort(places.T)
    for one, two in pairwise(order):
        if np.array_equal(places[one], places[two]) and real[one] and real[two]:
            one, two = sorted((int(one), int(two)))
            its = [number for number, shell in enumerate(shells) if shell.atom == two]
            where = f" (shells {its[0]} to {its[-1]})" if its else ""
            raise ValueRangeError(f"atom {two}{where} is where atom {one} is")


def _help_with(l: int) -> str:  # noqa: E741
    """What to do about an l that is too high."""
    if l <= LETTERS.index(SHELLS[-1]):
        return f'fw.options(shells="{LETTERS[l]}") has them, and compiles for minutes'
    return "leave these functions out, or have another program evaluate this basis"


def _named(number: int, shell: Shell) -> str:
    return f"shell {number} (l = {shell.l}, atom {shell.atom})"


def _check_shell(number: int, shell: Shell) -> None:
    name = _named(number, shell)
    if shell.l < 0:
        raise ValueRangeError(f"{name} has a negative angular momentum")
    most = LETTERS.index(current().shells)
    if shell.l > most:
        raise UnsupportedError(
            f"{name} has functions above {LETTERS[most]}",
            why=f"there are integrals up to l = {most}",
            help=_help_with(shell.l),
        )
    if not len(shell.exponents):
        raise ValueRangeError(f"{name} has no primitives")
    if shell.coefficients.shape[:1] != shell.exponents.shape or shell.coefficients.ndim != 2:
        raise ValueRangeError(
            f"{name} has {len(shell.exponents)} exponents and coefficients of the shape "
            f"{shell.coefficients.shape}"
        )
    if not np.all(np.isfinite(shell.centre)) or shell.centre.shape != (3,):
        raise ValueRangeError(f"{name} is at {np.asarray(shell.centre).tolist()}")
    if not np.all(shell.exponents > 0) or not np.all(np.isfinite(shell.exponents)):
        wrong = shell.exponents[~((shell.exponents > 0) & np.isfinite(shell.exponents))][0]
        raise ValueRangeError(f"{name} has the exponent {wrong}", help="exponents are positive")
    if not np.all(np.isfinite(shell.coefficients)):
        raise ValueRangeError(f"{name} has a coefficient that is not finite")
