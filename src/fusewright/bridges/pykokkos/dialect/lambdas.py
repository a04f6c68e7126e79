"""Lambdas of `@pk.main` as work units.

parallel_for(n, lambda i: expr, view)      ->  view[i] = expr
parallel_for(n, lambda i: pk.printf(...))  ->  the call
parallel_reduce(n, lambda i, acc: expr)    ->  acc = expr
"""

from __future__ import annotations

import ast
import copy
import linecache
from types import CodeType, FunctionType
from typing import Any

from fusewright.base.errors import UnsupportedError
from fusewright.base.source import parse_module
from fusewright.bridges.pykokkos.dialect import trees
from fusewright.frontends.kernels.source import Source

VIEW = "view_"
"""The parameter of the view that a lambda fills."""


def as_function(
    function: FunctionType, pattern: str, dims: int, view: bool
) -> tuple[FunctionType, Source, type | None]:
    """A lambda as a function with a body of statements, and the class of the object it reads."""
    found = _lambda_of(function)
    parameters = copy.deepcopy(found.args)
    index = [arg.arg for arg in parameters.args][:dims]
    body: ast.stmt
    if pattern != "for":
        body = trees.assign(parameters.args[dims].arg, found.body)
    elif view:
        parameters.args.append(ast.arg(VIEW))
        place = trees.name(index[0]) if dims == 1 else trees.tuple_of(map(trees.name, index))
        body = ast.Assign([ast.Subscript(trees.name(VIEW), place, ast.Store())], found.body)
    else:
        body = ast.Expr(found.body)
    instance = receiver_of(function)
    owner = None if instance is None else type(instance)
    if owner is not None:
        parameters.args.insert(0, ast.arg("self"))
    tree = ast.FunctionDef("lambda_", parameters, trees.at(found, [body]), [], None, None)
    ast.copy_location(tree, found)
    ast.fix_missing_locations(tree)
    return function, Source(tree, function.__code__.co_filename, 0), owner


def receiver_of(function: FunctionType) -> Any:
    """The `self` that a lambda has from the method around it."""
    names = function.__code__.co_freevars
    if "self" not in names or function.__closure__ is None:
        return None
    return function.__closure__[names.index("self")].cell_contents


def _lambda_of(function: FunctionType) -> ast.Lambda:
    """The tree of a lambda, by the place of its code in the file."""
    code = function.__code__
    text = "".join(linecache.getlines(code.co_filename))
    names = code.co_varnames[: code.co_argcount]
    places = _places(code)
    for node in ast.walk(parse_module(text)) if places else ():
        if isinstance(node, ast.Lambda):
            body = node.body
            start = (body.lineno, body.col_offset)
            end = (body.end_lineno or 0, body.end_col_offset or 0)
            same = tuple(arg.arg for arg in node.args.args) == names
            if same and all(start <= place < end for place in places):
                return node
    raise UnsupportedError(
        "the source of this lambda cannot be found",
        (code.co_filename, code.co_firstlineno, 1, 0),
        help="write it as a work unit with def",
    )


def _places(code: CodeType) -> set[tuple[int, int]]:
    """Where the parts of a lambda's body begin: lines and columns."""
    return {
        (line, column)
        for line, _, column, end in code.co_positions()
        if line is not None and column is not None and end is not None and end > column
    }
