"""Which parameters functions have, as `inspect.signature` says.

For a compiled function `inspect` loads the tokenizer, which costs 5 to 10 ms in every process: its
text signature, such as `($self, /, axis=None, out=None)`, is parsed as what it is, a line of
Python.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from functools import lru_cache
from inspect import Parameter
from typing import Any

PLACED = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
"""The kinds of parameters that positional arguments reach one by one."""
MOST_FUNCTIONS = 1024


@lru_cache(MOST_FUNCTIONS)
def parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters in their order, without defaults; ValueError where nobody knows them."""
    text = getattr(function, "__text_signature__", None)
    if isinstance(text, str) and not hasattr(function, "__wrapped__"):
        try:
            parsed = ast.parse(f"def f{text.replace('$', '')}: ...").body[0]
        except SyntaxError:
            parsed = None
        if isinstance(parsed, ast.FunctionDef):
            found = tuple(_parameters(parsed.args))
            is_bound = "$" in text and getattr(function, "__self__", None) is not None
            return found[1:] if is_bound else found
    every = inspect.signature(function).parameters.values()
    return tuple(
        each.replace(default=Parameter.empty, annotation=Parameter.empty) for each in every
    )


@lru_cache(MOST_FUNCTIONS)
def place_of(function: Callable[..., Any], name: str) -> tuple[int, bool]:
    """Where a parameter stands among those that are given by position (-1: it does not), and
    whether there is one.
    """
    try:
        every = parameters(function)
    except (TypeError, ValueError):
        return -1, False
    placed = [each.name for each in every if each.kind in PLACED]
    return placed.index(name) if name in placed else -1, any(p.name == name for p in every)


def _parameters(given: ast.arguments) -> list[Parameter]:
    found = [Parameter(each.arg, Parameter.POSITIONAL_ONLY) for each in given.posonlyargs]
    found += [Parameter(each.arg, Parameter.POSITIONAL_OR_KEYWORD) for each in given.args]
    if given.vararg is not None:
        found.append(Parameter(given.vararg.arg, Parameter.VAR_POSITIONAL))
    found += [Parameter(each.arg, Parameter.KEYWORD_ONLY) for each in given.kwonlyargs]
    if given.kwarg is not None:
        found.append(Parameter(given.kwarg.arg, Parameter.VAR_KEYWORD))
    return found
