"""Kernels that differ only in the numbers of their values and parameters are one kernel.

A program that repeats a step asks for the same loops again and again, each time of other slots.
Values and parameters are numbered anew in the order in which a kernel names them; what is equal
then is lowered once:

```
b7[i] = b3[i] * p4     b9[i] = b7[i] * p6     ->     b0[i] = b1[i] * p0
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from fusewright.codegen.derived import Derived
from fusewright.codegen.lower import module_of
from fusewright.codegen.module import Module, Scratch, Word
from fusewright.codegen.trees.arrays import tree_of_arrays
from fusewright.ir.expr import Expr, load, param, postorder, rebuild
from fusewright.ir.nest import Box, Buffer, Nest, Program, Stage
from fusewright.ir.tree.nodes import Tree
from fusewright.plan.plan import Kernel, Member

MOST_KERNELS = 128
"""Lowered kernels that are remembered."""

Exprs = tuple[Expr, ...]


def lower_once(program: Program, kernel: Kernel, vector_bytes: int, large: bool = False) -> Module:
    """The kernel's module for machine vectors of this many bytes, at once where an equal kernel was
    lowered before; `large` results are written past the caches.
    """
    there = _Numbering(program, kernel)
    module = _lowered(there.kernel, there.buffers, vector_bytes, large)
    return _Numbers(there.slots, there.params).module(module)


class NumberedTree(NamedTuple):
    """A loop tree in the kernel's own numbers, and the program's for its values and parameters."""

    tree: Tree
    slots: tuple[int, ...]
    params: tuple[int, ...]


def tree_once(
    program: Program,
    kernel: Kernel,
    vector_bytes: int,
    large: bool = False,
    derived: Derived | None = None,
) -> NumberedTree:
    """The loop tree of which `lower_once` writes the text; that of `AsWritten` loads and stores the
    same elements and is made in half the time.
    """
    there = _Numbering(program, kernel)
    own = Program(dict(enumerate(there.buffers)), (), (), frozenset())
    tree = tree_of_arrays(own, there.kernel, vector_bytes, large, derived or Derived())
    return NumberedTree(tree, there.slots, there.params)


@lru_cache(maxsize=MOST_KERNELS)
def _lowered(kernel: Kernel, buffers: tuple[Buffer, ...], vector_bytes: int, large: bool) -> Module:
    derived = Derived()
    program = Program(dict(enumerate(buffers)), (), (), frozenset())
    tree = tree_of_arrays(program, kernel, vector_bytes, large, derived)
    return module_of(tree, vector_bytes, derived)


class _Numbering:
    """A kernel whose slots and parameters are numbered in the order of appearance."""

    def __init__(self, program: Program, kernel: Kernel) -> None:
        self._slot: dict[int, int] = {}
        self._param: dict[int, int] = {}
        self._memo: dict[Expr, Expr] = {}
        self.kernel = replace(
            kernel,
            extents=tuple(map(self._all, kernel.extents)),
            phases=tuple(tuple(map(self._member, phase)) for phase in kernel.phases),
        )
        described: list[Buffer] = []
        for slot in self._slot:  # an extent names no further value
            described.append(self._buffer(program.buffers[slot]))
        self.buffers = tuple(described)
        self.slots, self.params = tuple(self._slot), tuple(self._param)

    def _one(self, root: Expr) -> Expr:
        memo = self._memo
        for node in postorder([root], memo):
            args = tuple(memo[arg] for arg in node.args)
            if node.name == "load":
                memo[node] = load(self._number(node.attr), args, node.dtype)
            elif node.name == "param":
                memo[node] = param(self._parameter(node.attr), node.dtype)
            else:
                memo[node] = rebuild(node, args)
        return memo[root]

    def _all(self, exprs: Iterable[Expr]) -> Exprs:
        return tuple(map(self._one, exprs))

    def _number(self, slot: int) -> int:
        return self._slot.setdefault(slot, len(self._slot))

    def _parameter(self, number: Any) -> Any:
        """A parameter's number; of a part of a complex one, the pair."""
        if isinstance(number, tuple):
            return (self._param.setdefault(number[0], len(self._param)), number[1])
        return self._param.setdefault(number, len(self._param))

    def _member(self, member: Member) -> Member:
        return replace(member, stage=self._stage(member.stage))

    def _stage(self, stage: Stage) -> Stage:
        number = self._number(stage.slot)
        return replace(
            stage,
            slot=number,
            extents=self._all(stage.extents),
            nests=tuple(map(self._nest, stage.nests)),
            # whose memory a patch takes over is the caller's to say
            update=number if stage.update >= 0 else -1,
        )

    def _nest(self, nest: Nest) -> Nest:
        box = Box(self._all(nest.box.low), self._all(nest.box.high))
        return Nest(box, self._one(nest.body), self._all(nest.store))

    def _buffer(self, buffer: Buffer) -> Buffer:
        strides = None if buffer.strides is None else self._all(buffer.strides)
        extents = self._all(buffer.extents)
        return replace(buffer, slot=self._number(buffer.slot), extents=extents, strides=strides)


class _Numbers:
    """The way back: the program's numbers for those of the kernel alone."""

    def __init__(self, slots: tuple[int, ...], params: tuple[int, ...]) -> None:
        self.slots = slots
        self.params = params
        self._memo: dict[Expr, Expr] = {}

    def module(self, module: Module) -> Module:
        """What the caller hands over, in the program's numbers."""
        return module._replace(
            words=tuple(map(self._word, module.words)),
            scratch=tuple(map(self._scratch, module.scratch)),
            partials=tuple(self._partials(module.partials)),
        )

    def _word(self, word: Word) -> Word:
        if word.what in ("pointer", "partial"):
            return word._replace(number=self.slots[word.number])
        if word.what == "param":
            return word._replace(number=self.params[word.number])
        return word

    def _parameter(self, number: Any) -> Any:
        if isinstance(number, tuple):
            return (self.params[number[0]], number[1])
        return self.params[number]

    def _scratch(self, piece: Scratch) -> Scratch:
        extents = tuple(map(self._one, piece.extents))
        return piece._replace(slot=self.slots[piece.slot], extents=extents)

    def _partials(
        self, partials: Iterable[tuple[int, Expr, int]]
    ) -> Iterator[tuple[int, Expr, int]]:
        for slot, elements, itemsize in partials:
            yield self.slots[slot], self._one(elements), itemsize

    def _one(self, root: Expr) -> Expr:
        for node in postorder([root], self._memo):
            if node.name == "param":
                self._memo[node] = param(self._parameter(node.attr), node.dtype)
            else:
                self._memo[node] = rebuild(node, tuple(self._memo[arg] for arg in node.args))
        return self._memo[root]
