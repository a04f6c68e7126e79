"""Kernels of arrays that are run a second time, by an evaluator of their trees on copies of their
memory: what the interpreter of trees and the printer of C are compared with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np
import pytest
from tests.evaluators import installed
from tests.golden.array_programs import ARRAYS, array, heat

import fusewright as fw
import fusewright.numpy as fnp
from fusewright import driver
from fusewright.codegen import canonical
from fusewright.codegen.lower import module_of
from fusewright.ir import ops
from fusewright.ir.expr import Expr
from fusewright.ir.loops.statements import Store
from fusewright.ir.nest import Buffer
from fusewright.ir.text import parse_program, program_text
from fusewright.ir.tree import nodes
from fusewright.ir.tree.interpret_arrays import UnitCalls
from fusewright.ir.tree.nodes import OrderedReduction, Tree
from fusewright.ir.tree.parse import parse_tree
from fusewright.ir.tree.text import tree_text
from fusewright.ir.tree.verify_arrays import check_array_tree
from fusewright.runtime.arguments import integer
from fusewright.targets.cpu import build
from fusewright.targets.cpu.launch import Launch

MOST = 2500
"""Elements that are interpreted, at most."""
trees: dict[Any, tuple[Tree, tuple[int, ...], tuple[Any, ...]]] = {}
met: Counter[str] = Counter()


def count(tree: Tree) -> None:
    """What the trees of these tests have."""
    assert tree.units is not None
    for room in tree.units.rooms:
        met["rings"] += room.rows > 1 and not room.tile
        met["tiles"] += room.tile
        met["stretches"] += room.halo >= 0
    met["blocks"] += len(tree.units.partials)
    for node in nodes.walk(tree.body):
        met[type(node).__name__] += 1
        if isinstance(node, OrderedReduction):
            met[node.order] += 1
        elif isinstance(node, Store):
            met["elements"] += node.combine in ops.MAP  # the results are the accumulators


def lowered(program: Any, kernel: Any, vector_bytes: int, large: bool = False) -> Any:
    """The module, and its tree checked."""
    module = canonical.lower_once(program, kernel, vector_bytes, large)
    tree, slots, params = canonical.tree_once(program, kernel, vector_bytes, large)
    check_array_tree(tree)
    assert parse_program(program_text(program)) == program
    back = parse_tree(tree_text(tree))
    assert back == tree
    assert module_of(back, vector_bytes) == module_of(tree, vector_bytes)
    assert module_of(tree, vector_bytes).text == module.text
    count(tree)
    trees[module.text, module.words] = tree, slots, params
    return module


def sizes(extents: tuple[Expr, ...], values: Any) -> tuple[int, ...]:
    return tuple(integer(extent)(values) for extent in extents)


def seen(buffer: Buffer, memory: Any, offset: int, values: Any) -> Any:
    """An array over memory; that of a patched value is seen as it lies there."""
    shape = sizes(buffer.extents, values)
    strides = None if buffer.strides is None else sizes(buffer.strides, values)
    return np.ndarray(shape, buffer.dtype.numpy, memory, offset, strides)


def calls_of(launch: Launch, values: Any) -> UnitCalls:
    """Two parts of whole blocks, where there are as many."""
    units = launch.units(values)
    block = launch.block(values) if launch.partials else 1
    half = units // 2 // block * block
    parts = [(0, units)] if launch.kernel.ordered or not half else [(0, half), (half, units)]
    return UnitCalls(parts, block, launch.stretch(values))


Evaluate = Callable[[Tree, list[Any], list[Any], UnitCalls], bool]
"""Runs a tree on arrays; whether it could."""
original_run = Launch.run


def run(evaluate: Evaluate, self: Launch, values: Any, memories: Any, limit: int) -> int:
    """The compiled kernel, and its tree on copies."""
    before = {slot: (bytearray(memoryview(m.owner).cast("B")), offset)
              for slot, (m, offset) in memories.items()}  # fmt: skip
    used = original_run(self, values, memories, limit)
    known = trees.get((self.signature.text, self.signature.words))
    if known is None or not 0 < self.units(values) * self.inner(values) <= MOST:
        return used  # compiled before these tests, or too much for an interpreter
    tree, slots, params = known
    own = [values[p] for p in params]
    assert tree.units is not None
    assert integer(tree.units.count)(own) == self.units(values)
    assert tree.units.in_order == self.kernel.ordered
    for slot, base in self.inherits.items():
        before[slot] = before[base]
    given, written = [], []
    for number in tree.declared.given:
        buffer, slot = tree.declared.buffers[number], slots[number]
        size = prod(sizes(buffer.extents, own)) * buffer.dtype.itemsize
        memory, offset = before.get(slot, (bytearray(max(size, 1)), 0))
        given.append(seen(buffer, memory, offset, own))
        if slot in {slot for slot, _ in self.outputs}:
            written.append((given[-1], seen(buffer, *memories_of(memories[slot]), own)))
    if not evaluate(tree, given, own, calls_of(self, values)):
        return used
    for found, wanted in written:
        np.testing.assert_array_equal(found, wanted, tree_text(tree), strict=True)
        assert np.array_equal(np.signbit(found.real), np.signbit(wanted.real)) or (
            np.isnan(wanted).any()
        )
    met["evaluated"] += 1
    return used


def memories_of(pair: Any) -> tuple[Any, int]:
    return pair[0].owner, pair[1]


@contextmanager
def evaluated(evaluate: Evaluate) -> Iterator[None]:
    """Where a kernel of arrays is compiled its tree is checked, where it runs the tree does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "lower_once", lowered)
        patch.setattr(Launch, "run", lambda *given: run(evaluate, *given))
        driver.cache_clear()
        with installed("driver"):
            yield
    driver.cache_clear()


