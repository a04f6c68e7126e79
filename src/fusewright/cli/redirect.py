"""Gives the user's own modules `fusewright.numpy` where they import `numpy`, or a bridge where they
import the library it stands for; installed packages keep the real one.

Only names change, so lines, columns, tracebacks and
`inspect.getsource` stay as they are, and nothing is added to the module's namespace:

    import numpy as np              ->  import fusewright.numpy as np
    import numpy.linalg             ->  import fusewright.numpy as numpy   (submodule loaded)
    from numpy.linalg import solve  ->  from fusewright.numpy.linalg import solve

and so that arrays of either kind have one class, and modules all their names,

    type(x)                         ->  __fusewright_type__(x)
    kind is np.ndarray              ->  as_named(kind) is np.ndarray
    vars(np), np.__dict__           ->  vars(complete(np)), complete(np).__dict__

pytest puts more into assertions: what it makes of a test is made of the redirected source.  Where
another tool makes the code, `__import__` gives the drop-in and nothing else is changed.

Whose modules: source files under the given folders, but nothing in a `site-packages` or
`dist-packages` folder, of this Python installation, or of Fusewright itself.
`importlib.import_module("numpy")` called in such a module is redirected too.  Rewritten code is
never written to `__pycache__`, but kept in the cache folder, by the source that it was made from.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import importlib.util
import marshal
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from fusewright.base.later import later
from fusewright.cli.libraries import LIBRARIES, Redirection, provide_type

if TYPE_CHECKING:
    import ast

    from fusewright.cli import border, rewriting
    from fusewright.runtime import cache
else:
    border = later("fusewright.cli.border")
    rewriting, cache = later("fusewright.cli.rewriting"), later("fusewright.runtime.cache")

_chosen = [Redirection("numpy", LIBRARIES["numpy"])]
"""What is redirected in this process."""
_INSTALLED = {"site-packages", "dist-packages"}
_OURS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def compile_redirected(source: bytes | str, filename: str, optimize: int = -1) -> CodeType:
    """Compile a module's source with its imports of the library redirected."""
    if isinstance(source, bytes) and not _mentions(source):
        return compile(source, filename, "exec", dont_inherit=True, optimize=optimize)
    return rewriting.compile_rewritten(source, filename, _chosen[0], optimize)


def user_code(source: bytes, filename: str, asserting: _Asserting | None = None) -> CodeType:
    """The same, kept on disk: what an earlier process has compiled is only read.

    `asserting` says what becomes of assertions, and under which name the code is kept.
    """
    if not _mentions(source):
        return compile(source, filename, "exec", dont_inherit=True)
    key = _disk_key(source, filename, asserting.name if asserting else "")
    code = _stored(key)
    if code is None:
        change = asserting.change if asserting else None
        with warnings.catch_warnings(record=True) as caught:
            code = rewriting.compile_rewritten(source, filename, _chosen[0], change=change)
        for each in caught:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        if not caught:  # each process says what is wrong with a source
            cache.put(key, marshal.dumps(code))
    return code


def _mentions(source: bytes) -> bool:
    """Whether a source may import the library, or ask for the type of one of its arrays."""
    library = _chosen[0].library
    return library.encode() in source or (library == "numpy" and b"type(" in source)


def _disk_key(source: bytes, filename: str, assertions: str) -> str:
    """The name on disk of everything that a module's code depends on."""
    rules = os.stat(os.path.join(_OURS, "cli", "rewriting.py"))
    version = (sys.version, sys.flags.optimize, rules.st_mtime_ns, rules.st_size, assertions)
    return cache.digest(f"{version}\n{_chosen[0]}\n{filename}\n".encode() + source)


def _stored(key: str) -> CodeType | None:
    data = cache.get(key)
    if data is None:
        return None
    try:
        found = marshal.loads(data)
    except (EOFError, ValueError, TypeError):
        return None
    return found if isinstance(found, CodeType) else None


class _Asserting(NamedTuple):
    """What pytest makes of a module's assertions: a change of its syntax tree, and a name for what
    the change depends on.
    """

    name: str
    change: Callable[[ast.Module], None]
    note: Callable[[str], None]
    """Called with the name of each module that is loaded so."""


