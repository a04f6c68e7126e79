"""Gives the user's own modules `fusewright.numpy` where they import `numpy`, or a bridge where they
import the library it stands for; installed packages keep the real one.

Only the module names in import statements change, so lines, columns, tracebacks and
`inspect.getsource` stay as they are, and nothing is added to the module's namespace:

    import numpy as np              ->  import fusewright.numpy as np
    import numpy.linalg             ->  import fusewright.numpy as numpy   (submodule loaded)
    from numpy.linalg import solve  ->  from fusewright.numpy.linalg import solve

Whose modules: source files under the given folders, but nothing in a `site-packages` or
`dist-packages` folder, of this Python installation, or of Fusewright itself.
`importlib.import_module("numpy")` called in such a module is redirected too.  Rewritten code is
never written to `__pycache__`.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

LIBRARIES = {"numpy": "fusewright.numpy", "pykokkos": "fusewright.bridges.pykokkos"}
"""What `--as` can name, and what a program gets for it."""
_chosen = ["numpy"]
_INSTALLED = {"site-packages", "dist-packages"}
_OURS = Path(__file__).resolve().parent.parent


def _replaced() -> str:
    """The library that is redirected."""
    return _chosen[0]


def _drop_in() -> str:
    """What a program gets for it."""
    return LIBRARIES[_chosen[0]]


def _replacement(name: str) -> str | None:
    """The drop-in's name for `numpy` or `numpy.anything`; None for every other module."""
    if name == _replaced() or name.startswith(_replaced() + "."):
        return _drop_in() + name[len(_replaced()) :]
    return None


class _Rewrite(ast.NodeTransformer):
    """Renames the module in every import statement (and literal `__import__`) that names it."""

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        return [
            ast.copy_location(ast.Import(names=[alias]), node)
            for given in node.names
            for alias in _aliases(given)
        ]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        name = _replacement(node.module or "") if node.level == 0 else None
        node.module = name or node.module
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(
                func=ast.Name(id="__import__"), args=[ast.Constant(value=str(name))], keywords=[]
            ) if _replacement(name):
                # A dotted name without a `fromlist` would return `fusewright`.
                node.args[0] = ast.copy_location(ast.Constant(_drop_in()), node.args[0])
                names = ast.Tuple(elts=[ast.Constant("__name__")], ctx=ast.Load())
                node.keywords = [ast.keyword(arg="fromlist", value=names)]
                ast.fix_missing_locations(node)
        return node


def _aliases(given: ast.alias) -> Iterator[ast.alias]:
    """What one name of an `import` statement becomes."""
    name = _replacement(given.name)
    if name is None:
        yield given
    elif given.asname or name == _drop_in():
        yield ast.copy_location(ast.alias(name=name, asname=given.asname or _replaced()), given)
    else:
        # `import numpy.linalg` binds `numpy` and loads the submodule: load it, then bind.
        for module in (name, _drop_in()):
            yield ast.copy_location(ast.alias(name=module, asname=_replaced()), given)


def compile_redirected(source: bytes | str, filename: str, optimize: int = -1) -> CodeType:
    """Compile a module's source with its imports of the library redirected."""
    if isinstance(source, bytes) and _replaced().encode() not in source:
        return compile(source, filename, "exec", dont_inherit=True, optimize=optimize)
    tree = compile(source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    tree = _Rewrite().visit(tree)
    return compile(tree, filename, "exec", dont_inherit=True, optimize=optimize)


class RedirectingLoader(SourceFileLoader):
    """Loads one of the user's source files; always from the source, so no `.pyc` ever holds
    rewritten code.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return compile_redirected(self.get_data(path), path)


class _UserModules(MetaPathFinder):
    """Stands before the other finders and changes the loader of what they find in the user's
    folders.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = [folder.resolve() for folder in folders]
        self.excluded = [_OURS, *_standard_library(self.folders)]

    def owns(self, path: Path) -> bool:
        """True for a file of the user's."""
        path = path.resolve()
        if any(path.is_relative_to(folder) for folder in self.excluded):
            return False
        return any(
            path.is_relative_to(folder) and not _INSTALLED & set(path.relative_to(folder).parts)
            for folder in self.folders
        )

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: ModuleSpec | None = find(fullname, path, target)
            if spec is not None:
                return self._with_loader(spec)
        return None

    def _with_loader(self, spec: ModuleSpec) -> ModuleSpec:
        if type(spec.loader) is SourceFileLoader and spec.origin and self.owns(Path(spec.origin)):
            spec.loader = RedirectingLoader(spec.name, spec.origin)
        return spec


def _standard_library(folders: Sequence[Path]) -> list[Path]:
    """The folders of this Python installation (a virtual environment may lie beside the script)."""
    found = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")}
    # A program that is itself installed (`fusewright run -m tool`) is the user's nevertheless.
    return [folder for folder in found if folder not in folders]


class _Existing(Loader):
    """Loads a module that already exists under another name."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def exec_module(self, module: ModuleType) -> None:
        # The import system returns what stands in `sys.modules` after this call.
        sys.modules[module.__name__] = self.module


class _Submodules(MetaPathFinder):
    """Finds `fusewright.numpy.x` where no file is: an attribute of the drop-in, or NumPy's own.  A
    bridge has the names of all its library's modules in one.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(_drop_in() + "."):
            return None
        parent, _, name = fullname.rpartition(".")
        # Not `getattr`: the drop-in's own look-up of missing names asks the finders.
        found = vars(sys.modules[parent]).get(name)
        if _replaced() != "numpy":
            found = sys.modules[_drop_in()]
        if found is None:
            original = _replaced() + fullname[len(_drop_in()) :]
            if importlib.util.find_spec(original) is None:
                return None
            found = importlib.import_module(original)
        spec = ModuleSpec(fullname, _Existing(found))
        spec.submodule_search_locations = []
        return spec


def _redirecting_import_module(original: Any) -> Any:
    """`importlib.import_module` that looks at whose module calls it."""

    @functools.wraps(original)
    def import_module(name: str, package: str | None = None) -> ModuleType:
        caller = sys._getframe(1).f_globals
        replacement = _replacement(name)
        if replacement and isinstance(caller.get("__loader__"), RedirectingLoader):
            name = replacement
        module: ModuleType = original(name, package)
        return module

    return import_module


def redirect(folders: Sequence[Path], library: str = "numpy") -> None:
    """From now on, modules under `folders` that import the library get what stands for it."""
    _chosen[0] = library
    sys.meta_path.insert(0, _UserModules(folders))
    sys.meta_path.append(_Submodules())
    importlib.import_module = _redirecting_import_module(importlib.import_module)
