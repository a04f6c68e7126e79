"""Which names of a function may stand for an object that something else sees, too.

`z = y`, `(y, 1)`, `v = y[1:]`, `f(y)`: what changes `y` in place is seen there.  A pass over the
syntax tree; a name that is taken to be shared and is not costs memory, never a wrong value.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from fusewright.frontends.kernels.liveness import NESTED

_CONSUMING = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign, ast.If, ast.While, ast.Assert, ast.Return,
    ast.Slice, ast.Delete,
)  # fmt: skip
"""What computes something else of a value, or ends the function with it."""
_PASSING = (ast.Subscript, ast.IfExp, ast.BoolOp, ast.Attribute, ast.Starred)
"""What may hand the value itself on, or a part of its memory."""
_VIEWS = frozenset({
    "asarray", "ascontiguousarray", "atleast_1d", "atleast_2d", "broadcast_to", "diagonal",
    "expand_dims", "flat", "flatten", "imag", "moveaxis", "ravel", "real", "reshape", "squeeze",
    "swapaxes", "T", "transpose", "view",
})  # fmt: skip
_PLAIN = frozenset({"shape", "size", "ndim", "dtype", "itemsize", "nbytes"})
_MODULES = frozenset({"np", "numpy", "math"})


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
    tree: ast.FunctionDef, name: str, of_numbers: bool = False, but: ast.AST | None = None
) -> bool:
    """Whether the function hands what the name stands for on to what may keep it; a loop over it
    does not where its items are numbers, and `but` is a use that does not count.
    """
    return any(
        chain[-1] is not but and (not of_numbers if _is_walked(chain) else not _ends(chain))
        for chain in _uses(tree, name)
    )


_WALKING = frozenset({"enumerate", "zip", "reversed", "iter", "list", "tuple"})


def _is_walked(chain: list[ast.AST]) -> bool:
    """Whether a loop runs over the object: its rows are parts of it."""
    node, around = chain[-1], chain[-2]
    if isinstance(around, ast.Call) and isinstance(around.func, ast.Name):
        return around.func.id in _WALKING and around.func is not node
    return isinstance(around, ast.For) and around.iter is node


def _uses(tree: ast.FunctionDef, name: str) -> Iterator[list[ast.AST]]:
    """The nodes around each use of a name, the innermost last."""
    stack: list[list[ast.AST]] = [[tree]]
    while stack:
        chain = stack.pop()
        node = chain[-1]
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield chain
        stack += [[*chain, inner] for inner in ast.iter_child_nodes(node)]


def _ends(chain: list[ast.AST]) -> bool:
    """Whether a use hands the object on to nothing that lasts."""
    if isinstance(chain[-2], ast.Tuple) and isinstance(chain[-3], ast.Return):
        return True
    if any(isinstance(node, NESTED) for node in chain[1:]):
        return False
    for node, around in zip(chain[:0:-1], chain[-2::-1], strict=True):
        if isinstance(around, _CONSUMING):
            return True
        if isinstance(around, ast.Subscript) and node is around.slice:
            return True
        if isinstance(around, ast.Subscript) and not isinstance(around.ctx, ast.Load):
            return True  # an element is written
        if isinstance(around, ast.Attribute) and around.attr in _PLAIN:
            return True
        if isinstance(around, ast.Call):
            return _consumes(around, node)
        if not isinstance(around, _PASSING):
            return isinstance(around, ast.Expr)
    return False


def _consumes(call: ast.Call, node: ast.AST) -> bool:
    """Whether a call computes something new of its argument, or of the array it is a method of."""
    function = call.func
    if isinstance(function, ast.Attribute):
        known = function is node or _is_module(function.value)
        return known and function.attr not in _VIEWS
    return isinstance(function, ast.Name) and function.id in vars(builtins)


def _is_module(node: ast.expr) -> bool:
    """`np`, `np.linalg`."""
    if isinstance(node, ast.Attribute):
        return node.attr == "linalg" and _is_module(node.value)
    return isinstance(node, ast.Name) and node.id in _MODULES