def _pytests(loader: Any, source: bytes, path: str) -> _Asserting | None:
    """What pytest's loader would do with a source; None of any other loader."""
    rewrite: Any = sys.modules.get("_pytest.assertion.rewrite")
    if type(loader) is not getattr(rewrite, "AssertionRewritingHook", None):
        return None
    config, version = loader.config, sys.modules["pytest"].__version__
    return _Asserting(
        f"{version} {config.getini('enable_assertion_pass_hook')}",
        lambda tree: rewrite.rewrite_asserts(tree, source, path, config),
        lambda name: loader._rewritten_names.__setitem__(name, rewrite.Path(path)),
    )


class RedirectingLoader(SourceFileLoader):
    """Loads one of the user's source files; no `.pyc` ever holds rewritten code."""

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        source = self.get_data(path)
        # What neither names the library nor asks for types is compiled and kept as Python does.
        code = user_code(source, path) if _mentions(source) else super().get_code(fullname)
        if code is not None:
            border.read(code)
        return code


class _OtherLoader(RedirectingLoader):
    """Stands for another loader of one of the user's source files, which makes code of its own from
    it.  What pytest's does with assertions is done here; any other's (type checkers') runs, and
    what imports in its code is ours.
    """

    def __init__(self, spec: ModuleSpec, path: str) -> None:
        super().__init__(spec.name, path)
        self.other: Any = spec.loader

    def __getattribute__(self, name: str) -> Any:
        """What the other loader has is its own: an archive's data, a checker's code."""
        found = object.__getattribute__(self, name)
        ours = name in ("other", "exec_module") or name.startswith("__")
        return found if ours else getattr(self.other, name, found)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.other, name)

    def exec_module(self, module: ModuleType) -> None:
        path = self.get_filename(module.__name__)
        source = b""
        with contextlib.suppress(OSError):  # no file: the other loader knows what to do
            source = self.get_data(path)
        asserting = _pytests(self.other, source, path) if _mentions(source) else None
        if asserting is not None:
            asserting.note(module.__name__)
            code = user_code(source, path, asserting)
            border.read(code)
            exec(code, vars(module))
            return
        if _mentions(source):
            border.read(user_code(source, path))
            vars(module)["__builtins__"] = {**vars(builtins), "__import__": _import}
        self.other.exec_module(module)


