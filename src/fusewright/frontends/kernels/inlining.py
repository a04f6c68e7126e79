"""The user's own functions: their bodies are translated where they are called."""

from __future__ import annotations

import ast
import inspect
from dataclasses import replace
from types import FunctionType
from typing import Any, get_args

from fusewright.base.errors import KernelCallError, UnassignedError, UnsupportedError
from fusewright.frontends.kernels import chosen, types
from fusewright.frontends.kernels.context import Frame, Translation
from fusewright.frontends.kernels.elements import items_of
from fusewright.frontends.kernels.joins import SlotTree
from fusewright.frontends.kernels.liveness import Liveness, assigned, leaves, nested_reads
from fusewright.frontends.kernels.operators import operands
from fusewright.frontends.kernels.unassigned import RESULT, checked, open_flag
from fusewright.frontends.kernels.values import Closure, Number, Static, TupleValue, Value
from fusewright.ir.loops.statements import Block, as_one_line

DEEPEST_LOOP = 1 << 30
"""What is returned ends the loops that it is made in."""
DEEPEST = 64
"""Calls inside calls."""
_OURS = f"{__package__}."
"""The modules whose functions stand for NumPy's (`pairwise`)."""


def inline(t: Translation, node: ast.Call, function: FunctionType, instance: Value | None) -> Value:
    """A call of a function that stands elsewhere, or of a method."""
    if any(frame.function is function for frame in t.frames):
        chain = " -> ".join(f.function.__name__ for f in (*t.frames,)) + f" -> {function.__name__}"
        raise UnsupportedError(
            f"{function.__name__} calls itself",
            t.span(node),
            why=f"functions are inlined, and recursion has no end: {chain}",
            help="write it as a loop",
        )
    env = _given(t, node, function.__name__, inspect.signature(function), instance)
    return run_function(t, node, function, env)


def run_function(
    t: Translation, node: ast.AST, function: FunctionType, env: dict[str, Any]
) -> Value:
    """Translate a function's body, its parameters bound."""
    place = (*t.frame.instance, *t.span(node)[1:4])
    frame = Frame(t.read(function), function, place, env, Liveness(), t.label())
    if (function.__module__ or "").startswith(_OURS):
        frame.called_at = t.span(node)
    frame.liveness = Liveness(nested_reads(frame.source.tree.body))
    return run_frame(t, frame, node is t.discarded)


def inline_closure(t: Translation, node: ast.Call, closure: Closure) -> Value:
    """A call of a function or lambda that the kernel itself has made."""
    tree = closure.tree
    if any(frame.source.tree is tree for frame in t.frames):
        raise UnsupportedError(
            f"{tree.name} calls itself",
            t.span(node),
            why="functions are inlined, and recursion has no end",
            help="write it as a loop",
        )
    env = _given(t, node, tree.name, _signature(closure), None)
    return run_frame(t, inside(t, node, tree, closure.frame, env), node is t.discarded)


def inside(
    t: Translation, node: ast.AST, tree: ast.FunctionDef, around: Frame, env: dict[str, Any]
) -> Frame:
    """The frame of a function that stands in another one, whose names it reads."""
    return Frame(
        replace(around.source, tree=tree),
        around.function,
        (*t.frame.instance, *t.span(node)[1:4]),
        env,
        Liveness(nested_reads(tree.body)),
        t.label(),
        outer=around,
        names=frozenset((*env, *assigned(tree.body))),
    )


def _given(
    t: Translation,
    node: ast.Call,
    label: str,
    signature: inspect.Signature,
    instance: Value | None,
) -> dict[str, Any]:
    """What the parameters are bound to, the arguments computed."""
    if len(t.frames) > DEEPEST:
        raise t.refuse(node, f"more than {DEEPEST} calls inside one another")
    nodes = [each.value if isinstance(each, ast.Starred) else each for each in node.args]
    given = operands(t, [*nodes, *(keyword.value for keyword in node.keywords)])
    given = [t.lasting(value) for value in given]
    named_values = given[len(nodes) :]
    values: list[Value] = []
    for each, value in zip(node.args, given, strict=False):
        starred = isinstance(each, ast.Starred)
        values += items_of(t, value, each) if starred else [value]
    names = [str(keyword.arg) for keyword in node.keywords]
    if instance is not None:
        values.insert(0, instance)
    named = dict(zip(names, named_values, strict=True))
    return _parameters(t, node, (label, signature), values, named)


