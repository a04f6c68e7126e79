"""A module's source with its imports of the library redirected: what `cli.redirect` compiles where
no earlier process has.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import CodeType

from fusewright.base.later import TYPE
from fusewright.base.source import parse_module
from fusewright.cli.libraries import Redirection, provide_type


def compile_rewritten(
    source: bytes | str,
    filename: str,
    redirection: Redirection,
    optimize: int = -1,
    change: Callable[[ast.Module], None] | None = None,
) -> CodeType:
    """Compile a module's source, the library's names replaced by the drop-in's.

    Another tool may `change` what comes of it; what it writes into messages is as in the source.
    """
    provide_type()
    tree = parse_module(source, filename)
    has_types = redirection.library == "numpy" and not _binds_type(tree)
    tree = _Rewrite(redirection, has_types).visit(tree)
    if change is not None:
        change(tree)
    if has_types:
        _Types().visit(tree)
    return compile(tree, filename, "exec", dont_inherit=True, optimize=optimize)


PROTOCOLS = ("__array_function__", "__array_ufunc__")
"""Methods of a program's classes that NumPy calls with a function of its own."""
TRANSLATED = '{0} = __import__("fusewright.numpy.border", fromlist=("in_front",)).in_front({0})'
LENT = '__import__("fusewright.numpy.border", fromlist=("as_array",)).as_array(0)'
"""What `__array__` returns: C code takes an array of NumPy's only."""


COMPLETE = '__import__("fusewright.numpy.border", fromlist=("complete",)).complete(0)'
"""The drop-in where its `__dict__` is asked for: with all names, which it otherwise makes when they
are used.
"""

WRITES = frozenset((
    "argmax", "argmin", "choose", "compress", "cumprod", "cumsum", "dot", "mean", "round", "std",
    "take", "trace", "var",
))  # fmt: skip
"""Methods of NumPy's arrays that write into arrays of NumPy's only."""
WRITING = '__import__("fusewright.numpy.border", fromlist=("writing",)).writing(0)'
"""Such a method where it is called with `out=`, which may be ours: `small.mean(0, out=row)`."""

NAMED = '__import__("fusewright.numpy.kinds", fromlist=("as_named",)).as_named(0)'
"""A class that is compared with `ndarray`, which stands for two: `x.__class__ is np.ndarray`."""


def _called(text: str, argument: ast.expr) -> ast.Call:
    """The call that stands in a text, of an argument and at its place."""
    (statement,) = parse_module(text).body
    assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    for part in ast.walk(statement):
        ast.copy_location(part, argument)
    statement.value.args = [argument]
    return statement.value


def _binds_type(module: ast.Module) -> bool:
    """Whether `type` may be something else than Python's somewhere in a module."""
    for each in ast.walk(module):
        match each:
            case ast.Name(id="type", ctx=ast.Store()) | ast.arg(arg="type"):
                return True
            case ast.alias(name=name, asname=bound) if "type" in (name, bound):
                return True
            case ast.FunctionDef(name="type") | ast.AsyncFunctionDef(name="type"):
                return True
            case ast.ClassDef(name="type"):
                return True
            case ast.ExceptHandler(name="type") | ast.MatchAs(name="type"):
                return True
    return False


def _is_type(node: ast.expr) -> bool:
    """Whether it is `type(x)`."""
    match node:
        case ast.Call(func=ast.Name(id="type"), args=[argument], keywords=[]):
            return not isinstance(argument, ast.Starred)
    return False


class _Types(ast.NodeVisitor):
    """Calls `TYPE` in the place of `type(x)`: NumPy's class for arrays of either kind."""

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        if _is_type(node) and isinstance(node.func, ast.Name):
            node.func.id = TYPE


class _LentReturns(ast.NodeTransformer):
    """Puts what a function returns through `LENT`."""

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        if node.value is not None:
            node.value = _called(LENT, node.value)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node  # what it returns is its own

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return node


