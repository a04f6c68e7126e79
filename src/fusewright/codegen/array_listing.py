"""The listing of a kernel of arrays: what its values, sizes and numbers are called.

# a: float64[20, 30]
# t1: a row, in scratch
# n = 20, m = 30
for i in range(n):  # threads
for j in range(m):  # collected in 16 lanes, 8192 elements at a time
t1[i, 0] += a[i, j]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from fusewright.codegen.listing import listing
from fusewright.codegen.wording import Names
from fusewright.ir.dtypes import DType
from fusewright.ir.expr import Expr
from fusewright.ir.nest import Program
from fusewright.ir.tree.nodes import Tree, buffers_of, stored
from fusewright.ir.tree.units import RowBuffer

Value = tuple[DType, tuple[int, ...]]
"""The type and the shape of a value of the program."""
EXTENTS = "nmh"
LETTERS = "abcdefgxyzuvw"


def array_listing(
    values: Sequence[Value],
    program: Program,
    tree: Tree,
    slots: Sequence[int],
    params: Sequence[int],
) -> str:
    """The kernel's loops as text; `slots` and `params` say which of the program's `values` and
    parameters the tree's are.
    """
    names = _ArrayNames(values, program, tree, slots, params)
    loops = listing(tree, names)
    return "".join(f"# {line}\n" for line in names.known()) + loops.rstrip()


class _ArrayNames(Names):
    """Results are `out`, what only this kernel sees `t1`, ..., what it reads letters; sizes and
    numbers get names when they are met.
    """

    def __init__(
        self,
        values: Sequence[Value],
        program: Program,
        tree: Tree,
        slots: Sequence[int],
        params: Sequence[int],
    ) -> None:
        made, outs, temporaries, letters = stored(tree.body), count(1), count(1), iter(LETTERS)
        many = sum(slots[number] in program.outputs for number in made) > 1
        found: dict[int, str] = {}
        for number in sorted(buffers_of(tree.body), key=lambda number: slots[number]):
            if number not in made:
                found[number] = next(letters, f"a{number}")
            elif slots[number] in program.outputs:
                found[number] = f"out{next(outs)}" if many else "out"
            else:
                found[number] = f"t{next(temporaries)}"
        super().__init__(found, {})
        self.made, self.slots, self.params = made, slots, params
        self.values, self.program = values, program
        assert tree.units is not None
        self.rooms = tree.units.rooms
        self.extents: dict[int, str] = {}
        self.scalars: dict[Expr, str] = {}

    def number(self, node: Expr) -> str:
        """The name of a parameter."""
        own = node.attr[0] if isinstance(node.attr, tuple) else node.attr
        number = self.params[own]
        if self.program.arguments[number].what == "scalar":
            return self.scalars.setdefault(node, f"s{len(self.scalars) + 1}")
        place = len(self.extents)
        fresh = EXTENTS[place] if place < len(EXTENTS) else f"n{place + 1}"
        return self.extents.setdefault(number, fresh)

    def known(self) -> Iterator[str]:
        """What the names stand for."""
        for number, name in self.buffers.items():
            if number not in self.made:
                dtype, shape = self.values[self.slots[number]]
                yield f"{name}: {dtype}{list(shape)}"
        yield from (f"{self.buffer(room.number)}: {_kept(room)}, in scratch" for room in self.rooms)
        sizes = []
        for number, name in self.extents.items():
            source = self.program.arguments[number]
            if source.what == "extent":
                sizes.append(f"{name} = {self.values[source.slot][1][source.dim]}")
        if sizes:
            yield ", ".join(sizes)
        if self.scalars:
            given = (f"{name}: {node.dtype}" for node, name in self.scalars.items())
            yield f"{', '.join(given)} (given at run time)"


def _kept(room: RowBuffer) -> str:
    """What a row buffer holds."""
    if room.tile:
        return f"a tile of {room.rows} elements"
    rows = "a row" if room.rows <= 1 else f"the last {room.rows} rows"
    return f"{rows} of a stretch" if room.halo >= 0 else rows
