"""The source of a function as a syntax tree with places, checked to be what is really loaded."""

from __future__ import annotations
import __future__

import ast
import dis
import inspect
import linecache
import textwrap
from types import CodeType, FunctionType
from typing import Any

from fusewright.base.errors import UnsupportedError
from fusewright.base.source import Span, parse_module
from fusewright.base.values import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """A function's definition.  `indent` is what its lines were moved to the left."""

    tree: ast.FunctionDef
    file: str
    indent: int

    def span(self, node: ast.AST) -> Span:
        """Where a part of it stands (columns from 1, in characters)."""
        line = getattr(node, "lineno", self.tree.lineno)
        start = getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", None)
        column = self._column(line, start)
        if end is None or getattr(node, "end_lineno", line) != line:
            return (self.file, line, column, 0)
        return (self.file, line, column, self._column(line, end))

    def _column(self, line: int, offset: int) -> int:
        text = linecache.getline(self.file, line).encode()
        before = text[: offset + self.indent].decode(errors="replace")
        return (len(before) if text else offset + self.indent) + 1


_known: dict[CodeType, Source] = {}
"""Kept while the process lives: a loaded function does not change with its file."""


def plain(target: Any) -> Any:
    """What a kernel runs where it calls this: of a kernel, or of a function of Numba's, the Python
    function.
    """
    return getattr(target, "py_func", None) or getattr(target, "__wrapped__", target)


def read(function: FunctionType) -> Source:
    """The definition of a function; refused where there is no source, or not that of this code."""
    found = _known.get(function.__code__)
    if found is None:
        found = _known[function.__code__] = _read(function)
    return found


def _read(function: FunctionType) -> Source:
    code = function.__code__
    where = (code.co_filename, code.co_firstlineno, 1, 0)
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError) as error:
        raise UnsupportedError(
            f"the source of {function.__name__} cannot be read",
            where,
            why=f"a kernel is compiled from its source text, and Python finds none: {error}",
            help="define it in a file or a notebook cell, not with exec or at the prompt",
        ) from error
    text = "".join(lines)
    indent = len(lines[0]) - len(lines[0].lstrip())
    try:
        module = parse_module(textwrap.dedent(text))
    except SyntaxError:
        module = ast.Module([], [])
    tree = next((node for node in module.body if isinstance(node, ast.FunctionDef)), None)
    if tree is None:
        raise UnsupportedError(
            f"{function.__name__} is not a function written with def",
            where,
            why="kernels are functions with a body of statements",
            help="write it as `def name(...):`",
        )
    if not _is_source_of(tree, code):
        raise UnsupportedError(
            f"the source of {function.__name__} has changed since it was loaded",
            where,
            why="the file no longer holds the code that Python is running",
            help="reload the module, or start the program again",
        )
    ast.increment_lineno(module, first - 1)
    return Source(tree, code.co_filename, indent)


def _is_source_of(tree: ast.FunctionDef, code: CodeType) -> bool:
    """Whether the tree compiles to this code."""
    fields = {name: getattr(tree, name) for name in tree._fields}
    plain = ast.FunctionDef(
        **{**fields, "args": _bare(tree.args), "decorator_list": [], "returns": None}
    )
    body: list[ast.stmt] = [plain]
    if code.co_freevars:
        around = parse_module("def _(): pass").body[0]
        assert isinstance(around, ast.FunctionDef)
        targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in code.co_freevars]
        around.body = [ast.Assign(targets, ast.Constant(None)), plain]
        body = [around]
    module = ast.Module(body, [])
    for node in ast.walk(module):  # `ast.fix_missing_locations` calls itself for what is inside
        if "lineno" in node._attributes and not hasattr(node, "lineno"):
            node.lineno = node.end_lineno = 1  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
    texts = code.co_flags & __future__.annotations.compiler_flag  # annotations of inner functions
    compiled = compile(module, code.co_filename, "exec", flags=texts, dont_inherit=True)
    found = _named(compiled, tree.name, bool(code.co_freevars))
    return found is not None and _shape(found) == _shape(code)


def _bare(arguments: ast.arguments) -> ast.arguments:
    """Without defaults and annotations, which run in another scope."""

    def names(args: list[ast.arg]) -> list[ast.arg]:
        return [ast.arg(arg.arg) for arg in args]

    return ast.arguments(
        names(arguments.posonlyargs), names(arguments.args),
        ast.arg(arguments.vararg.arg) if arguments.vararg else None,
        names(arguments.kwonlyargs), [None] * len(arguments.kwonlyargs),
        ast.arg(arguments.kwarg.arg) if arguments.kwarg else None, [],
    )  # fmt: skip


def _named(code: CodeType, name: str, nested: bool) -> CodeType | None:
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    if nested:
        inner = [const for const in inner[0].co_consts if isinstance(const, CodeType)]
    return next((each for each in inner if each.co_name == name), None)


_SILENT = frozenset({"NOP", "CACHE", "RESUME", "PUSH_NULL", "PRECALL", "KW_NAMES", "EXTENDED_ARG"})
"""Instructions that depend on more than the function's own text."""


def _shape(code: CodeType) -> list[tuple[str, Any]]:
    """The instructions, as far as they say what the function does.

    A name imported at the top of a module is called by other instructions than a name assigned
    there, and a private name of a class carries the class's name.
    """
    found: list[tuple[str, Any]] = []
    for each in dis.get_instructions(code):
        if each.opname not in _SILENT:
            word = each.opname.replace("LOAD_METHOD", "LOAD_ATTR")
            value = each.argval
            if isinstance(value, CodeType) or each.opcode in dis.hasjrel + dis.hasjabs:
                value = None
            if isinstance(value, str) and value.startswith("_") and "__" in value[1:]:
                value = "__" + value.split("__", 1)[1]
            found.append((word, repr(value)))
    return found
