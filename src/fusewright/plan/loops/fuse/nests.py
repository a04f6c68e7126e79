"""The loops of one block as the fuser handles them: each with its unit and what its order allows,
asked once.
"""

from __future__ import annotations

from fusewright.analysis.unit import Unit
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.ir.expr import postorder
from fusewright.ir.loops.statements import (
    NOWHERE,
    Check,
    For,
    Leave,
    Let,
    Print,
    Statement,
    Store,
    While,
    expressions,
    walk,
)
from fusewright.plan.loops.legality.live_in import Locals, assigned, exposed, used
from fusewright.plan.loops.legality.loop_facts import EARLY_END, buffers_in, reduction
from fusewright.plan.loops.map.parallel import Parallelism


@dataclass(frozen=True, slots=True)
class Item:
    """A loop of a block.  `parallel` are the places of dims that carry nothing once the dims
    further out are fixed, `separable` of those in which iterations that differ never meet; `vector`
    is the place of the dim it would run in vectors along, or -1; `size` counts operations; a `part`
    has been cut out of a loop that was fused; `last` is the line of the last loop that went into
    it.
    """

    loop: For
    unit: Unit
    parallel: frozenset[int]
    separable: frozenset[int]
    vector: int
    size: int
    buffers: frozenset[int]
    read: frozenset[int]
    written: frozenset[int]
    part: bool = False
    last: Span = NOWHERE

    @property
    def on_threads(self) -> bool:
        return 0 in self.parallel

    @property
    def may_end_all(self) -> bool:
        """Whether an iteration may leave more than the loop: then what follows does not run, and
        what precedes has run to its end.
        """
        return any(scalar.name == EARLY_END for scalar in self.unit.carried)

    @property
    def has_plain_bounds(self) -> bool:
        """Whether the bounds are the same whenever they are computed: no memory is read."""
        bounds = [bound for dim in self.loop.dims for bound in (dim.low, dim.high)]
        return all(node.name != "load" for node in postorder(bounds))


def item(ways: Parallelism, loop: For, live: Locals) -> Item:
    """Ask what there is to know of a loop."""
    nest = ways.nest(loop, live)
    places = {dim.index: place for place, dim in enumerate(loop.dims)}
    parallel = frozenset(places[n] for n in nest.parallel if n in places)
    vector = places.get(ways.vector(loop, nest.parallel), -1)
    apart = parallel & frozenset(nest.order.separable if nest.order is not None else ())
    return made(ways, loop, nest.unit, (parallel, apart | parallel & {0}), vector)


def made(
    ways: Parallelism,
    loop: For,
    unit: Unit,
    free: tuple[frozenset[int], frozenset[int]],
    vector: int,
) -> Item:
    """An item of known answers; `free` are the places of dims that are parallel, and separable."""
    size = sum(1 for s in walk((loop,)) for _ in postorder(expressions(s)))
    stores = [s for s in walk((loop,)) if isinstance(s, Store)]
    nodes = postorder(e for s in walk((loop,)) for e in expressions(s))
    read = frozenset(node.attr for node in nodes if node.name == "load")
    read |= frozenset(s.buffer for s in stores if s.combine)
    written = frozenset(s.buffer for s in stores)
    return Item(loop, unit, *free, vector, size, buffers_in(loop), read, written, last=loop.span)


def shared_variables(ways: Parallelism, a: For, b: For, live: Locals) -> Locals:
    """Variables by which one loop depends on the other; sums of both into one are none, where the
    order of the updates cannot be seen.
    """
    left, right = assigned(a.body), assigned(b.body)
    meeting = (left & exposed((b,))) | (exposed((a,)) & right) | (left & right & live)

    def commutes(number: int) -> bool:
        dtype = ways.around.kernel.locals[number].dtype
        kinds = {reduction(a, number), reduction(b, number)}
        return dtype.is_integer and len(kinds) == 1 and "" not in kinds

    return frozenset(number for number in meeting if not commutes(number))


def may_swap(ways: Parallelism, first: Statement, second: Statement) -> bool:
    """Whether two statements that are not both loops may change places, as far as one can see."""
    for statement in walk((first, second)):
        if isinstance(statement, Print | Check | Leave | While):
            return False
    left, right = assigned((first,)), assigned((second,))
    variables = (left & used((second,))) | (used((first,)) & right) | (left & right)
    if variables:
        return False
    apart = ways.around.kernel.apart
    stored = [{s.buffer for s in walk((x,)) if isinstance(s, Store)} for x in (first, second)]
    touched = [buffers_in(first), buffers_in(second)]
    return all(
        p != q and apart(p, q)
        for mine, others in ((stored[0], touched[1]), (stored[1], touched[0]))
        for p in mine
        for q in others
    )


def hoisted(ways: Parallelism, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Variables set between loops are set before them, where nothing can tell."""
    done: list[Statement] = []
    for statement in body:
        place = len(done)
        if isinstance(statement, Let):
            while (
                place
                and isinstance(done[place - 1], For)
                and may_swap(ways, done[place - 1], statement)
            ):
                place -= 1
        done.insert(place, statement)
    return tuple(done)