def _signature(closure: Closure) -> inspect.Signature:
    """The parameters of a function that the kernel has made; defaults are values."""
    arguments, kinds = closure.tree.args, inspect.Parameter
    defaults = dict(closure.defaults)
    groups = (
        (kinds.POSITIONAL_ONLY, arguments.posonlyargs),
        (kinds.POSITIONAL_OR_KEYWORD, arguments.args),
        (kinds.VAR_POSITIONAL, [arguments.vararg] if arguments.vararg else []),
        (kinds.KEYWORD_ONLY, arguments.kwonlyargs),
        (kinds.VAR_KEYWORD, [arguments.kwarg] if arguments.kwarg else []),
    )
    return inspect.Signature([
        inspect.Parameter(each.arg, kind, default=defaults.get(each.arg, kinds.empty))
        for kind, group in groups for each in group
    ])  # fmt: skip


def run_frame(t: Translation, frame: Frame, discarded: bool = False) -> Value:
    """Translate a function's body where it is called; the value it returns, None where that is
    `discarded`.
    """
    t.inlined += not frame.is_comprehension and not _is_of_numpys(frame)
    tree = frame.source.tree
    span = frame.source.span(tree)
    frame.first_buffer = t.inputs.count
    t.frames.append(frame)
    hidden, t.active = t.active, []
    conditional, t.conditional = t.conditional, 0
    key = (*frame.instance, tree.name, "result")
    result = frame.returned = SlotTree(RESULT, key, nesting=DEEPEST_LOOP)
    open_flag(t, frame, result, span)
    t.active.append(result)
    try:
        with t.block() as body:
            t.sequence(tree.body, frame.liveness.always, frozenset({frame.label}))
    finally:
        t.frames.pop()
        t.active, t.conditional = hidden, conditional
    done = tuple(body) if frame.called_at is None else as_one_line(body, frame.called_at)
    t.out += (Block(frame.label, done, frame.called_at or span),) if frame.left else done
    if result.form is None or result.form == Static(None) or discarded:
        return Static(None)
    if not leaves(tree.body):
        if not t.frames:
            chosen.choose(t)
        last = frame.source.span(tree.body[-1])
        refused = UnassignedError(
            f"{tree.name} may end without returning a value",
            last,
            why="some paths return a value; the one through the last statement returns None",
            help="end it with a return",
        )
        what = f"{tree.name} has ended without returning a value"
        return t.lasting(checked(t, result, refused, what, last))
    value = result.read(span)
    return t.fixed(value) if isinstance(value, Number) else value


def _parameters(
    t: Translation,
    node: ast.Call,
    called: tuple[str, inspect.Signature],
    values: list[Value],
    named: dict[str, Value],
) -> dict[str, Any]:
    """What the parameters are bound to."""
    span = t.span(node)
    label, signature = called
    try:
        bound = signature.bind(*values, **named)
    except TypeError as error:
        raise KernelCallError(f"{label}: {error}", span) from None
    env: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            raise t.refuse(node, f"{label} takes **{name}")
        if parameter.kind is parameter.VAR_POSITIONAL:
            env[name] = TupleValue(tuple(bound.arguments.get(name, ())))
        elif name in bound.arguments:
            env[name] = bound.arguments[name]
        else:
            env[name] = default(label, name, parameter.default, span)
    return env


def default(label: str, name: str, found: Any, span: Any) -> Value:
    """A parameter's default: a constant, or what the kernel has computed for it."""
    if isinstance(found, get_args(Value)):
        computed: Value = found
        return computed
    from_constant = inputs_constant(found, span)
    if from_constant is None:
        raise KernelCallError(
            f"the default of `{name}` in {label} is no number", span, help="pass it"
        )
    return from_constant


def inputs_constant(found: Any, span: Any) -> Value | None:
    """A constant as a value."""
    from_inputs = types_constant(found, span)
    return from_inputs if from_inputs is not None else (Static(found) if found is None else None)


def types_constant(found: Any, span: Any) -> Value | None:
    """A number or a tuple of them."""
    if isinstance(found, bool | int | float | complex):
        return types.literal(found, span)
    if isinstance(found, tuple):
        items = [types_constant(item, span) for item in found]
        return TupleValue(tuple(item for item in items if item is not None))
    return None


def _is_of_numpys(frame: Frame) -> bool:
    """Whether a function is what a call of NumPy's is translated to (`library.py`), which gives its
    result no other name.
    """
    return str(frame.function.__module__).startswith(f"{__package__}.")
