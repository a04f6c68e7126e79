"""Compiling a slice: plan, lower, generate code; quick code at once where the best takes long."""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.base.options import Options
from fusewright.codegen.canonical import lower_once, tree_once
from fusewright.codegen.trees.launches import launches_of
from fusewright.ir import graph, ops, verify
from fusewright.ir.dtypes import DType
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.nest import Program, grouped
from fusewright.ir.tree.launches import check_launches
from fusewright.ir.tree.verify_arrays import check_array_tree
from fusewright.machine import record as machine
from fusewright.plan import fuse, serial, stages
from fusewright.plan import verify as check
from fusewright.plan.plan import Kernel, Plan
from fusewright.runtime.arguments import fetcher, integer
from fusewright.runtime.listening import CompiledTexts, compilations
from fusewright.runtime.trace import Slice
from fusewright.targets.cpu import compiler, finishing, portions
from fusewright.targets.cpu.compiled import NOT_MADE, Compiled, CompiledKernel
from fusewright.targets.cpu.features import FeatureSet, select


def decide(slice_: Slice, options: Options) -> tuple[Program, Plan]:
    """What would run: the slice as stages, and how they are grouped."""
    order, outputs = slice_.order, frozenset(slice_.outputs)
    reusable = frozenset(slice_.slots[node] for node in slice_.reusable)
    program = stages.build(order, outputs, reusable, options.fuse, slice_.staged)
    leaves = {slot for slot, node in enumerate(order) if node.kind == graph.LEAF}
    if options.debug:
        verify.check_program(program, len(order), leaves)
    values = [fetcher(source, order[source.slot].kind)(order) for source in program.arguments]

    def size(expr: Expr) -> int:
        return integer(expr)(values)

    plan = fuse.group(program, size, options.fuse)
    if options.fuse and slice_.is_small:
        plan = serial.joined(plan)
    if options.debug:
        check.check_plan(program, plan, leaves)
        check_launches(launches_of(program, plan), program.outputs, leaves)
    return program, plan


def build(slice_: Slice, options: Options) -> Compiled:
    """Plan and compile a slice: LLVM works on one kernel while the next is being written."""
    with compiler.batch(select(options.features)) as submit:
        return finishing.finished(planned(slice_, options, submit), submit)


def planned(slice_: Slice, options: Options, submit: compiler.Submit | None = None) -> Compiled:
    """The plan of a slice and the text of its kernels, without code; `submit` gets each text as
    soon as it is written.
    """
    order = slice_.order
    program, plan = decide(slice_, options)
    if portions.is_hungry(order, plan, program.outputs):
        raise portions.TooMuch
    features = select(options.features)
    scalars = {
        number: order[source.slot].dtype
        for number, source in enumerate(program.arguments)
        if source.what == "scalar"
    }
    kernels: list[CompiledKernel | None] = []
    for step in plan.steps:
        kernel = None
        if isinstance(step, Kernel):
            kernel = _kernel(program, step, features, scalars, options, slice_.is_large)
            if submit is not None:
                submit(kernel.module.text, kernel.level)
        kernels.append(kernel)
    if compilations:
        written = tuple(each.module.text for each in kernels if each is not None)
        _tell(program, plan, written, features.vector_bytes, slice_.is_large)
    kinds = tuple(node.kind for node in order)
    return Compiled(program, plan, tuple(kernels), kinds, slice_.is_large)


def _tell(
    program: Program, plan: Plan, llvm: tuple[str, ...], vector_bytes: int, large: bool
) -> None:
    # Imported here: only a recorder of compilations asks for texts.
    from fusewright.ir.text import program_text
    from fusewright.ir.tree.launches import launches_text
    from fusewright.ir.tree.text import tree_text
    from fusewright.plan.text import plan_text

    kernels = (step for step in plan.steps if isinstance(step, Kernel))
    parts = [launches_text(launches_of(program, plan))]
    parts += [tree_text(tree_once(program, each, vector_bytes, large).tree) for each in kernels]
    texts = CompiledTexts(
        "arrays", program_text(program), plan_text(program, plan), llvm, "".join(parts)
    )
    for tell in compilations:
        tell(texts)


def _kernel(
    program: Program,
    kernel: Kernel,
    features: FeatureSet,
    scalars: dict[int, DType],
    options: Options,
    large: bool,
) -> CompiledKernel:
    if options.debug:
        check_array_tree(tree_once(program, kernel, features.vector_bytes, large).tree)
    module = lower_once(program, kernel, features.vector_bytes, large)
    # Level 0 takes a quarter of the time (a reduction 3 ms instead of 11), and its code at most 2.5
    # times as long in the caches, 1.3 times from memory.
    quick = options.background and module.text.count("\n") > machine.current().quick_lines
    return CompiledKernel(kernel, module, NOT_MADE, nanoseconds_of(kernel), scalars, not quick)


def nanoseconds_of(kernel: Kernel) -> float:
    """Nanoseconds for one element, roughly: of a stage in pieces each element is in one of them."""
    return sum(
        max(_element_work([nest.body for nest in nests]) for _, nests in grouped(member.stage))
        for member in kernel.members
    )


def _element_work(bodies: Sequence[Expr]) -> float:
    """Operations as `ir.ops` prices them; loads and stores, of the third cache.  Where an element
    lies is known to the loop.
    """
    whole = list(postorder(bodies))
    places = [place for node in whole if node.name == "load" for place in node.args]
    nodes = list(postorder(bodies, known=set(postorder(places)) - set(bodies)))
    adds = sum(ops.MAP[node.name].cost for node in nodes if node.name in ops.MAP)
    loads = [node for node in nodes if node.name == "load"]
    moved = sum(node.dtype.itemsize for node in (*bodies, *loads))
    rates = machine.current()
    return adds / rates.multiply_add + moved / rates.third_bandwidth
