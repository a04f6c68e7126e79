"""The loop tree of a kernel as a person would write it, in the user's names: what `show("loops")`
prints, for kernels of loops and of arrays.

    for i0 in [1, (p0 + -1)) in lanes of 4:      for i in range(1, a.shape[0] - 1):  # 4 lanes
      v1 = (0.5 * (b0[(i0 + -1)] + ...      ->     v1 = 0.5 * (a[i - 1] + a[i + 1])

`ir.tree.text` is the exact form, which parses back; this one is only read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fusewright.codegen.wording import ATOM, Names, Wording, called, free_name, infix
from fusewright.ir import ops
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.loops.statements import Check, Leave, Let, Print, Store
from fusewright.ir.tree import units
from fusewright.ir.tree.nodes import (
    Allocate,
    Branch,
    Labelled,
    LaneMapping,
    MappedLoop,
    MaskedBlock,
    Node,
    OrderedReduction,
    PairedStore,
    Reduction,
    RepeatedStep,
    Section,
    Together,
    Tree,
    WhileLoop,
    expressions,
    stores_in,
    walk,
)
from fusewright.ir.tree.units import HIGH, LOW, IndexLet, Units, WindowStart

_STEP = "    "
_DIMS = "ijklpqrs"
"""What the dims of arrays are called, and loops over their elements that have no name."""
_UPDATED = {"add": "+", "subtract": "-", "multiply": "*", "bitwise_and": "&", "bitwise_or": "|",
            "bitwise_xor": "^", "logical_and": "&", "logical_or": "|"}  # fmt: skip


def listing(tree: Tree, names: Names) -> str:
    """The loops of a kernel."""
    return "\n".join(_Listing(tree, names).lines()) + "\n"


class _Listing:
    def __init__(self, tree: Tree, names: Names) -> None:
        self.tree = tree
        self.kernel = tree.declared
        self.names = names
        self.taken = {*names.buffers.values()}
        names.locals = [
            free_name(
                local.name if local.name.strip("_").isidentifier() else f"v{number}", self.taken
            )
            for number, local in enumerate(self.kernel.locals)
        ]
        if tree.units is not None:
            names.indices = dict(enumerate(_DIMS)) | dict(enumerate(units.NAMES, LOW.attr))

    def lines(self) -> Iterator[str]:
        if self.tree.units is None:
            yield from self.block(self.tree.body, "")
        else:
            yield from self._parts(self.tree.units)

    # -- units ----------------------------------------------------------------------------------

    def _parts(self, called_for: Units) -> Iterator[str]:
        """A tree that is called for parts of its units, which are one loop where it is all that
        is done with them.
        """
        body = _without_sections(self.tree.body)
        single = body[0] if len(body) == 1 else None
        ends = {LOW, HIGH} & {n for node in walk(body) for n in postorder(expressions(node))}
        mapped = [] if called_for.in_order else ["threads"]
        if isinstance(single, MappedLoop) and _is_over_all(single):
            yield from self._loop(single, mapped, self.names.position(called_for.count))
        elif ends:
            count = self.names.position(called_for.count)
            yield _headed(f"for low, high in parts({count}):", mapped)
            yield from self.block(body, _STEP)
        else:
            yield from self.block(body, "")
        for each in called_for.partials:
            yield f"# {self.names.buffer(each.buffer)}: the blocks are combined by halving"

    # -- nodes ----------------------------------------------------------------------------------

    def block(self, body: Iterable[Node], indent: str) -> Iterator[str]:
        lines = [f"{indent}{line}" for node in body for line in self._node(node)]
        yield from lines or [f"{indent}pass"]

    def _node(self, node: Node) -> Iterator[str]:
        match node:
            case Let():
                yield from self._let(node)
            case Store() | PairedStore():
                yield from self._stores((node,))
            case MappedLoop():
                yield from self._loop(node, [] if node.threads is None else ["threads"])
            case Leave():
                yield f"leave block {node.label}"
            case Check():
                yield f"check {self.names.text(node.condition)}  # {node.message}"
            case Print():
                yield "print(...)"
            case Allocate():
                yield from self._room(node)
            case Branch() | MaskedBlock() | WhileLoop() | Labelled():
                yield from self._structured(node)
            case _:
                yield from self._of_arrays(node)

    def _of_arrays(self, node: Node) -> Iterator[str]:
        match node:
            case IndexLet():
                yield from self._index(node)
            case WindowStart():
                place = self.names.position(node.place)
                yield f"# {self.names.buffer(node.buffer)} begins at {place}"
            case Section():
                yield from self.block(node.body, "")
            case Together():
                yield from self._stores(node.body)
            case RepeatedStep():
                yield f"# a step that repeats: a loop over its turns, {node.width} lanes at a time"
                yield from self._stores(node.body)
            case OrderedReduction():
                yield from self._reduction(node)

    def _structured(self, node: Branch | MaskedBlock | WhileLoop | Labelled) -> Iterator[str]:
        show = self.names.text
        match node:
            case WhileLoop() if not node.head:
                yield f"while {show(node.condition)}:"
            case WhileLoop():
                yield "while True:"
                yield from self.block(node.head, _STEP)
                yield f"{_STEP}if not ({show(node.condition)}): break"
            case Branch():
                yield f"if {show(node.condition)}:"
            case MaskedBlock():
                yield f"in lanes where {show(node.mask)}:"
            case Labelled():
                yield f"block {node.label}:"
        yield from self.block(node.body, _STEP)
        if isinstance(node, Branch) and node.orelse:
            yield "else:"
            yield from self.block(node.orelse, _STEP)

    def _room(self, node: Allocate) -> Iterator[str]:
        if node.scope != "register":  # of a variable it is seen where it is used
            extents = map(self.names.position, self.kernel.buffers[node.number].extents)
            where = "on the stack" if node.scope == "stack" else "in memory"
            yield f"{self.names.buffer(node.number)} = empty({', '.join(extents)})  # {where}"

    def _index(self, node: IndexLet) -> Iterator[str]:
        names = self.names.indices
        if node.value.name == "index" and node.index not in range(len(_DIMS)):
            names[node.index] = names[node.value.attr]  # another name of the same number
        else:
            yield f"{names[node.index]} = {self.names.position(node.value)}"

    # -- stores ---------------------------------------------------------------------------------

    def _let(self, node: Let) -> Iterator[str]:
        wording = Wording(self.names, (node.value,))
        text = wording.text(node.value)
        yield from (*wording.taken(), f"{self.names.locals[node.local]} = {text}")

    def _stores(self, body: Sequence[Store | PairedStore]) -> Iterator[str]:
        """Stores whose values are computed together."""
        stores = stores_in(body)
        wording = Wording(self.names, [store.value for store in stores])
        for store in stores:
            text = wording.text(store.value)
            yield from (*wording.taken(), self._stored(store, text))

    def _stored(self, store: Store, value: str) -> str:
        place = self.names.element(store.buffer, store.indices)
        if not store.combine:
            return f"{place} = {value}"
        row = ops.REDUCE.get(store.combine) or ops.SCAN.get(store.combine)
        by = row.combine if row is not None else store.combine
        sign = _UPDATED.get(by)
        return f"{place} {sign}= {value}" if sign else f"{place} = {called(by)}({place}, {value})"

    # -- loops ----------------------------------------------------------------------------------

    def _loop(self, loop: MappedLoop, mapped: Sequence[str], count: str = "") -> Iterator[str]:
        """A loop; over so many, where that is not what its bounds say."""
        names, outside = self.names, dict(self.names.indices)
        space = f"range({count})" if count else self._range(loop.low, loop.high)
        others = {name for number, name in outside.items() if number != loop.index}
        if loop.name or loop.index not in outside:
            taken = {*self.taken, *others}
            free = (letter for letter in _DIMS if letter not in taken)
            name = loop.name or next(free, f"i{loop.index}")
            names.indices[loop.index] = free_name(name, taken)
        words = [*mapped, *self._lanes(loop.lanes)]
        words += [f"{self._reduced(each)} in copies by {called(each.by)}"
                  for each in loop.reductions]  # fmt: skip
        yield _headed(f"for {names.indices[loop.index]} in {space}:", words)
        own = () if loop.threads is None else loop.threads.own
        yield from self.block((*own, *loop.body), _STEP)
        names.indices = outside

    def _range(self, low: Expr, high: Expr) -> str:
        begin, end = self.names.position(low), self.names.position(high)
        return f"range({end})" if begin == "0" else f"range({begin}, {end})"

    def _lanes(self, lanes: LaneMapping | None) -> Iterator[str]:
        if lanes is not None:
            anchor = lanes.anchor
            aligned = f" aligned to {self.names.buffer(anchor.buffer)}" if anchor else ""
            yield f"{lanes.width} lanes{aligned}"
            for past in lanes.nontemporal:
                yield f"{self.names.buffer(past.buffer)} past the caches"

    def _reduced(self, each: Reduction) -> str:
        is_local = each.what == "variable"
        return self.names.locals[each.number] if is_local else self.names.buffer(each.number)

    def _reduction(self, node: OrderedReduction) -> Iterator[str]:
        """The loops of a reduction, the last dim innermost, and how they collect."""
        indent = ""
        for dim in (*node.kept, *node.before, *node.run):
            yield f"{indent}for {_DIMS[dim]} in {self._range(node.low[dim], node.high[dim])}:"
            indent += _STEP
        head = f"for {_DIMS[node.last]} in {self._range(*node.ends)}:"
        yield indent + _headed(head, [*self._collects(node)])
        lines = (
            self._scan(node, node.folds[0]) if node.order == "scan"
            else self._stores((*node.stores, *node.folds))
        )  # fmt: skip
        yield from (f"{indent}{_STEP}{line}" for line in lines)

    def _collects(self, node: OrderedReduction) -> Iterator[str]:
        if node.order == "lanes":
            yield f"collected in {node.lanes.width} lanes, {node.chunk} elements at a time"
        else:
            yield "in order"
        if node.unit is not None:
            yield "in blocks of units"

    def _scan(self, node: OrderedReduction, fold: Store) -> Iterator[str]:
        """Each result from the one before it."""
        wording = Wording(self.names, (fold.value,))
        value = wording.spelled(fold.value)
        here, (axis,) = self.names.indices, node.axes
        place = self.names.element(fold.buffer, fold.indices)
        self.names.indices = here | {axis: f"{here[axis]} - 1"}
        previous = self.names.element(fold.buffer, fold.indices)
        self.names.indices = here
        by = ops.SCAN[fold.combine].combine
        sign = _UPDATED.get(by)
        text = (
            infix(sign, (previous, ATOM), value)[0] if sign
            else f"{called(by)}({previous}, {value[0]})"
        )  # fmt: skip
        yield from (*wording.taken(), f"{place} = {text}")


def _headed(head: str, words: Sequence[str]) -> str:
    return f"{head}  # {', '.join(words)}" if words else head


def _without_sections(body: Sequence[Node]) -> tuple[Node, ...]:
    """The nodes; what is loaded when is not to be seen in a listing."""
    inner = [node.body if isinstance(node, Section) else (node,) for node in body]
    return tuple(node for nodes in inner for node in nodes)


def _is_over_all(loop: MappedLoop) -> bool:
    """Whether a loop runs over the units of a call, and nothing else asks which these are."""
    roots = [e for node in walk(loop.body) for e in expressions(node)]
    inner = {node for node in postorder(roots) if node in (LOW, HIGH)}
    return (loop.low, loop.high) == (LOW, HIGH) and not inner
