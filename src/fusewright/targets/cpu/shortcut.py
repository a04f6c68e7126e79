"""Small slices that are met often: a function of their own that checks and runs them without a
walk.

For a few elements the walk over the nodes costs more than the kernel.  Once a structure has been
met `AFTER` times, straight-line Python is written that looks at exactly what the slice's key
records, and calls the kernel; anything unexpected, and it leaves the slice to the general way.

    >>> # sqrt(a) + b, one dim, float64, in short
    >>> def run(n3):
    ...     n1, n2 = n3.args
    ...     if n1.op != "sqrt" or n1.shape != n3.shape: return False
    ...     memory = allocate(8 * n3.shape[0])
    ...     call(launch.address, units, n0.address, n2.address, memory.address)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from fusewright.base.options import Options
from fusewright.ir import graph
from fusewright.ir.dtypes import FLOAT64, DType
from fusewright.ir.expr import Expr
from fusewright.ir.graph import Node, contiguous_strides
from fusewright.plan.plan import TILE, counts_tiles
from fusewright.runtime.buffers import allocate
from fusewright.runtime.trace import ROWS, Slice
from fusewright.targets.cpu import launch as launching
from fusewright.targets.cpu import threads
from fusewright.targets.cpu.launch import PARALLEL_NANOSECONDS, Launch
from fusewright.targets.cpu.runner import Runner

AFTER = 8
"""Runs of a structure before it gets a function: writing one takes 0.5 ms."""
MOST_NODES = 64
MOST_ALIKE = 4
"""Functions kept for slices that end in the same operation."""

Run = Callable[[Node], bool]


@dataclass(frozen=True, slots=True)
class Shortcut:
    """`run(node)` makes the node a leaf, or answers False and has done nothing."""

    fuse: bool
    features: str
    run: Run


shortcuts: dict[tuple[str, DType], tuple[Shortcut, ...]] = {}
"""By the operation and dtype of the value that is asked for."""


def runs(node: Node, options: Options) -> bool:
    """Whether a shortcut knew the node's slice, and has run it."""
    for each in shortcuts.get((node.op, node.dtype), ()):
        fits = each.fuse is options.fuse and each.features == options.features
        if fits and each.run(node):
            return True
    return False


def learn(slice_: Slice, runner: Runner, options: Options) -> None:
    """Write a function for a slice, where its kind has one."""
    step = runner.steps[0]
    if not isinstance(step, Launch) or not _is_plain(slice_, runner, step):
        return
    text = _Text(slice_, runner, step)
    try:
        names: dict[str, Any] = text.names
        exec("\n".join(text.lines()), names)  # our own text, no value enters it
    except _NotPlainError:
        return
    root = slice_.order[-1]
    alike = shortcuts.get((root.op, root.dtype), ())
    made = Shortcut(options.fuse, options.features, names["run"])
    shortcuts[root.op, root.dtype] = (made, *alike[: MOST_ALIKE - 1])


class _NotPlainError(Exception):
    """The kernel wants to know something that the text does not look up."""


_KINDS = frozenset((graph.MAP, graph.LEAF, graph.SCALAR))


def _is_plain(slice_: Slice, runner: Runner, launch: Launch) -> bool:
    """One kernel that maps few elements of one shape, and stores the last node alone."""
    order = slice_.order
    shape = order[-1].shape
    if len(runner.steps) > 1 or runner.outputs != (len(order) - 1,) or not shape:
        return False
    if len(order) > MOST_NODES or any(node.kind not in _KINDS for node in order):
        return False
    if launch.partials or launch.scratch or launch.inherits or len(launch.outputs) > 1:
        return False
    alike = all(n.shape == (() if n.kind == graph.SCALAR else shape) for n in order)
    # the function checks for straight leaves, so it must be written for a kernel of straight ones
    leaves = (n for n in order if n.kind == graph.LEAF)
    if any(n.value[2] != contiguous_strides(shape, n.dtype.itemsize) for n in leaves):
        return False
    return alike and not any(n.demands for n in order) and prod(shape) <= _most(launch)


def _most(launch: Launch) -> int:
    """Elements that run on the calling thread and make no long row."""
    return min(ROWS[0], int(PARALLEL_NANOSECONDS / max(launch.work, 0.01)))


