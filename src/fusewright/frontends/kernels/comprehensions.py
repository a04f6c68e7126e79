"""Functions that a kernel makes itself, and comprehensions, which are such functions.

sum(a[i, k] * x[k] for k in range(n))   ->   def sum():
                                                 total = 0
                                                 for k in range(n): total += a[i, k] * x[k]
                                                 return total
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

from fusewright.base.errors import KernelListError
from fusewright.frontends.kernels import choices, lists, loops, spaces, storing
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.functions import row_of
from fusewright.frontends.kernels.inlining import inside, run_frame
from fusewright.frontends.kernels.liveness import Names
from fusewright.frontends.kernels.names import bind
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Closure,
    Elementwise,
    Growing,
    ListValue,
    Space,
    TupleValue,
    Value,
    Zipped,
)

ITEM, TOTAL, FOUND, LIST = ".item", ".total", ".found", ".list"
"""Names that no program has."""


def function(t: Translation, node: ast.FunctionDef, after: Names, tail: frozenset[int]) -> None:
    """`def` inside a kernel."""
    if node.decorator_list:
        raise t.refuse(
            node, f"a decorator of {node.name}, defined inside the kernel", help="leave it out"
        )
    bind(t, node.name, _closure(t, node), t.span(node))


def lambda_(t: Translation, node: ast.Lambda) -> Closure:
    """`lambda x: ...`."""
    body = ast.copy_location(ast.Return(node.body), node.body)
    return _closure(t, _function(node, "<lambda>", node.args, [body]))


def _closure(t: Translation, tree: ast.FunctionDef) -> Closure:
    given, plain = tree.args, [*tree.args.posonlyargs, *tree.args.args]
    pairs = list(zip(plain[len(plain) - len(given.defaults) :], given.defaults, strict=True))
    pairs += [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d]
    defaults = tuple((a.arg, t.lasting(t.expression(d))) for a, d in pairs)
    return Closure(tree, t.frame, defaults)


def _function(
    node: ast.AST, name: str, arguments: ast.arguments, body: list[ast.stmt]
) -> ast.FunctionDef:
    made = ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[])
    return ast.fix_missing_locations(ast.copy_location(made, node))


# -- written out ----------------------------------------------------------------------------------


def list_of(t: Translation, node: ast.ListComp) -> Value:
    """`[x for ...]` over what has a length known when the kernel is compiled."""
    return _list_of(t, node)


def _list_of(t: Translation, node: ast.ListComp | ast.GeneratorExp) -> Value:
    if storing.is_known(t, t.span(node)):
        return _grown(t, node)
    return ListValue(_items(t, node), t.span(node))


def _grown(t: Translation, node: ast.ListComp | ast.GeneratorExp) -> Value:
    """The list with memory, its items appended one after the other."""
    call = ast.Call(ast.Attribute(_name(LIST, node), "append", ast.Load()), [node.elt], [])
    empty = ast.copy_location(ast.List([], ast.Load()), node)
    body = [
        _set(LIST, empty),
        *_nested(node.generators, [ast.copy_location(ast.Expr(call), node.elt)]),
        ast.copy_location(ast.Return(_name(LIST, node)), node),
    ]
    tree = _function(node, "a comprehension", _no_arguments(), body)
    frame = inside(t, node, tree, t.frame, {})
    frame.is_comprehension = True
    return run_frame(t, frame)


def _items(t: Translation, node: ast.ListComp | ast.GeneratorExp) -> tuple[Value, ...]:
    tree = _function(node, "a comprehension", _no_arguments(), [ast.Pass()])
    frame = inside(t, node, tree, t.frame, {})
    frame.is_comprehension = True
    frame.names = frozenset(
        inner.id
        for each in node.generators
        for inner in ast.walk(each.target)
        if isinstance(inner, ast.Name)
    )
    first = _iterated(t, node.generators[0], node)
    found: list[Value] = []
    t.frames.append(frame)
    try:
        _collect(t, node, 0, first, found)
    finally:
        t.frames.pop()
    return tuple(found)


def _iterated(
    t: Translation, generator: ast.comprehension, whole: ast.ListComp | ast.GeneratorExp
) -> tuple[Value, ...]:
    node = generator.iter
    value = t.expression(node)
    space = isinstance(value, Space) and _is_long(value)
    items = None if space else spaces.known_items(t, node, value)
    if items is None:
        refused = KernelListError(
            "a list whose length is not known when the kernel is compiled",
            t.span(node),
            why="its items become variables; the extents of arrays are not part of the key",
            help="make a list; sum, min, max, any, all take any length",
        )
        raise storing.needs_memory(t, t.span(whole), refused)
    return items


def _is_long(space: Space) -> bool:
    """Whether there are too many items to write them out."""
    counts = [spaces.count(*dim) for dim in space.dims]
    known = all(count.name == "const" for count in counts)
    return known and math.prod(max(count.attr, 0) for count in counts) > lists.MOST_ITEMS


def _collect(
    t: Translation,
    node: ast.ListComp | ast.GeneratorExp,
    place: int,
    items: Sequence[Value],
    found: list[Value],
) -> None:
    generator, instance = node.generators[place], t.frame.instance
    span = t.span(generator.target)
    for count, item in enumerate(items):
        t.frame.instance = (*instance, span[1], span[2], count)
        loops.bind_target(t, generator.target, t.lasting(item))
        tests = [choices.test(t, each) for each in generator.ifs]
        if any(each.expr.name != "const" for each in tests):
            refused = t.refuse(
                generator.ifs[0],
                "a tuple whose length depends on a condition",
                help="make a list; or sum, min, max, any, all with the condition",
            )
            raise storing.needs_memory(t, t.span(node), refused)
        if not all(each.expr.attr for each in tests):
            continue
        if place + 1 < len(node.generators):
            _collect(t, node, place + 1, _iterated(t, node.generators[place + 1], node), found)
        else:
            found.append(t.lasting(t.expression(node.elt)))
    t.frame.instance = instance


# -- sum, any, all, min, max ----------------------------------------------------------------------


def is_one(node: ast.Call, target: Any) -> bool:
    """Whether a call collects what a comprehension or something to loop over gives."""
    if not any(target is known for known in _BODIES):
        return False
    first = node.args[0] if node.args else None
    if isinstance(first, ast.GeneratorExp | ast.ListComp):
        return True
    return target in _ALONE or (len(node.args) == 1 and target in _EXTREMES)


def collected(t: Translation, node: ast.Call, target: Any) -> Value:
    """The call: `target` of a comprehension, an array, a range, or a tuple."""
    keywords = {str(keyword.arg): keyword.value for keyword in node.keywords}
    allowed = {"start"} if target is sum else {"default"} if target in _EXTREMES else set()
    if set(keywords) - allowed or not 1 <= len(node.args) <= 1 + (target is sum):
        raise t.refuse(node, f"these arguments of {target.__name__} in a kernel")
    given = node.args[0]
    if target in (tuple, list):
        return _listed(t, given, node, target)
    if isinstance(given, ast.GeneratorExp | ast.ListComp):
        generators, item = given.generators, given.elt
    else:
        value = t.lasting(t.expression(given))
        row = row_of(target)
        if row is not None and not keywords and spaces.known_items(t, given, value) is not None:
            return row(t, node, [value])
        generators, item = _over(t, given, value), _name(ITEM, given)
    extra = node.args[1:] or list(keywords.values())
    around = t.frame
    body = _BODIES[target](generators, item, extra[0] if extra else None)
    tree = _function(node, target.__name__, _no_arguments(), body)
    frame = inside(t, node, tree, around, {})
    frame.is_comprehension = True
    if not isinstance(given, ast.GeneratorExp | ast.ListComp):
        frame.env[WALKED] = value
    return run_frame(t, frame)


WALKED = ".walked"


def _over(t: Translation, node: ast.expr, value: Value) -> list[ast.comprehension]:
    """`for item in value`, for what has been computed already."""
    if not isinstance(value, ArrayRef | Elementwise | TupleValue | Space | Zipped | Growing):
        raise t.refuse(node, "something that a loop cannot run over")
    target = _name(ITEM, node)
    target.ctx = ast.Store()
    return [ast.comprehension(target, _name(WALKED, node), [], 0)]


def _listed(t: Translation, node: ast.expr, call: ast.Call, target: Any) -> Value:
    span = t.span(call)
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return _list_of(t, node) if target is list else TupleValue(_items(t, node))
    value = t.expression(node)
    space = isinstance(value, Space) and _is_long(value)
    known = None if space else spaces.known_items(t, node, value)
    if target is list and storing.is_known(t, span):
        made = lists.make(t, (), span)
        lists.extend(t, made, value, spaces.walk(t, node), span)
        return made
    if known is None:
        what = f"{target.__name__} of what has no length known when the kernel is compiled"
        refused = t.refuse(node, what)
        raise storing.needs_memory(t, span, refused) if target is list else refused
    items = tuple(t.lasting(item) for item in known)
    return TupleValue(items) if target is tuple else ListValue(items, span)


def _name(text: str, node: ast.AST) -> ast.Name:
    return ast.copy_location(ast.Name(text, ast.Load()), node)


def _set(text: str, value: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Assign([ast.Name(text, ast.Store())], value), value)


def _no_arguments() -> ast.arguments:
    return ast.arguments([], [], None, [], [], None, [])


def _nested(generators: Sequence[ast.comprehension], innermost: list[ast.stmt]) -> list[ast.stmt]:
    """The loops and conditions of a comprehension around what is done with an item."""
    body = innermost
    for generator in reversed(generators):
        for condition in reversed(generator.ifs):
            body = [ast.copy_location(ast.If(condition, body, []), condition)]
        loop = ast.For(generator.target, generator.iter, body, [])
        body = [ast.copy_location(loop, generator.target)]
    return body


Generators = Sequence[ast.comprehension]
Body = Callable[[Generators, ast.expr, ast.expr | None], list[ast.stmt]]


def _sum(generators: Generators, item: ast.expr, start: ast.expr | None) -> list[ast.stmt]:
    update = ast.AugAssign(ast.Name(TOTAL, ast.Store()), ast.Add(), item)
    return [
        _set(TOTAL, start or ast.copy_location(ast.Constant(0), item)),
        *_nested(generators, [ast.copy_location(update, item)]),
        ast.copy_location(ast.Return(_name(TOTAL, item)), item),
    ]


def _quantified(ends_with: bool) -> Body:
    """`any` and `all`: the first item that decides is the last one looked at."""

    def body(generators: Generators, item: ast.expr, _: ast.expr | None) -> list[ast.stmt]:
        test = item if ends_with else ast.copy_location(ast.UnaryOp(ast.Not(), item), item)
        leave = ast.copy_location(ast.Return(ast.Constant(ends_with)), item)
        return [
            *_nested(generators, [ast.copy_location(ast.If(test, [leave], []), item)]),
            ast.copy_location(ast.Return(ast.Constant(not ends_with)), item),
        ]

    return body


def _extreme(sign: ast.cmpop) -> Body:
    """`min` and `max`: the first of the extreme items.  Without any CPython raises an error, unless
    it has a default; here `assert` says so.
    """

    def body(generators: Generators, item: ast.expr, empty: ast.expr | None) -> list[ast.stmt]:
        better = ast.Compare(_name(ITEM, item), [sign], [_name(TOTAL, item)])
        first = ast.UnaryOp(ast.Not(), _name(FOUND, item))
        take = ast.If(
            ast.BoolOp(ast.Or(), [first, better]),
            [
                _set(TOTAL, _name(ITEM, item)),
                _set(FOUND, ast.copy_location(ast.Constant(True), item)),
            ],
            [],
        )
        has_item = ast.Assert(_name(FOUND, item), ast.Constant("min or max of nothing"))
        steps = [_set(ITEM, item), take]
        return [
            _set(TOTAL, empty or ast.copy_location(ast.Constant(0), item)),
            _set(FOUND, ast.copy_location(ast.Constant(False), item)),
            *_nested(generators, [ast.copy_location(step, item) for step in steps]),
            *([] if empty else [ast.copy_location(has_item, item)]),
            ast.copy_location(ast.Return(_name(TOTAL, item)), item),
        ]

    return body


_ALONE: tuple[Any, ...] = (sum, any, all, list)
_EXTREMES: tuple[Any, ...] = (min, max)
_BODIES: dict[Any, Body] = {
    builtins.sum: _sum,
    builtins.any: _quantified(True),
    builtins.all: _quantified(False),
    builtins.min: _extreme(ast.Lt()),
    builtins.max: _extreme(ast.Gt()),
    builtins.tuple: _sum,
    builtins.list: _sum,
}
