"""The code of all classes of a geometry, and the records by which `kernel` of `fock` finds it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import combinations_with_replacement
from math import prod
from typing import Any

import numpy as np

from fusewright.base.options import current
from fusewright.base.values import dataclass
from fusewright.codegen.recurrences import digest as digestion
from fusewright.codegen.recurrences import fock as bras
from fusewright.codegen.recurrences.digest import DigestShape
from fusewright.codegen.recurrences.records import CLASS, EIGHT, FRAME, GROUP
from fusewright.integrals.basis import Basis
from fusewright.integrals.classes import Momenta, lanes, raised_side
from fusewright.integrals.evaluate import Evaluator, Side
from fusewright.integrals.operators import Operator
from fusewright.integrals.repulsion import kind_of
from fusewright.integrals.screened import ScreenedGroup
from fusewright.ir.fused import Array
from fusewright.machine.integrals import BATCH_BYTES, FOCK
from fusewright.runtime.image import Executable
from fusewright.targets.executable import Written
from fusewright.targets.target import target

MOST_BATCH = 64
"""Vectors of kets in a batch: an even number."""


def driver() -> Executable[None]:
    """The code that goes through bras."""
    return _code(("fock",), bras.fock)


def digest_of(shape: DigestShape) -> Executable[None]:
    """The code that adds integrals to matrices."""
    key = ("digest", shape.c, shape.d, shape.coulomb, shape.exchange)
    return _code(key, partial(digestion.digest, shape))


def _code(key: tuple[Any, ...], write: Callable[[int], str]) -> Executable[None]:
    program = Written(key, lambda lanes: (None, write(lanes)))
    return target("cpu").compile(program, current())


@dataclass(frozen=True, slots=True, eq=False)
class FockClass:
    """Two groups' class: its code with its words; `digest` for each kind of matrix."""

    evaluator: Evaluator
    words: array[int]
    components: tuple[int, ...]
    digests: tuple[Executable[None], ...]

    @property
    def momenta(self) -> Momenta:
        """Angular momenta."""
        return self.evaluator.kind.momenta

    @property
    def values(self) -> int:
        """Of [e0|f0]."""
        groups = (self.evaluator.bra.group, self.evaluator.ket.group)
        return prod(len(raised_side(*each.pattern[:2], each.is_centred)) for each in groups)

    @property
    def unit_bytes(self) -> int:
        """Of a vector of kets, with one operator."""
        return 8 * int(np.prod(self.evaluator.shape)) // self.operators

    @property
    def operators(self) -> int:
        """How many there are."""
        return len(self.evaluator.operators)

    @property
    def batch(self) -> int:
        """Vectors of kets that are evaluated together."""
        many = min(MOST_BATCH, BATCH_BYTES // (self.unit_bytes * self.operators))
        return max(2, many // 2 * 2)

    def record(self) -> list[int]:
        """Its words."""
        bra, ket = self.evaluator.bra.group, self.evaluator.ket.group
        both, coulomb, exchange = (image.symbol("digest") for image in self.digests)
        return CLASS.packed(
            code=self.evaluator.code.address, words=self.words.buffer_info()[0],
            both=both, coulomb=coulomb, exchange=exchange,
            unit_bytes=self.unit_bytes, batch=self.batch,
            a=self.components[0], b=self.components[1],
            bra_first=bra.pattern[2], bra_second=bra.pattern[3],
            ket_first=ket.pattern[2], ket_second=ket.pattern[3],
        )  # fmt: skip


class FockCode:
    """Everything for a basis and one or two operators."""

    def __init__(
        self, basis: Basis, operators: Sequence[Operator], groups: Sequence[ScreenedGroup],
        tolerance: float,
    ) -> None:  # fmt: skip
        self.operators = tuple(operators)
        self.basis, self.groups, self.tolerance = basis, groups, tolerance
        self.functions = int(basis.offsets[-1])
        self.width = lanes()
        self.sides = [Side(each.group, self.width, EIGHT // self.width) for each in groups]
        self.classes: list[FockClass] = []
        self.own: list[int] = []
        for number, bra in enumerate(self.sides):
            self.own.append(len(self.classes))
            for ket in self.sides[number:]:
                self.classes.append(_class(basis, self.operators, bra, ket))
        self.sizes = [_sizes(basis, each) for each in groups]
        sizes = zip(self.sizes, groups, strict=True)
        self.blocks = np.cumsum([0, *(size[0] * each.eights * EIGHT for size, each in sizes)])
        self.places = [_functions_of(basis, each) for each in groups]

    @property
    def block_doubles(self) -> int:
        """Of D and of J of pairs."""
        return int(self.blocks[-1])

    def by_shells(self, density: Array) -> Array:
        """(shells, shells), the largest |D| of each block."""
        starts = self.basis.offsets[:-1]
        rows = np.maximum.reduceat(np.abs(density), starts, axis=0)
        return np.asarray(np.maximum.reduceat(rows, starts, axis=1))

    def costs(self) -> list[Array]:
        """For each group (pairs,) the seconds that each bra is predicted to take, |D| = 1."""
        return [each @ np.array(FOCK.each) for each in self.counts]

    @cached_property
    def counts(self) -> list[Array]:
        """For each group (pairs, 4): of the eights that each bra meets, how many, their pairs of
        pairs of primitives, the same times values of [e0|f0], and their integrals.
        """
        return [self._counts(number) for number in range(len(self.groups))]

    def _counts(self, number: int) -> Array:
        bra, many = self.groups[number], len(self.groups[number].group)
        found, depth = np.zeros((many, 4)), np.diff(bra.group.starts)
        limits = self.tolerance / bra.bounds[:many]
        for other in range(number, len(self.groups)):
            ket, each = self.groups[other], self.classes[self.own[number] + other - number]
            eights = np.searchsorted(-ket.falling, -limits)
            if other == number:
                eights = np.minimum(eights, np.arange(many) // EIGHT + 1)
            primitives = depth * ket.depths[eights]
            integrals = each.unit_bytes // (8 * self.width)
            found += np.stack(
                [eights, primitives, primitives * each.values, eights * integrals], axis=1
            )
        return found

    def group_records(self, largest: Sequence[Array]) -> array[int]:
        """The records of all groups, with 4 |D_kl| for each pair."""
        words: list[int] = []
        for number, each in enumerate(self.groups):
            block, first, second = self.sizes[number]
            words += GROUP.packed(
                bounds=each.bounds.ctypes.data, falling=each.falling.ctypes.data,
                first=each.first.ctypes.data, second=each.second.ctypes.data,
                first_at=each.first_at.ctypes.data, second_at=each.second_at.ctypes.data,
                largest=largest[number].ctypes.data, most=float(largest[number].max()),
                pairs=len(each.group), eights=each.eights, block=int(self.blocks[number]),
                block_functions=block, first_functions=first, second_functions=second,
                own_class=self.own[number],
            )  # fmt: skip
        return array("q", words)

    def class_records(self) -> array[int]:
        """Those of all classes."""
        return array("q", [word for each in self.classes for word in each.record()])

    def scratch(self, matrices: int) -> dict[str, int]:
        """Bytes of each part of a thread's scratch."""
        strides = self.strides()
        across = max(first + second for _, first, second in self.sizes)
        other = max(max(size[1:]) for size in self.sizes)
        blocks = 8 * self.width * (-(-other * across // self.width) * self.width)
        return {
            "class_scratch": max(each.evaluator.scratch for each in self.classes),
            "units": 16 * MOST_BATCH,
            "results": max(
                each.batch * each.unit_bytes * each.operators for each in self.classes
            ),
            "words": max(8 * len(each.words) for each in self.classes),
            **dict.fromkeys(("d_rows", "k_rows", "l_rows"), matrices * strides["rows_stride"]),
            **dict.fromkeys(("d_k", "d_l", "k_k", "k_l"), blocks),
            **{name: matrices * strides[f"{name}_stride"] for name in ("dij", "jij")},
            "largest": 8 * len(self.basis.shells), "frame": FRAME.size, "most": 8, "many": 8,
        }  # fmt: skip

    def strides(self) -> dict[str, int]:
        """Bytes in scratch from matrix to matrix; rows have a square more."""
        across = max(first + second for _, first, second in self.sizes)
        block = max(size[0] for size in self.sizes)
        rows = 8 * (self.functions * across + EIGHT)
        return {"rows_stride": rows, "dij_stride": 8 * block, "jij_stride": 8 * EIGHT * block}


def _functions_of(basis: Basis, each: ScreenedGroup) -> tuple[Array, Array]:
    """(pairs, functions of a block) twice: the functions of both shells, in the order of blocks."""
    la, lb, many, more = each.group.pattern
    one, two = basis.components(la), basis.components(lb)
    shape = (len(each.group), many, more, one, two)
    within = (
        np.arange(many * one).reshape(many, 1, one, 1),
        np.arange(more * two).reshape(1, more, 1, two),
    )
    rows, columns = (
        np.broadcast_to(basis.offsets[shells].reshape(-1, 1, 1, 1, 1) + part, shape)
        for shells, part in zip((each.group.first, each.group.second), within, strict=True)
    )
    return rows.reshape(shape[0], -1), columns.reshape(shape[0], -1)


def _sizes(basis: Basis, each: ScreenedGroup) -> tuple[int, int, int]:
    """Functions of a block, of the first shell, of the second."""
    la, lb, many, more = each.group.pattern
    first, second = many * basis.components(la), more * basis.components(lb)
    return first * second, first, second


def _class(basis: Basis, operators: Sequence[Operator], bra: Side, ket: Side) -> FockClass:
    kind = kind_of(bra.group, ket.group, basis, *operators)
    evaluator = Evaluator(kind, bra, ket, *operators)
    components = tuple(basis.components(l) for l in kind.momenta)  # noqa: E741
    return FockClass(evaluator, evaluator.words(0, 0), components, digests_of(*components[2:]))


def digests_of(c: int, d: int) -> tuple[Executable[None], ...]:
    """For J and K, J alone, K alone, with so many components of k and l."""
    kinds = ((True, True), (True, False), (False, True))
    return tuple(digest_of(DigestShape(c, d, coulomb, exchange)) for coulomb, exchange in kinds)


def warm_digests(basis: Basis) -> None:
    """Compile what a basis needs beside its classes."""
    sizes = sorted({basis.components(shell.l) for shell in basis.shells})
    for d, c in combinations_with_replacement(sizes, 2):
        digests_of(c, d)
    driver()
