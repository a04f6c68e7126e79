"""Whether a program of nests is well formed: checked between stages in debug mode.

Each check names the step and what is wrong; nothing is repaired.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fusewright.base.errors import InternalError
from fusewright.ir import ops
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.nest import Alias, Library, Nest, Program, Stage

FORMS = {"map": frozenset({""}), "fold": frozenset(ops.REDUCE), "scan": frozenset(ops.SCAN)}


def check_program(program: Program, slots: int, leaves: Collection[int]) -> None:
    """Refuse a program whose steps read what is not there, or whose nests do not fit their loops.

    `slots` is the number of nodes of the slice, `leaves` are those that are in memory already.
    """
    _Checker(program, slots, leaves).run()


class _Checker:
    def __init__(self, program: Program, slots: int, leaves: Collection[int]) -> None:
        self.program = program
        self.slots = slots
        self.ready: set[int] = set(leaves)

    def run(self) -> None:
        program = self.program
        for number, source in enumerate(program.arguments):
            self._require(
                0 <= source.slot < self.slots, f"argument {number}: no slot {source.slot}"
            )
        for slot, buffer in program.buffers.items():
            self._require(slot == buffer.slot, f"buffer {slot} calls itself {buffer.slot}")
            for extent in (*buffer.extents, *(buffer.strides or ())):
                self._position(f"buffer {slot}", extent, 0)
        for number, step in enumerate(program.steps):
            self._step(f"step {number} (slot {step.slot})", step)
            self.ready.add(step.slot)
        missing = program.outputs - self.ready
        self._require(not missing, f"nothing computes the outputs {sorted(missing)}")

    def _step(self, where: str, step: Stage | Library | Alias) -> None:
        self._require(step.slot in self.program.buffers, f"{where}: no buffer")
        if isinstance(step, Library):
            for slot in step.reads:
                self._reads(where, slot)
        elif isinstance(step, Alias):
            self._reads(where, step.source)
        else:
            self._stage(where, step)

    def _stage(self, where: str, stage: Stage) -> None:
        rank = len(stage.extents)
        self._require(stage.fold in FORMS[stage.form], f"{where}: {stage.form} of {stage.fold!r}")
        self._require((stage.form == "map") == (not stage.axes), f"{where}: axes {stage.axes}")
        self._require(all(0 <= axis < rank for axis in stage.axes), f"{where}: axes {stage.axes}")
        self._require(bool(stage.nests), f"{where}: no nests")
        if stage.update >= 0:
            self._reads(where, stage.update)
        for extent in stage.extents:
            self._position(where, extent, 0)
        for number, nest in enumerate(stage.nests):
            self._nest(f"{where}, nest {number}", stage, nest)

    def _nest(self, where: str, stage: Stage, nest: Nest) -> None:
        rank = len(stage.extents)
        sizes = (len(nest.box.low), len(nest.box.high))
        self._require(sizes == (rank, rank), f"{where}: a box of {sizes} dims in {rank} loops")
        for bound in (*nest.box.low, *nest.box.high):
            self._position(where, bound, 0)
        for place in nest.store:
            self._position(where, place, rank)
        stored = len(self.program.buffers[stage.slot].extents)
        self._require(
            len(nest.store) in (stored, stored + 1), f"{where}: {len(nest.store)} indices"
        )
        for node in postorder([nest.body]):
            self._expression(where, node, rank)

    def _position(self, where: str, root: Expr, rank: int) -> None:
        self._require(root.dtype is INT64, f"{where}: {root!r} is no int64")
        for node in postorder([root]):
            self._expression(where, node, rank)

    def _expression(self, where: str, node: Expr, rank: int) -> None:
        if node.name == "param":
            number = node.attr[0] if isinstance(node.attr, tuple) else node.attr
            known = 0 <= number < len(self.program.arguments)
            self._require(known, f"{where}: no run-time argument {number}")
        elif node.name == "index":
            self._require(0 <= node.attr < rank, f"{where}: loop {node.attr} of {rank}")
        elif node.name == "load":
            self._load(where, node)

    def _load(self, where: str, node: Expr) -> None:
        self._reads(where, node.attr)
        rank = len(self.program.buffers[node.attr].extents)
        whole = len(node.args) in (rank, rank + 1)
        self._require(whole, f"{where}: {len(node.args)} indices into a value of rank {rank}")
        for position in node.args:
            self._require(position.dtype is INT64, f"{where}: index {position!r} is no int64")

    def _reads(self, where: str, slot: int) -> None:
        self._require(slot in self.ready, f"{where}: slot {slot} is read before it is computed")

    def _require(self, right: bool, what: str) -> None:
        if not right:
            raise InternalError(f"the program is not well formed: {what}", tuple(self._trace()))

    def _trace(self) -> Iterator[str]:
        yield "slice"
        yield "nests"