def _import(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    """Python's `__import__` with the drop-in for the library."""
    replacement = None if level else _chosen[0].of(name)
    if replacement is None:
        return builtins.__import__(name, globals, locals, fromlist or (), level)
    # Without names from it a dotted module would return `fusewright`.
    found = builtins.__import__(replacement, globals, locals, fromlist or ("__name__",))
    return found if fromlist else sys.modules[_chosen[0].drop_in]


class UserModules:
    """Stands before the other finders and changes the loader of what they find in the user's
    folders: the script's, and those that the program puts on `sys.path`.
    """

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = [_prefix(folder) for folder in folders]
        self.excluded = [_prefix(_OURS), *_standard_library(self.folders)]
        self._installed = frozenset(sys.path)
        self._decided: dict[str, bool] = {}

    def owns(self, path: str) -> bool:
        """True for a file of the user's: the folder decides, once for all files in it."""
        folder = os.path.dirname(path)
        if folder not in self._decided:
            self._decided[folder] = self._decide(_prefix(folder))
        return self._decided[folder]

    def _decide(self, folder: str) -> bool:
        if folder.startswith(tuple(self.excluded)):
            return False
        own = any(
            folder.startswith(own) and not _INSTALLED & set(folder[len(own) :].split(os.sep))
            for own in self.folders
        )
        return own or (not _INSTALLED & set(folder.split(os.sep)) and self._is_added(folder))

    def _is_added(self, folder: str) -> bool:
        """Whether the program itself has put a folder, or one above it, on its path."""
        added = [entry for entry in sys.path if entry not in self._installed]
        return any(folder.startswith(_prefix(entry)) for entry in added)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if sys.meta_path[0] is not self:  # pytest has put its own finder before
            sys.meta_path.remove(self)
            sys.meta_path.insert(0, self)
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if isinstance(finder, UserModules) or find is None:  # one of an earlier run asks us
                continue
            spec: ModuleSpec | None = find(fullname, path, target)
            if isinstance(spec, ModuleSpec):
                return self._with_loader(spec)
            if spec is not None:  # something of the program's that Python takes for one
                return spec
        return None

    def _with_loader(self, spec: ModuleSpec) -> ModuleSpec:
        path = spec.origin
        if spec.loader is None or not path or path[-3:] != ".py" or not self.owns(path):
            return border.watch(spec)
        is_pythons = type(spec.loader) is SourceFileLoader
        spec.loader = RedirectingLoader(spec.name, path) if is_pythons else _OtherLoader(spec, path)
        return spec


def _prefix(folder: str) -> str:
    """What the paths of all files in a folder begin with, links resolved."""
    return os.path.join(os.path.realpath(folder), "")


def _standard_library(folders: Sequence[str]) -> list[str]:
    """The folders of this Python installation (a virtual environment may lie beside the script)."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    binary = os.path.join(sys.base_exec_prefix, sys.platlibdir, name)
    found = {_prefix(os.path.dirname(os.__file__)), _prefix(binary)}
    # A program that is itself installed (`fusewright run -m tool`) is the user's nevertheless.
    return [folder for folder in found if folder not in folders]


class _Existing:
    """Loads a module that already exists under another name."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def create_module(self, spec: ModuleSpec) -> None:
        """An ordinary one, which nobody sees."""

    def exec_module(self, module: ModuleType) -> None:
        # The import system returns what stands in `sys.modules` after this call.
        sys.modules[module.__name__] = self.module


class _Submodules:
    """Finds `fusewright.numpy.x` where no file is: an attribute of the drop-in, or NumPy's own.  A
    bridge has the names of all its library's modules in one.

    One stands last; the `inner` one before Python's finders, for what lies inside a module that is
    NumPy's own: by that module's path Python would load its submodules a second time.
    """

    def __init__(self, inner: bool = False) -> None:
        self.inner = inner

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        library, drop_in = _chosen[0]
        if not fullname.startswith(drop_in + "."):
            return None
        parent, _, name = fullname.rpartition(".")
        home = sys.modules[parent]
        if self.inner and home.__name__.startswith(drop_in) and _is_package(home):
            return None
        # Not `getattr`: the drop-in's own look-up of missing names asks the finders.
        found = vars(home).get(name)
        if library != "numpy":
            found = sys.modules[drop_in]
        if found is None or (self.inner and not isinstance(found, ModuleType)):
            original = library + fullname[len(drop_in) :]
            if importlib.util.find_spec(original) is None:
                return None
            found = importlib.import_module(original)
        spec = ModuleSpec(fullname, _Existing(found))  # type: ignore[arg-type]
        spec.submodule_search_locations = []
        return spec


def _is_package(module: ModuleType) -> bool:
    """Whether a module has submodules of its own (its `__path__` may be NumPy's)."""
    return bool(module.__spec__ and module.__spec__.submodule_search_locations is not None)


def _redirecting_import_module(original: Any) -> Any:
    """`importlib.import_module` that looks at whose module calls it."""

    @functools.wraps(original)
    def import_module(name: str, package: str | None = None) -> ModuleType:
        caller = sys._getframe(1).f_globals
        replacement = _chosen[0].of(name)
        if replacement and isinstance(caller.get("__loader__"), RedirectingLoader):
            name = replacement
        module: ModuleType = original(name, package)
        return module

    return import_module


def _dispatching_on_arrays(original: Any) -> Any:
    """`functools.singledispatch` with what is registered for NumPy's arrays for ours as well."""

    @functools.wraps(original)
    def singledispatch(func: Any) -> Any:
        made = original(func)
        register = made.register

        def both(cls: Any, func: Any = None) -> Any:
            if func is None and isinstance(cls, type):
                return lambda func: both(cls, func)
            result = register(cls, func)
            numpy: Any = sys.modules.get("numpy")
            found = None if numpy is None else made.registry.get(numpy.ndarray)
            if found is not None:
                arrays = importlib.import_module("fusewright.frontends.arrays")
                register(arrays.Scalar, made.dispatch(numpy.float64))
                register(arrays.Array, found)
            return result

        made.register = both
        return made

    return singledispatch


def redirect(folders: Sequence[str], library: str = "numpy") -> None:
    """From now on, modules under `folders` that import the library get what stands for it."""
    _chosen[0] = Redirection(library, LIBRARIES[library])
    if library == "numpy":
        border.open_border(RedirectingLoader)
        provide_type()
        functools.singledispatch = _dispatching_on_arrays(functools.singledispatch)
    sys.meta_path[:0] = [UserModules(folders), _Submodules(inner=True)]
    sys.meta_path.append(_Submodules())
    importlib.import_module = _redirecting_import_module(importlib.import_module)
