"""The loops around a work unit: which indices it runs over, and how its results are joined.

    parallel_for      for i in [begin, end): unit(i)                          (declared independent)
    parallel_reduce   blocks of fixed length, each from the identity on; then the blocks in order
    parallel_scan     one after the other; every call is the last pass

The blocks of a reduction depend on the range alone: the result is the same on any number of
threads.  Indices and an accumulator have the names the work unit gives them; other names have a
dot, so that no argument is called the same.
"""

from __future__ import annotations

import ast

from fusewright.base.values import dataclass
from fusewright.bridges.pykokkos.dialect import trees
from fusewright.bridges.pykokkos.dialect.functions import DECLARED, conversion
from fusewright.bridges.pykokkos.dialect.rewrite import Rewriter, Scope
from fusewright.bridges.pykokkos.dialect.rules import Kind
from fusewright.bridges.pykokkos.reducers import Part, Reducer
from fusewright.frontends.kernels.language import ndrange

BLOCKS = 256
"""Blocks of a reduction, at most."""
BLOCK, SIZE, JOINED = "range.block", "range.size", "all"


@dataclass(frozen=True, slots=True)
class Form:
    """What runs: the pattern, the number of dims, whether its iterations are independent, and
    whether ranges begin at 0 or above: an index is then known to be no negative one, which would
    count from the end of an array.
    """

    pattern: str
    dims: int
    declared: bool
    reducer: Reducer
    kind: Kind
    natural: bool = False

    def low(self, dim: int) -> ast.expr:
        """Where the range of a dim begins."""
        begin = trees.name(f"begin.{dim}")
        return trees.call(max, begin, ast.Constant(0)) if self.natural else begin


@dataclass(frozen=True, slots=True)
class Called:
    """What a work unit calls its indices and its accumulator."""

    indices: tuple[str, ...]
    acc: str


def parameters(form: Form) -> list[str]:
    """The driver's own parameters; the work unit's arguments follow."""
    bounds = [f"{word}.{k}" for k in range(form.dims) for word in ("begin", "end")]
    if form.pattern != "reduce":
        return bounds
    return [*bounds, SIZE, *(f"partial.{part.name}" for part in form.reducer.parts)]


def body(form: Form, unit: ast.expr, rest: list[ast.expr], names: Called) -> list[ast.stmt]:
    """The driver's statements.  `unit` is what is called, with the indices, the accumulator and
    `rest`.
    """
    indices: list[ast.expr] = [trees.name(each) for each in names.indices]
    if form.pattern == "for":
        call = ast.Call(unit, [*indices, *rest], [])
        return [_loops(form, names, [ast.Expr(call)], form.declared)]
    total = _tuple(form, names.acc)
    last: list[ast.expr] = [ast.Constant(True)] if form.pattern == "scan" else []
    called = ast.Call(unit, [*indices, total, *last, *rest], [])
    step: ast.stmt = ast.Assign([_target(form, names.acc)], called)
    if form.pattern == "scan":
        return [*_identity(form, names.acc), _loops(form, names, [step], False), ast.Return(total)]
    return _reduction(form, step, names)


IN_BLOCKS = """
for block in space:
    start
    for index in range(low + block * size, min(high, low + (block + 1) * size)):
        inner
    stores
"""


def _reduction(form: Form, step: ast.stmt, names: Called) -> list[ast.stmt]:
    parts = form.reducer.parts
    low, high = form.low(0), trees.name("end.0")
    stores = [
        ast.Assign(
            [ast.Subscript(trees.name(f"partial.{p.name}"), trees.name(BLOCK), ast.Store())],
            trees.name(_part(form, names.acc, p)),
        )
        for p in parts
    ]
    count = trees.call(len, trees.name(f"partial.{parts[0].name}"))
    blocks: ast.expr = trees.call(range, count)
    inner = step if form.dims == 1 else _loops(form, names, [step], False, 1)
    filled = {
        "space": trees.call(DECLARED, blocks) if form.declared else blocks,
        "start": _identity(form, names.acc), "low": low, "high": high, "index": names.indices[0],
        "inner": [inner], "stores": stores, "range": range, "min": min, "block": BLOCK,
        "size": SIZE,
    }  # fmt: skip
    made = trees.fill(IN_BLOCKS, filled)
    loads = [
        trees.assign(
            f"new.{p.name}",
            trees.call(
                conversion(p.kind_of(form.kind)),
                ast.Subscript(trees.name(f"partial.{p.name}"), trees.name(BLOCK), ast.Load()),
            ),
        )
        for p in parts
    ]
    join = trees.fill(form.reducer.join, _names(parts))
    joined = [*loads, *_typed(form, join)]
    again = trees.loop(BLOCK, trees.call(range, count), joined)
    return [*made, *_identity(form, JOINED), again, ast.Return(_tuple(form, JOINED))]


def _typed(form: Form, join: list[ast.stmt]) -> list[ast.stmt]:
    """A join whose results keep their types."""
    types = {f"all.{part.name}": part.kind_of(form.kind) for part in form.reducer.parts}
    scope = Scope(None, frozenset(types), types)
    return Rewriter(scope)._block(join)


def _names(parts: tuple[Part, ...]) -> dict[str, str]:
    """The variables of a join: `all_val` and `new_val` for a part `val`."""
    return {f"{of}_{p.name}": f"{of}.{p.name}" for of in ("all", "new") for p in parts}


def _identity(form: Form, of: str) -> list[ast.stmt]:
    return [
        trees.assign(
            _part(form, of, part),
            trees.call(conversion(part.kind_of(form.kind)), part.identity(form.kind)),
        )
        for part in form.reducer.parts
    ]


def _tuple(form: Form, of: str) -> ast.expr:
    """An accumulator: one variable, or a tuple of its parts."""
    names: list[ast.expr] = [trees.name(_part(form, of, each)) for each in form.reducer.parts]
    return names[0] if len(names) == 1 else trees.tuple_of(names)


def _target(form: Form, of: str) -> ast.expr:
    names: list[ast.expr] = [trees.target(_part(form, of, each)) for each in form.reducer.parts]
    return names[0] if len(names) == 1 else ast.Tuple(names, ast.Store())


def _part(form: Form, of: str, part: Part) -> str:
    """The variable of one part: the accumulator itself where that is all it has."""
    return of if of != JOINED and len(form.reducer.parts) == 1 else f"{of}.{part.name}"


def _loops(
    form: Form, names: Called, inner: list[ast.stmt], declared: bool, first: int = 0
) -> ast.stmt:
    """The nest over the dims from `first` on."""
    dims = range(first, len(names.indices))
    bounds: list[ast.expr] = [trees.tuple_of((form.low(k), trees.name(f"end.{k}"))) for k in dims]
    if len(dims) == 1:
        space = trees.call(range, form.low(first), trees.name(f"end.{first}"))
        target: ast.expr = trees.target(names.indices[first])
    else:
        space = trees.call(ndrange, *bounds)
        target = ast.Tuple([trees.target(names.indices[k]) for k in dims], ast.Store())
    if declared:
        space = trees.call(DECLARED, space)
    return ast.For(target, space, inner, [])
