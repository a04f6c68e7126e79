"""The loops around a work unit: which indices it runs over, and how its results are joined.

    parallel_for      for i in [begin, end): unit(i)                          (declared independent)
    parallel_reduce   blocks of fixed length, each from the identity on; then the blocks in order
    parallel_scan     one after the other; every call is the last pass

The blocks of a reduction depend on the range alone: the result is the same on any number of
threads.
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
SCALAR = "acc"


@dataclass(frozen=True, slots=True)
class Form:
    """What runs: the pattern, the number of dims, and whether its iterations are independent."""

    pattern: str
    dims: int
    declared: bool
    reducer: Reducer
    kind: Kind


def parameters(form: Form) -> list[str]:
    """The driver's own parameters; the work unit's arguments follow."""
    bounds = [f"{word}.{k}" for k in range(form.dims) for word in ("begin", "end")]
    if form.pattern != "reduce":
        return bounds
    return [*bounds, "size", *(f"partial.{part.name}" for part in form.reducer.parts)]


def body(form: Form, unit: ast.expr, rest: list[ast.expr]) -> list[ast.stmt]:
    """The driver's statements.  `unit` is what is called, with the indices, the accumulator and
    `rest`.
    """
    indices: list[ast.expr] = [trees.name(f"index.{k}") for k in range(form.dims)]
    if form.pattern == "for":
        call = ast.Call(unit, [*indices, *rest], [])
        return [_loops(form, [ast.Expr(call)], form.declared)]
    total = _tuple(form, "acc")
    last: list[ast.expr] = [ast.Constant(True)] if form.pattern == "scan" else []
    called = ast.Call(unit, [*indices, total, *last, *rest], [])
    step: ast.stmt = ast.Assign([_target(form, "acc")], called)
    if form.pattern == "scan":
        return [*_identity(form, "acc"), _loops(form, [step], False), ast.Return(total)]
    return _reduction(form, step)


def _reduction(form: Form, step: ast.stmt) -> list[ast.stmt]:
    parts = form.reducer.parts
    low, high = trees.name("begin.0"), trees.name("end.0")
    template = """
for block in space:
    start
    for index in range(low + block * size, min(high, low + (block + 1) * size)):
        inner
    stores
"""
    stores = [
        ast.Assign(
            [ast.Subscript(trees.name(f"partial.{p.name}"), trees.name("block"), ast.Store())],
            trees.name(f"acc.{p.name}"),
        )
        for p in parts
    ]
    count = trees.call(len, trees.name(f"partial.{parts[0].name}"))
    blocks: ast.expr = trees.call(range, count)
    inner = step if form.dims == 1 else _loops(form, [step], False, 1)
    filled = {
        "space": trees.call(DECLARED, blocks) if form.declared else blocks,
        "start": _identity(form, "acc"), "low": low, "high": high, "index": "index.0",
        "inner": [inner], "stores": stores, "range": range, "min": min,
    }  # fmt: skip
    made = trees.fill(template, filled)
    loads = [
        trees.assign(
            f"new.{p.name}",
            trees.call(
                conversion(p.kind_of(form.kind)),
                ast.Subscript(trees.name(f"partial.{p.name}"), trees.name("block"), ast.Load()),
            ),
        )
        for p in parts
    ]
    join = trees.fill(form.reducer.join, _names(parts))
    joined = [*loads, *_typed(form, join)]
    again = trees.loop("block", trees.call(range, count), joined)
    return [*made, *_identity(form, "all"), again, ast.Return(_tuple(form, "all"))]


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
            f"{of}.{part.name}",
            trees.call(conversion(part.kind_of(form.kind)), part.identity(form.kind)),
        )
        for part in form.reducer.parts
    ]


def _tuple(form: Form, of: str) -> ast.expr:
    """An accumulator: one variable, or a tuple of its parts."""
    names: list[ast.expr] = [trees.name(f"{of}.{part.name}") for part in form.reducer.parts]
    return names[0] if len(names) == 1 else trees.tuple_of(names)


def _target(form: Form, of: str) -> ast.expr:
    names: list[ast.expr] = [trees.target(f"{of}.{part.name}") for part in form.reducer.parts]
    return names[0] if len(names) == 1 else ast.Tuple(names, ast.Store())


def _loops(form: Form, inner: list[ast.stmt], declared: bool, first: int = 0) -> ast.stmt:
    """The nest over the dims from `first` on."""
    dims = range(first, form.dims)
    bounds: list[ast.expr] = [
        trees.tuple_of((trees.name(f"begin.{k}"), trees.name(f"end.{k}"))) for k in dims
    ]
    if len(dims) == 1:
        space = trees.call(range, trees.name(f"begin.{first}"), trees.name(f"end.{first}"))
        target: ast.expr = trees.target(f"index.{first}")
    else:
        space = trees.call(ndrange, *bounds)
        target = ast.Tuple([trees.target(f"index.{k}") for k in dims], ast.Store())
    if declared:
        space = trees.call(DECLARED, space)
    return ast.For(target, space, inner, [])
