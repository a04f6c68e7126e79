"""What the tree of a kernel of arrays declares: its buffers, and the parameters it reads in the
order in which its expressions name them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fusewright.codegen.boxes import boxes
from fusewright.codegen.derived import Bodies, Derived
from fusewright.ir.dtypes import COMPLEX64, COMPLEX128, FLOAT32, INT64, DType
from fusewright.ir.expr import Expr, index, postorder
from fusewright.ir.loops.statements import Kernel as Declared
from fusewright.ir.nest import Nest, Program, Source
from fusewright.plan.plan import Kernel

Found = tuple[Declared, tuple[Expr, ...], frozenset[int]]


def declarations_of(program: Program, kernel: Kernel, derived: Derived) -> Found:
    """What is declared, the parameters that are read when the kernel starts, and the values it
    loads.
    """
    loops = list(_repeating(kernel, derived))
    repeats = {bodies: derived.repeat(bodies, along) for bodies, along, _ in loops}
    within = {id(nest) for _, _, nests in loops for nest in nests}
    plain = {n.body for m in kernel.members for n in m.stage.nests if id(n) not in within}
    hidden = {body for bodies in repeats for body in bodies} - plain
    roots = list(_expressions(kernel))
    slots = {m.stage.slot for m in kernel.members}
    loads = frozenset(node.attr for node in postorder(roots) if node.name == "load")
    written = [root for root in roots if root not in hidden]
    written += [e for slot in sorted(slots | loads) for e in _sizes(program, slot)]
    written += [extent for group in kernel.extents for extent in group]
    turned: set[Expr] = set()
    values: list[Expr] = []
    for one in repeats.values():
        assert one is not None
        written += [*one.start, *one.step, *one.roots]
        turned.update(one.found.varying)
        values += [scalar for turn in one.found.values for scalar in turn]
    params = tuple(n for n in postorder(written) if n.name == "param" and n not in turned)
    dtypes = _dtypes((*params, *values))
    buffers = tuple(program.buffers[slot] for slot in sorted(program.buffers))
    sources = tuple(Source("scalar", number) for number in range(len(dtypes)))
    rows = frozenset(m.stage.slot for m in kernel.members if m.place == "row")
    return Declared("arrays", buffers, rows, sources, dtypes, (), ()), params, loads


def _repeating(kernel: Kernel, derived: Derived) -> Iterator[tuple[Bodies, Expr, Sequence[Nest]]]:
    """The innermost vector loops whose bodies repeat a step."""
    shared = 0 if kernel.form == "tiles" else kernel.shared
    for phase in kernel.phases:
        if all(m.stage.form == "map" for m in phase) and len(phase[0].stage.extents) > shared:
            for _, nests in boxes(phase):
                bodies, along = tuple(n.body for n in nests), index(len(nests[0].box.low) - 1)
                if derived.repeat(bodies, along) is not None:
                    yield bodies, along, nests


def _expressions(kernel: Kernel) -> Iterator[Expr]:
    for member in kernel.members:
        yield from member.stage.extents
        for nest in member.stage.nests:
            yield nest.body
            yield from (*nest.store, *nest.box.low, *nest.box.high)


def _sizes(program: Program, slot: int) -> Iterator[Expr]:
    buffer = program.buffers[slot]
    yield from buffer.extents
    yield from buffer.strides or ()


def _dtypes(params: Sequence[Expr]) -> tuple[DType, ...]:
    """By number; of a part of a complex parameter, the complex type."""
    known: dict[int, DType] = {}
    for node in params:
        if isinstance(node.attr, tuple):
            known[node.attr[0]] = COMPLEX64 if node.dtype is FLOAT32 else COMPLEX128
        else:
            known[node.attr] = node.dtype
    return tuple(known.get(number, INT64) for number in range(max(known, default=-1) + 1))