class _Text:
    """The function's text; `names` are the objects it mentions."""

    def __init__(self, slice_: Slice, runner: Runner, launch: Launch) -> None:
        self.order = slice_.order
        self.slots = slice_.slots
        self.arguments = runner.program.arguments
        self.launch = launch
        self.root = len(self.order) - 1
        self.names: dict[str, Any] = {
            "prod": prod, "contiguous_strides": contiguous_strides, "allocate": allocate,
            "word": launching.word, "launch": launch, "call": threads.code().run,
            "pack": launching.FLOAT64_BYTES.pack, "unpack": launching.WORD.unpack,
        }  # fmt: skip

    def lines(self) -> Iterator[str]:
        root = self.order[-1]
        rank, size = len(root.shape), root.dtype.itemsize
        count = "shape[0]" if rank == 1 else "prod(shape)"
        yield f"def run(n{self.root}):"
        yield f" shape = n{self.root}.shape"
        yield f" if len(shape) != {rank} or {count} > {_most(self.launch)}: return False"
        for itemsize in {n.dtype.itemsize for n in self.order if n.kind == graph.LEAF} | {size}:
            straight = f"({itemsize},)" if rank == 1 else f"contiguous_strides(shape, {itemsize})"
            yield f" strides{itemsize} = {straight}"
        yield from self._checks()
        units = self._spelled(launching.units(self.launch.kernel))
        if counts_tiles(self.launch.kernel):
            units = f"-(-({units}) // {TILE})"
        words = ", ".join(self._word(what) for what in self.launch.module.words)
        yield f" memory = allocate({count} * {size})"
        yield f" call(launch.address, {units}, {words})"
        inner = [f"n{s}.demands" for s, n in enumerate(self.order[:-1]) if n.kind == graph.MAP]
        if inner:
            yield f" {' = '.join(inner)} = 1"  # contract 5: as `computed_once` does
        yield f" n{self.root}.value = (memory, 0, strides{size})"
        yield f" n{self.root}.kind = {graph.LEAF}"
        yield f" n{self.root}.op = ''; n{self.root}.args = n{self.root}.attr = ()"
        yield " return True"

    def _checks(self) -> Iterator[str]:
        """The structure, users before what they use."""
        met: set[int] = {self.root}
        for slot in range(self.root, -1, -1):
            node, name = self.order[slot], f"n{slot}"
            dtype = self._named(node.dtype)
            yield (
                f" if {name}.kind != {node.kind} or {name}.dtype is not {dtype}"
                f"{self._particulars(slot, node)}: return False"
            )
            if node.kind == graph.LEAF:
                yield f" m{slot}, o{slot}, strides = {name}.value"
                yield f" if strides != strides{node.dtype.itemsize}: return False"
            if node.args:
                yield from self._operands(slot, node, met)

    def _particulars(self, slot: int, node: Node) -> str:
        if node.kind == graph.SCALAR:
            return ""
        shape = f" or n{slot}.shape != shape" if slot != self.root else ""
        if node.kind == graph.LEAF:
            return shape
        held = f" or n{slot}.demands" if slot != self.root else ""
        return f" or n{slot}.op != {node.op!r}{held}{shape}"

    def _operands(self, slot: int, node: Node, met: set[int]) -> Iterator[str]:
        """Operands met for the first time get their names; the others must be the same nodes."""
        targets, same = [], []
        for place, number in enumerate(self.slots[arg] for arg in node.args):
            if number in met:
                targets.append(f"again{place}")
                same.append(f"again{place} is not n{number}")
            else:
                met.add(number)
                targets.append(f"n{number}")
        yield f" {', '.join(targets)}, = n{slot}.args"
        if same:
            yield f" if {' or '.join(same)}: return False"

    def _named(self, dtype: DType) -> str:
        self.names[f"dtype_{dtype.name}"] = dtype
        return f"dtype_{dtype.name}"

    def _word(self, what: Any) -> str:
        number = what.number
        if what.what == "pointer" and number == self.root:
            return "memory.address"
        if what.what == "pointer" and self.order[number].kind == graph.LEAF:
            return f"m{number}.address + o{number}"
        if what.what != "param" or isinstance(number, tuple):
            raise _NotPlainError
        source, value = self.arguments[number], self._parameter(number)
        if source.what == "extent":
            return value
        dtype = self.order[source.slot].dtype
        if dtype is FLOAT64:
            return f"*unpack(pack({value}))"
        return f"word({value}, {self._named(dtype)})"

    def _parameter(self, number: int) -> str:
        source = self.arguments[number]
        if source.what == "extent":
            return f"n{source.slot}.shape[{source.dim}]"
        if source.what == "scalar":
            return f"n{source.slot}.value"
        raise _NotPlainError

    def _spelled(self, expr: Expr) -> str:
        """An integer expression of the launch."""
        if expr.name == "const":
            return repr(int(expr.attr))
        if expr.name == "param":
            return self._parameter(expr.attr)
        sign = {"add": "+", "multiply": "*"}.get(expr.name)
        if sign is None:
            raise _NotPlainError
        return f"({f' {sign} '.join(map(self._spelled, expr.args))})"