class _Rewrite(ast.NodeTransformer):
    """Renames the module in every import statement (and literal `__import__`) that names it; the
    methods of NumPy's protocols begin with the drop-in's function for NumPy's, and `__array__`
    returns an array of NumPy's.
    """

    def __init__(self, redirection: Redirection, has_types: bool) -> None:
        self.redirection = redirection
        self.has_types = has_types
        """Whether `type(x)` will be NumPy's class for arrays of either kind."""
        self.modules: set[str] = set()
        """Names that the drop-in, or a module of it, is bound to."""

    def visit_Module(self, node: ast.Module) -> ast.Module:
        for each in ast.walk(node):
            if isinstance(each, ast.Import | ast.ImportFrom):
                home = each.module if isinstance(each, ast.ImportFrom) else None
                self.modules.update(
                    "ndarray" if alias.name == "*" else alias.asname or alias.name.partition(".")[0]
                    for alias in each.names
                    if self.redirection.of(home or alias.name)
                )
        self.generic_visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if node.attr == "__dict__" and self._is_module(node.value):
            node.value = _called(COMPLETE, node.value)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            sides = [node.left, *node.comparators]
            if any(self._is_ndarray(side) for side in sides):
                sides = [side if self._is_named(side) else _called(NAMED, side) for side in sides]
                node.left, node.comparators = sides[0], sides[1:]
        return node

    def _is_ndarray(self, node: ast.expr) -> bool:
        named = isinstance(node, ast.Name) and node.id == "ndarray"
        named |= isinstance(node, ast.Attribute) and node.attr == "ndarray"
        return named and self._is_module(node)

    def _is_named(self, node: ast.expr) -> bool:
        """Whether it gives `ndarray` for each class that this names, by itself."""
        return self._is_ndarray(node) or (self.has_types and _is_type(node))

    def _is_module(self, node: ast.expr) -> bool:
        """Whether it is the drop-in, or something in it."""
        while isinstance(node, ast.Attribute):
            node = node.value
        is_numpy = self.redirection.library == "numpy"
        return is_numpy and isinstance(node, ast.Name) and node.id in self.modules

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        return [
            ast.copy_location(ast.Import(names=[alias]), node)
            for given in node.names
            for alias in self._aliases(given)
        ]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        name = self.redirection.of(node.module or "") if node.level == 0 else None
        node.module = name or node.module
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(
                func=ast.Name(id="__import__"), args=[ast.Constant(value=str(name))], keywords=[]
            ) if self.redirection.of(name):
                # A dotted name without a `fromlist` would return `fusewright`.
                node.args[0] = ast.copy_location(
                    ast.Constant(self.redirection.drop_in), node.args[0]
                )
                names = ast.Tuple(elts=[ast.Constant("__name__")], ctx=ast.Load())
                node.keywords = [ast.keyword(arg="fromlist", value=names)]
                ast.fix_missing_locations(node)
            case ast.Call(func=ast.Name(id="vars"), args=[module], keywords=[]) if self._is_module(
                module
            ):
                node.args[0] = _called(COMPLETE, module)
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if (
                name in WRITES
                and self.redirection.library == "numpy"
                and any(each.arg == "out" for each in node.keywords)
                and not self._is_module(owner)
            ):
                node.func = _called(WRITING, node.func)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        self.generic_visit(node)
        named = [*node.args.posonlyargs, *node.args.args]
        if node.name in PROTOCOLS and self.redirection.library == "numpy" and len(named) > 1:
            (first,) = parse_module(TRANSLATED.format(named[1].arg)).body
            for part in ast.walk(first):  # with the position of the method's own line
                ast.copy_location(part, node)
            place = 0 if ast.get_docstring(node, clean=False) is None else 1
            node.body.insert(place, first)
        if node.name == "__array__" and self.redirection.library == "numpy":
            node.body = [_LentReturns().visit(statement) for statement in node.body]
        return node

    def _aliases(self, given: ast.alias) -> Iterator[ast.alias]:
        """What one name of an `import` statement becomes."""
        library, drop_in = self.redirection
        name = self.redirection.of(given.name)
        if name is None:
            yield given
        elif given.asname or name == drop_in:
            yield ast.copy_location(ast.alias(name=name, asname=given.asname or library), given)
        else:
            # `import numpy.linalg` binds `numpy` and loads the submodule: load it, then bind.
            for module in (name, drop_in):
                yield ast.copy_location(ast.alias(name=module, asname=library), given)
