"""Which names of a function may stand for an object that something else sees, too.

`z = y`, `(y, 1)`, `v = y[1:]`, `f(y)`: what changes `y` in place is seen there.  A pass over the
syntax tree; a name that is taken to be shared and is not costs memory, never a wrong value.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Container
from functools import lru_cache

from fusewright.base.values import dataclass
from fusewright.frontends.kernels.liveness import NESTED

_CONSUMING = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign, ast.If, ast.While, ast.Assert, ast.Slice,
    ast.Delete,
)  # fmt: skip
"""What computes something else of a value."""
_PASSING = (ast.Subscript, ast.IfExp, ast.BoolOp, ast.Attribute, ast.Starred)
"""What may hand the value itself on, or a part of its memory."""
_VIEWS = frozenset({
    "asarray", "ascontiguousarray", "atleast_1d", "atleast_2d", "broadcast_to", "diagonal",
    "expand_dims", "flat", "flatten", "imag", "moveaxis", "ravel", "real", "reshape", "squeeze",
    "swapaxes", "T", "transpose", "view",
})  # fmt: skip
_PLAIN = frozenset({"shape", "size", "ndim", "dtype", "itemsize", "nbytes"})
_MODULES = frozenset({"np", "numpy", "math"})
MOST_TREES = 64
"""Functions whose names are kept in mind."""


@dataclass(frozen=True, slots=True)
class Around:
    """What is known of other names of a function: `arrays` keep copies of what is written to their
    elements, and `function` finds those of the user's that it calls.
    """

    arrays: Container[str]
    function: Callable[[str], ast.FunctionDef | None]


NOTHING = Around((), lambda name: None)


def is_shared(
    tree: ast.FunctionDef, name: str, of_numbers: bool = False, but: ast.AST | None = None
) -> bool:
    """Whether something but this name may see the object that it stands for: the caller, where it
    is a parameter, or what it is handed on to.
    """
    arguments = tree.args
    parameters = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    if any(argument.arg == name for argument in parameters):
        return True
    return is_handed_on(tree, name, of_numbers, but)


def is_handed_on(
    tree: ast.FunctionDef,
    name: str,
    of_numbers: bool = False,
    but: ast.AST | None = None,
    known: Around = NOTHING,
) -> bool:
    """Whether the function hands what the name stands for on to what may keep it; a loop over it
    does not where its items are numbers, and `but` is a use that does not count.
    """
    return any(
        chain[-1] is not but and (not of_numbers if _is_walked(chain) else not _ends(chain, known))
        for chain in _uses(tree).get(name, ())
    )


@lru_cache(MOST_TREES)
def bindings(tree: ast.FunctionDef) -> Counter[str]:
    """How often a function gives each name something to stand for."""
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found[node.id] += 1
        elif isinstance(node, ast.arg):
            found[node.arg] += 1
        elif isinstance(node, ast.FunctionDef) and node is not tree:
            found[node.name] += 1
    return found


_WALKING = frozenset({"enumerate", "zip", "reversed", "iter", "list", "tuple"})


def _is_walked(chain: list[ast.AST]) -> bool:
    """Whether a loop runs over the object: its rows are parts of it."""
    node, around = chain[-1], chain[-2]
    if isinstance(around, ast.Call) and isinstance(around.func, ast.Name):
        return around.func.id in _WALKING and around.func is not node
    return isinstance(around, ast.For) and around.iter is node


@lru_cache(MOST_TREES)
def _uses(tree: ast.FunctionDef) -> dict[str, list[list[ast.AST]]]:
    """For each name the nodes around each use of it, the innermost last."""
    found: dict[str, list[list[ast.AST]]] = {}
    stack: list[list[ast.AST]] = [[tree]]
    while stack:
        chain = stack.pop()
        node = chain[-1]
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.setdefault(node.id, []).append(chain)
        stack += [[*chain, inner] for inner in ast.iter_child_nodes(node)]
    return found


def _ends(chain: list[ast.AST], known: Around, within: bool = False) -> bool:
    """Whether a use hands the object on to nothing that lasts; `within` a function that is called,
    what is returned lasts.
    """
    if isinstance(chain[-2], ast.Tuple) and isinstance(chain[-3], ast.Return):
        return not within
    if any(isinstance(node, NESTED) for node in chain[1:]):
        return False
    for node, around in zip(chain[:0:-1], chain[-2::-1], strict=True):
        if isinstance(around, ast.Return):
            return not within
        if isinstance(around, _CONSUMING):
            return True
        if isinstance(around, ast.Subscript) and node is around.slice:
            return True
        if isinstance(around, ast.Subscript) and not isinstance(around.ctx, ast.Load):
            return True  # an element is written
        if isinstance(around, ast.Attribute) and around.attr in _PLAIN:
            return True
        if isinstance(around, ast.Assign):
            return all(_is_element(target, known.arrays) for target in around.targets)
        if isinstance(around, ast.Call):
            return _consumes(around, node, known)
        if isinstance(around, ast.List) and isinstance(chain[chain.index(around) - 1], ast.Call):
            continue  # `np.array([y[1], -y[0]])`
        if not isinstance(around, _PASSING):
            return isinstance(around, ast.Expr)
    return False


def _is_element(target: ast.expr, arrays: Container[str]) -> bool:
    """Whether a target is part of one of these arrays."""
    whole = target.value if isinstance(target, ast.Subscript) else None
    return isinstance(whole, ast.Name) and whole.id in arrays


def _consumes(call: ast.Call, node: ast.AST, known: Around) -> bool:
    """Whether a call computes something new of its argument, or of the array it is a method of."""
    function = call.func
    if isinstance(function, ast.Attribute):
        of_module = _is_module(function.value)
        is_known = function is node or of_module
        return is_known and function.attr not in _VIEWS
    if not isinstance(function, ast.Name) or isinstance(node, ast.List):
        return False
    return function.id in vars(builtins) or _computes(known.function(function.id), call, node)


def _computes(function: ast.FunctionDef | None, call: ast.Call, node: ast.AST) -> bool:
    """Whether one of the user's functions keeps nothing of an argument, and returns none of it."""
    if function is None or any(isinstance(each, ast.Starred) for each in call.args):
        return False
    parameters = function.args
    names = [each.arg for each in (*parameters.posonlyargs, *parameters.args)]
    name = dict(zip(map(id, call.args), names, strict=False)).get(id(node))
    if name is None or any(isinstance(n, ast.Yield | ast.YieldFrom) for n in ast.walk(function)):
        return False
    uses = _uses(function).get(name, ())
    return all(not _is_walked(chain) and _ends(chain, NOTHING, True) for chain in uses)


def _is_module(node: ast.expr) -> bool:
    """`np`, `np.linalg`."""
    if isinstance(node, ast.Attribute):
        return node.attr == "linalg" and _is_module(node.value)
    return isinstance(node, ast.Name) and node.id in _MODULES
