"""Whether the loop tree of a kernel of arrays is well formed.

Beside what every tree has to be: it is mapped in lanes alone (a call is one part), keeps nothing in
variables, and row buffers are scratch; reductions name an order that fits their axes.
"""

from __future__ import annotations

from fusewright.ir import ops
from fusewright.ir.expr import postorder
from fusewright.ir.nest import Buffer
from fusewright.ir.tree.nodes import ArrayNode, OrderedReduction, Tree, blocks, expressions
from fusewright.ir.tree.units import BLOCK, HIGH, LOW, STRETCH, IndexLet, WindowStart
from fusewright.ir.tree.verify import TreeChecker


def check_array_tree(tree: Tree) -> None:
    """Raise an `InternalError` that names the node and what is wrong with it."""
    _ArrayChecker(tree).run()


class _ArrayChecker(TreeChecker):
    """`rows` are the buffers in scratch, `blocks` those that are reduced in blocks."""

    is_known_to_lie_well = True

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        assert tree.units is not None
        self.rows = {room.number for room in tree.units.rooms}
        self.blocks = {each.buffer for each in tree.units.partials}
        self.indices = {LOW.attr, HIGH.attr}
        if tree.units.partials:
            self.indices.add(BLOCK.attr)
        if tree.units.is_stretched:
            self.indices.add(STRETCH.attr)
        self.require(self.rows == tree.declared.scratch, "row buffers are not the scratch")
        sized = all(n.name not in ("index", "load") for n in postorder([tree.units.count]))
        self.require(sized, "how many units there are does not follow from parameters")

    def array_node(self, node: ArrayNode, where: str) -> None:
        """What only the trees of arrays have."""
        for expression in expressions(node):
            self.expression(expression, where)
        if isinstance(node, IndexLet):
            self.indices = self.indices | {node.index}
        elif isinstance(node, WindowStart):
            self.require(node.buffer in self.rows, f"{where}: b{node.buffer} is no row buffer")
        elif isinstance(node, OrderedReduction):
            self._reduction(node, where)
        else:
            around = self.indices
            for inner in blocks(node):
                self.nodes(inner)
            self.indices = around

    def _reduction(self, node: OrderedReduction, where: str) -> None:
        rank = len(node.extents)
        self.require(rank == len(node.low) == len(node.high), f"{where}: rank")
        self.require(bool(node.folds), f"{where}: nothing is reduced")
        fits = all(axis < rank for axis in node.axes) and bool(node.axes)
        self.require(fits, f"{where}: axes {node.axes}")
        last = node.axes[-1] == rank - 1 and (node.order == "lanes" or len(node.axes) == 1)
        self.require(last, f"{where}: {node.order} over {node.axes}")
        self.require(bool(node.chunk) == (node.order == "lanes"), f"{where}: chunks")
        around = self.indices
        self.indices = around | set(range(node.outer, rank))
        for store in node.stores:
            self.leaf(store, where)
        self.combines = ops.REDUCE if node.order == "lanes" else ops.SCAN
        for fold in node.folds:
            self.leaf(fold, where)
            self.require(bool(fold.combine), f"{where}: a fold that replaces")
        self.indices, self.combines = around, ops.MAP

    def fits(self, buffer: Buffer, count: int) -> bool:
        """Complex numbers are seen as reals with one more dim; one index may count all dims; the
        number of its block stands before the indices of what is reduced in blocks.
        """
        rank, part = len(buffer.extents), int(buffer.dtype.is_complex)
        return count - part in (rank, 1, rank + (buffer.slot in self.blocks))
