"""One pass over all integrals, for some density matrices.

The work is split into bins, each with matrices of its own, which are added up in order: results do
not depend on the number of threads.  How many bins there are depends on the memory that they need,
at most `BIN_BYTES`: 20 for 2,000 functions and one density matrix.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fusewright.base.figures import LINES
from fusewright.base.values import dataclass
from fusewright.codegen.recurrences.records import CALL, COULOMB, EXCHANGE, MATRIX, SCRATCH
from fusewright.integrals.classes import Momenta
from fusewright.integrals.evaluate import aligned, zeros
from fusewright.integrals.fock_code import FockCode, driver
from fusewright.ir.fused import Array
from fusewright.targets.target import target

BIN_BYTES = 1 << 30
MOST_BINS, LEAST_BINS = 64, 8


class Wanted(NamedTuple):
    """A matrix D, symmetric or antisymmetric; what is asked for (`BOTH`, `COULOMB` or `EXCHANGE`),
    and with which operator, by number.
    """

    density: Array
    kind: int
    operator: int = 0


@dataclass(frozen=True, slots=True)
class Contribution:
    """J and K of one D, None where they were not asked for: sums over pairs of shells i >= j, half
    of those with i = j.
    """

    coulomb: Array | None
    exchange: Array | None


def most_matrices(code: FockCode) -> int:
    """How many fit `LEAST_BINS` bins."""
    size = 8 * (code.functions**2 + code.block_doubles)
    return max(1, BIN_BYTES // (LEAST_BINS * size))


def bins_of(size: int) -> int:
    """How many bins there are where one has so many bytes."""
    return max(LEAST_BINS, min(MOST_BINS, BIN_BYTES // size))


class Pass:
    """The arrays of one pass."""

    def __init__(self, code: FockCode, wanted: Sequence[Wanted]) -> None:
        self.code, self.wanted = code, wanted
        self.j_numbers = _numbered([each.kind != EXCHANGE for each in wanted])
        self.k_numbers = _numbered([each.kind != COULOMB for each in wanted])
        j, k = (max(numbers) + 1 for numbers in (self.j_numbers, self.k_numbers))
        shapes = (j, code.block_doubles), (k, code.functions, code.functions)
        size = 8 * sum(int(np.prod(shape)) for shape in shapes)
        self.bins = bins_of(size)
        self.j, self.k = (zeros((self.bins, *shape)) for shape in shapes)
        self.pairs = [self.of_pairs(each) for each in wanted]
        self.counts = np.zeros((self.bins, len(code.classes)), np.int64)

    def results(self) -> list[Contribution]:
        """Evaluates everything."""
        self.launch()
        j, k = self.j.sum(axis=0), self.k.sum(axis=0)
        return [
            Contribution(
                self.from_pairs(j[one]) if one >= 0 else None, k[two] if two >= 0 else None
            )
            for one, two in zip(self.j_numbers, self.k_numbers, strict=True)
        ]

    def quartets(self) -> dict[Momenta, int]:
        """Quartets of shells that were evaluated, in whole vectors."""
        found: Counter[Momenta] = Counter()
        for each, many in zip(self.code.classes, self.counts.sum(axis=0), strict=True):
            found[each.momenta] += int(many) * self.code.width
        return found

    # ---- pairs

    def of_pairs(self, each: Wanted) -> Array:
        """D of pairs, in vectors of kets; empty where only K is wanted."""
        code = self.code
        whole = zeros((code.block_doubles if each.kind != EXCHANGE else 0,))
        if each.kind != EXCHANGE:
            for places, block in zip(code.places, self.blocks(whole), strict=True):
                many, functions = places[0].shape
                flat = np.zeros((block.shape[0] * code.width, functions))
                flat[:many] = each.density[places]
                block[...] = flat.reshape(-1, code.width, functions).swapaxes(1, 2)
        return whole

    def from_pairs(self, whole: Array) -> Array:
        """J of pairs as a matrix."""
        code = self.code
        found = np.zeros((code.functions, code.functions))
        for places, block in zip(code.places, self.blocks(whole), strict=True):
            many, functions = places[0].shape
            found[places] = block.swapaxes(1, 2).reshape(-1, functions)[:many]
        return found

    def blocks(self, whole: Array) -> list[Array]:
        """(vectors, functions, lanes) for each group."""
        code = self.code
        ends = zip(code.blocks, code.blocks[1:], code.sizes, strict=False)
        return [
            whole[start:end].reshape(-1, size[0], code.width) for start, end, size in ends
        ]  # fmt: skip

    # ---- bounds of densities

    def largest(self) -> tuple[Array, list[Array]]:
        """(shells, shells), the largest |D| that K reads; 4 |D_kl| of each group's pairs for J."""
        code, many = self.code, len(self.code.basis.shells)
        tables = [np.zeros((many, many)), np.zeros((many, many))]
        for each in self.wanted:
            found = code.by_shells(each.density)
            for table, other in zip(tables, (EXCHANGE, COULOMB), strict=True):
                if each.kind != other:
                    np.maximum(table, found, out=table)
        j, k = tables
        return k, [4 * j[each.first, each.second] * (each.bounds > 0) for each in code.groups]

    # ---- the call

    def launch(self) -> None:
        """Run all bins."""
        code = self.code
        densities, most = self.largest()
        largest = [aligned(each) for each in most]
        tasks, bins = tasks_of(code, self.bins)
        arrays = {
            "groups": code.group_records(largest), "classes": code.class_records(),
            "matrices": self.records(),
        }  # fmt: skip
        numbers = (tasks, bins, densities, self.k, self.j, self.counts)
        names = ("tasks", "bins", "densities", "k", "j", "counts")
        parts = code.scratch(len(self.wanted))
        offsets = np.cumsum([0, *(-(-parts[name] // LINES) * LINES for name in SCRATCH)])
        words = array("q", CALL.packed(
            **{name: each.buffer_info()[0] for name, each in arrays.items()},
            **{name: each.ctypes.data for name, each in zip(names, numbers, strict=True)},
            **dict(zip(SCRATCH, map(int, offsets), strict=False)),
            group_count=len(code.groups), class_count=len(code.classes),
            matrix_count=len(self.wanted), operator_count=len(code.operators),
            functions=code.functions, shells=len(code.basis.shells), tolerance=code.tolerance,
            k_stride=self.k.strides[0], j_stride=self.j.strides[0],
            **code.strides(), block_doubles=parts["k_k"] // 8,
        ))  # fmt: skip
        target("cpu").launch(driver(), words, self.bins, 1, int(offsets[-1]))

    def records(self) -> array[int]:
        """Those of all matrices."""
        words: list[int] = []
        numbers = zip(self.wanted, self.pairs, self.j_numbers, self.k_numbers, strict=True)
        for each, pairs, j, k in numbers:
            words += MATRIX.packed(
                density=each.density.ctypes.data, pairs=pairs.ctypes.data, kind=each.kind,
                operator=each.operator,
                j_at=max(j, 0) * 8 * self.code.block_doubles,
                k_at=max(k, 0) * 8 * self.code.functions**2,
            )  # fmt: skip
        return array("q", words)


def tasks_of(code: FockCode, bins: int) -> tuple[Array, Array]:
    """All bras (group, pair), and where each bin's begin: the longest ones first, bins there and
    back, so that all take about as long; within a bin by group.
    """
    costs = code.costs()
    number = np.concatenate([np.full(len(each), k) for k, each in enumerate(costs)])
    pair = np.concatenate([np.arange(len(each)) for each in costs])
    turn = np.empty(len(pair), np.int64)
    place = np.arange(len(pair)) % (2 * bins)
    turn[np.argsort(-np.concatenate(costs), kind="stable")] = np.minimum(
        place, 2 * bins - 1 - place
    )
    order = np.lexsort((pair, number, turn))
    tasks = np.stack([number[order], pair[order]], axis=1).astype(np.int64)
    starts = np.searchsorted(turn[order], np.arange(bins + 1)).astype(np.int64)
    return tasks, starts


def _numbered(there: Sequence[bool]) -> list[int]:
    """0, 1, ... for those that are there, -1 for the others."""
    counts = np.cumsum(there)
    return [int(count) - 1 if each else -1 for count, each in zip(counts, there, strict=True)]
