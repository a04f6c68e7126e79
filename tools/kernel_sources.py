"""Functions of public code written for Numba: their modules, loaded with another decorator.

A module is loaded without what it imports beside NumPy and the standard library, and without the
statements that fail for the want of it.  `@njit` and `@jit` are what the caller says.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

Function = Callable[..., Any]
KEPT_IMPORTS = {"numpy", "math", "cmath", "numba", "typing", "itertools", "functools", "__future__"}


class _Anything:
    """Numba's types and options: may be called, subscripted and read from, and do nothing."""

    def __call__(self, *_: Any, **__: Any) -> _Anything:
        return self

    __getitem__ = __getattr__ = __call__


class prange:
    """Numba's `prange` as it is without Numba."""

    def __new__(cls, *ends: int) -> range:  # type: ignore[misc]
        return range(*ends)


prange.__module__ = "numba"


def numba_like(decorator: Callable[[Function], Function]) -> ModuleType:
    """A module that stands for Numba and compiles by `decorator`."""

    def njit(*arguments: Any, **_: Any) -> Any:
        if len(arguments) == 1 and isinstance(arguments[0], FunctionType):
            return decorator(arguments[0])
        return decorator

    class Numba(ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return _Anything()

    stub = Numba("numba")
    vars(stub).update(njit=njit, jit=njit, generated_jit=njit, prange=prange, __path__=[])
    return stub


def is_compiled(function: ast.FunctionDef) -> bool:
    """Whether Numba compiles it without Python objects."""
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = ast.unparse(called).split(".")[-1]
        options = {k.arg: ast.unparse(k.value) for k in getattr(decorator, "keywords", ())}
        if name in ("njit", "numba_njit", "nbjit") or (
            name == "jit" and "jax" not in ast.unparse(called)
        ):
            return options.get("nopython", "True") == "True" and "forceobj" not in options
    return False


def _wanted(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import):
        return all(a.name.split(".")[0] in KEPT_IMPORTS for a in node.names)
    if isinstance(node, ast.ImportFrom):
        return not node.level and (node.module or "").split(".")[0] in KEPT_IMPORTS
    return isinstance(node, ast.FunctionDef | ast.Assign | ast.AnnAssign | ast.Try)


def reduced(text: str) -> str:
    """The statements of a module that its compiled functions may need, each guarded by itself.

    Imports of the decorator under a repository's own name (`from .numba import njit`) are Numba's.
    """
    lines = text.splitlines()
    parts = ["import numpy as np", "import numpy", "import math", "import numba"]
    parts += ["from numba import njit, jit, prange"]
    for node in ast.parse(text).body:
        if not _wanted(node):
            continue
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        part = "\n".join(lines[first - 1 : node.end_lineno])
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            parts.insert(0, part)
        elif isinstance(node, ast.FunctionDef) and is_compiled(node):
            parts.append(part)
        else:
            parts.append("try:\n" + "\n".join(_indented(part, node)) + "\nexcept Exception: pass")
    return "\n".join(parts) + "\n"


def _indented(part: str, node: ast.stmt) -> list[str]:
    texts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    if any(isinstance(text, str) and "\n" in text for text in texts):
        part = ast.unparse(node)
    return ["    " + line for line in part.splitlines()]


def load(path: Path, decorator: Callable[[Function], Function], name: str) -> ModuleType:
    """The module of that (reduced) text, with `decorator` in the place of Numba's."""
    before = sys.modules.get("numba")
    sys.modules["numba"] = numba_like(decorator)
    try:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        del sys.modules["numba"]
        if before is not None:
            sys.modules["numba"] = before


def arguments(texts: list[str], n: int) -> list[Any]:
    """What a row of the manifest says: `f(n, n)` numbers in [0.1, 1), `i(n)` integers below n."""
    random = np.random.default_rng(7)
    names = {
        "f": lambda *shape: random.uniform(0.1, 1.0, shape),
        "i": lambda *shape: random.integers(0, n, shape),
        "b": lambda *shape: random.uniform(size=shape) < 0.5,
        "c": lambda *shape: random.uniform(size=shape) + 1j * random.uniform(size=shape),
        "s": lambda *shape: np.sort(random.uniform(0.1, 1.0, shape)),
        "p": lambda *shape: np.sort(random.integers(0, n, shape)),
        "n": n,
        "np": np,
    }
    return [eval(text, dict(names)) for text in texts]