def compiled(tmp_path: Any) -> Any:
    """Everything is compiled, here."""
    return fw.options(
        interpret=False, small=0, background=False, cache_dir=str(tmp_path), features="avx2",
        measure=False, threads=2,
    )  # fmt: skip


def repeated(steps: int) -> Any:
    x, s = array(90), array(90)
    for turn in range(steps):
        x = x * x * 0.25 + s * float(turn)
        s = s - x * 0.5
    return x + s


def streamed() -> Any:
    x = array(40, 12)
    y = fnp.exp(x) + 1.0
    z = y[1:] - y[:-1]
    return fnp.exp(z)[2:] * fnp.exp(z)[:-2]


MORE: dict[str, Callable[[], Any]] = {
    "three heats": lambda: heat(heat(heat(array(13, 40)))),
    "streamed": streamed,
    "turns": lambda: repeated(24),
    "sum of all": lambda: (array(40, 30) + array(40, 1)).sum(),
    "complex total": lambda: (array(30, 4) * (1j + array(30, 1))).sum(),
    "complex values": lambda: array(30, 40) * (1j + array(30, 40)),
    "sum over the first": lambda: fnp.exp(array(50, 7)).sum(axis=0),
    "sum over two": lambda: (array(5, 6, 7) * array(5, 1, 7)).sum(axis=(0, 2)),
    "running along the first": lambda: fnp.cumsum(array(20, 5) + 1, axis=0),
    "any": lambda: (array(20, 5) > 0.99).any(axis=1),
    "tiles": lambda: (lambda y: y[1:] * y[:-1])(fnp.exp(array(1200)) / array(1200)),
    "four dims": lambda: array(3, 4, 5, 6).max(axis=(1, 3)) - 1,
}


def evaluate_program(name: str) -> None:
    result = {**ARRAYS, **MORE}[name]()
    pending = result if isinstance(result, tuple) else (result,)
    fw.evaluate(*(value for value in pending if isinstance(value, fw.Array)))
