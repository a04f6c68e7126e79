"""Runs the code of a class on pairs of two groups."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable
from functools import cached_property

import numpy as np

from fusewright.codegen.recurrences.quartets import WORDS, QuartetSizes
from fusewright.integrals.classes import QuartetClass, code_of
from fusewright.integrals.operators import COULOMB, Operator
from fusewright.integrals.pairs import PairGroup
from fusewright.integrals.transfer import transfers
from fusewright.ir.fused import Array
from fusewright.machine.integrals import UNITS
from fusewright.runtime.image import Executable
from fusewright.targets.target import target

_NOTHING = np.zeros(0)
_UNITS, _RESULTS = WORDS.index("units"), WORDS.index("results")


class Side:
    """A group as bra and as ket, for vectors of so many lanes."""

    def __init__(self, group: PairGroup, width: int, multiple: int = 1) -> None:
        self.group, self.width, self.multiple = group, width, multiple
        self.matrices: dict[tuple[bool, str], Array] = {}

    @cached_property
    def bra(self) -> tuple[Array, Array, Array]:
        """Starts, primitives and A-B, contiguous."""
        group = self.shifted
        parts = (group.starts, group.data, group.apart)
        starts, data, apart = map(np.ascontiguousarray, parts)
        return starts, data, apart

    @cached_property
    def ket(self) -> tuple[Array, Array, Array]:
        """The same in vectors, on cache lines."""
        starts, data, apart = self.shifted.vectors(self.width, self.multiple)
        return starts, aligned(data), aligned(apart)

    @cached_property
    def shifted(self) -> PairGroup:
        """The group for functions about the point that its class's code has them about."""
        return self.group.centred() if self.group.is_centred else self.group

    def bra_matrices(self, harmonics: bool) -> Array:
        """(pairs, functions, raised functions), where steps are made with them."""
        return self._made(harmonics, "bra", lambda: transfers(self.group, harmonics))

    def ket_matrices(self, harmonics: bool) -> Array:
        """(vectors, functions, raised functions, lanes)."""

        def made() -> Array:
            found = self.bra_matrices(harmonics)
            many = -(-len(found) // (self.width * self.multiple)) * self.multiple
            whole = zeros((many * self.width, *found.shape[1:]))
            whole[: len(found)] = found
            lanes = whole.reshape(many, self.width, *found.shape[1:])
            return aligned(np.moveaxis(lanes, 1, -1))

        return self._made(harmonics, "ket", made)

    def _made(self, harmonics: bool, kind: str, make: Callable[[], Array]) -> Array:
        if not self.group.is_centred:
            return _NOTHING
        if (harmonics, kind) not in self.matrices:
            self.matrices[harmonics, kind] = make()
        return self.matrices[harmonics, kind]

    @property
    def vectors(self) -> int:
        """How many there are."""
        return -(-len(self.group) // self.width)


class Evaluator:
    """One class, its bra and its ket, one or two operators; what each call needs again is made
    once.
    """

    def __init__(self, kind: QuartetClass, bra: Side, ket: Side, *operators: Operator) -> None:
        self.kind, self.bra, self.ket, self.operators = kind, bra, ket, operators

    @cached_property
    def code(self) -> Executable[QuartetSizes]:
        """That of the class, for vectors of the sides' width."""
        return code_of(self.kind)

    def run(self, units: Array, results: Array) -> None:
        """Evaluate units (n, 2), each a pair of the bra and a vector of the ket, into `results`
        (n, operators and contractions, integrals, lanes), which is aligned.
        """
        units = np.ascontiguousarray(units, np.int64)
        words = self.words(units.ctypes.data, results.ctypes.data)
        target("cpu").launch(self.code, words, len(units), UNITS, self.scratch)

    def words(self, units: int, results: int) -> array[int]:
        """What the class's code is called with; two addresses are given."""
        found = self._words[:]
        found[_UNITS], found[_RESULTS] = units, results
        return found

    @cached_property
    def _words(self) -> array[int]:
        """The words without these addresses; what the others refer to is kept by the sides."""
        left, right = self.bra.group.contractions, self.ket.group.contractions
        sides = [each.ctypes.data for each in (*self.bra.bra, *self.ket.ket)]
        numbers = [word for n in range(2) for word in _numbers(*self.operators[n : n + 1])]
        harmonics = self.kind.harmonics
        matrices = (self.bra.bra_matrices(harmonics), self.ket.ket_matrices(harmonics))
        ends = [left, right, *(each.ctypes.data for each in matrices)]
        return array("q", [0, *sides, 0, *numbers, *ends])

    @cached_property
    def scratch(self) -> int:
        """Bytes of scratch that the class's code needs."""
        left, right = self.bra.group.contractions, self.ket.group.contractions
        return self.code.signature.scratch(self.ket.width, left, right)

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """(operators and contractions, integrals, lanes) of the results of a unit."""
        many = len(self.operators) * self.bra.group.contractions * self.ket.group.contractions
        return many, self.code.signature.results, self.ket.width


MOST_W = 1e150
"""Of which there is a square: from 1e10 times the largest exponent's root on erf(w r)/r is 1/r."""


def _numbers(operator: Operator = COULOMB) -> tuple[int, ...]:
    """The words of w^2 and the weights of an operator's parts."""
    weights = (*operator.weights, 0.0)[:2]
    return struct.unpack("<3q", struct.pack("<3d", min(operator.w, MOST_W) ** 2, *weights))


def aligned(values: Array) -> Array:
    """A copy that begins on a cache line."""
    copy = empty(values.shape)
    copy[...] = values
    return copy


def empty(shape: tuple[int, ...]) -> Array:
    """An array of doubles that begins on a cache line."""
    return _on_a_line(np.empty(int(np.prod(shape)) + 8), shape)


def zeros(shape: tuple[int, ...]) -> Array:
    """The same of zeros."""
    return _on_a_line(np.zeros(int(np.prod(shape)) + 8), shape)


def _on_a_line(memory: Array, shape: tuple[int, ...]) -> Array:
    """An array of this shape in memory for 8 doubles more."""
    first = -memory.ctypes.data // 8 % 8
    return memory[first : first + len(memory) - 8].reshape(shape)
