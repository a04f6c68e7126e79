"""Which functions of installed packages a user's program calls through the border.

A package that knows nothing of our arrays wants NumPy's: compiled code, `isinstance`, dispatch on
types (`fusewright.numpy.border` says what crosses).  What is put behind the border is found by
names: those that stand in the code of the user's modules, and no others.  Functions and methods of
such names are replaced in their module or class by the same functions behind the border, when the
package has been imported; everything else, and every package that does not use NumPy, stays as it
was.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import importlib
import sys
from collections.abc import Callable, Iterable
from importlib.machinery import ModuleSpec
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from fusewright._core import native

UNDERSTAND = frozenset((
    "numpy", "fusewright", "array_api_compat", "array_api_strict", "matplotlib", "mpl_toolkits",
    "pytest", "_pytest", "hypothesis", "IPython", "llvmlite", "pykokkos", "setuptools",
))  # fmt: skip
"""Packages that take our arrays as they are, or never meet one."""
ONLY = {
    "numba": frozenset(),
    "torch": frozenset(("from_numpy", "tensor", "as_tensor", "asarray", "from_dlpack")),
    "jax": frozenset(("asarray", "array", "device_put")),
    "tensorflow": frozenset(("constant", "convert_to_tensor", "Variable")),
}
"""Packages that look into functions, theirs and the user's: the names that may be replaced."""
STANDARD = {
    "json": frozenset(("dump", "dumps")),
    "sqlite3": frozenset(("connect",)),
    "statistics": frozenset((
        "correlation", "covariance", "fmean", "geometric_mean", "harmonic_mean",
        "linear_regression", "mean", "pstdev", "pvariance", "quantiles", "stdev", "variance",
    )),
    "time": frozenset(("sleep",)),
}  # fmt: skip
"""Functions of the standard library that take NumPy's float64 for a float, and not our number."""
CLASSES = {
    "numba": ("numba.core.registry", ("CPUDispatcher",)),
    "pandas": ("pandas.core.indexing", ("_LocIndexer", "_iLocIndexer", "_AtIndexer")),
}
"""Classes whose objects a program gets without calling anything, or of its own functions."""
COMPILED = frozenset(("SuperLU",))
"""Compiled classes that do not say whose they are."""
CONNECT = {
    "numba": "fusewright.bridges.numba",
    "json": "fusewright.bridges.json",
    "sqlite3": "fusewright.bridges.sqlite3",
}
"""Modules that tell a package about the drop-in, once it has been imported."""
FUNCTIONS = frozenset((
    "function", "builtin_function_or_method", "cython_function_or_method",
    "fused_cython_function", "fortran", "_lru_cache_wrapper", "method_descriptor",
))  # fmt: skip
"""Names of the types of functions, of Python and of compilers."""
SPECIAL = frozenset(
    f"__{name}__"
    for name in (
        "init", "call", "getitem", "setitem", "contains", "add", "radd", "iadd", "sub", "rsub",
        "isub", "mul", "rmul", "imul", "truediv", "rtruediv", "itruediv", "floordiv", "rfloordiv",
        "mod", "rmod", "pow", "rpow", "matmul", "rmatmul", "and", "rand", "or", "ror", "xor",
        "rxor", "lt", "le", "eq", "ne", "gt", "ge",
    )
)  # fmt: skip
"""Methods that code calls without naming them."""

_NUMPY = {"numpy", "fusewright.numpy"}
_names: set[str] = set()
_called: set[str] = set(SPECIAL)
"""The names of methods to be opened: with `__new__` and its like a class of C would be another
class, whatever the user's code says of such names.
"""
_modules: dict[str, ModuleType] = {}
_classes: dict[type, set[str]] = {}
_borders: dict[int, tuple[Any, Any]] = {}
_uses: dict[str, bool] = {}
_user_loaders: list[type] = []


def open_border(loader: type) -> None:
    """From now on; `loader` is what loads the user's modules."""
    if native is None or _user_loaders:
        return
    _user_loaders.append(loader)
    native.set_user(loader)


def _met(value: Any) -> Any:
    """A result of a class that has not been seen: its methods may be named by the user's code."""
    kind = type(value)
    crossing: Any = sys.modules["fusewright.numpy.border"]
    if kind is FunctionType:
        home = value.__globals__.get("__name__", "")
        return _bordered(value) if home in sys.modules and _is_foreign_home(home) else value
    if kind is MethodType or kind is BuiltinMethodType:  # `factorized(a)` is `splu(a).solve`
        return _in_front(value) if _is_theirs(type(value.__self__)) else value
    top, theirs = kind.__module__.partition(".")[0], _is_theirs(kind)
    if theirs and top not in ONLY and not _is_mutable(kind) and _is_bare(kind):
        return crossing.Guarded(value) if _names.intersection(dir(kind)) else value
    crossing.known.add(kind)
    if theirs:
        _open_class(kind)
    return value


def _is_theirs(kind: type) -> bool:
    top = kind.__module__.partition(".")[0]
    return kind.__name__ in COMPILED or (_is_foreign_home(top) and _uses_numpy(top))


_BARE = {"__reduce_cython__", "__setstate_cython__", "__module__", "__call__", "__class_getitem__"}


def _is_bare(kind: type) -> bool:
    """Whether a class has methods with names alone: no operators, no iteration."""
    special = {name for name in dir(kind) if name.startswith("__")}
    return special <= set(dir(object)) | _BARE


def read(code: CodeType) -> None:
    """A module of the user's is about to run: its names count."""
    if not _user_loaders:
        return
    found = _words(code) - _names
    _names.update(found)
    _called.update(name for name in found if not name[:2] == name[-2:] == "__")
    for name in found | STANDARD.keys():
        if name in sys.modules and concerns(name):
            touch(sys.modules[name])
    for module in list(_modules.values()):
        _open_module(module, found)
    for kind in list(_classes):
        _open_class(kind)


def _words(code: CodeType) -> set[str]:
    """Every name in code: of modules, attributes, methods, globals."""
    found, todo = set[str](), [code]
    while todo:
        each = todo.pop()
        found.update(each.co_names)
        todo += [const for const in each.co_consts if isinstance(const, CodeType)]
    return found


def concerns(name: str) -> bool:
    """Whether the user's code names a module, of a package that may be changed."""
    top = name.partition(".")[0]
    if name in STANDARD:
        return bool(STANDARD[name] & _names and _NUMPY & _names and _user_loaders)
    if top in UNDERSTAND or top in sys.stdlib_module_names or not _user_loaders:
        return False
    return top in CLASSES or name in _names or all(part in _names for part in name.split("."))


def watch(spec: ModuleSpec) -> ModuleSpec:
    """A package is being imported: look at it when it is there."""
    loader: Any = spec.loader
    if not concerns(spec.name) or not hasattr(loader, "exec_module"):
        return spec
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        vars(loader).pop("exec_module", None)
        execute(module)
        touch(module, complete=True)

    with contextlib.suppress(AttributeError):  # a loader without attributes: nothing to be done
        loader.exec_module = exec_module
    return spec


def touch(module: ModuleType | None, complete: bool = False) -> None:
    """Put what the user's code names behind the border, in a module that has been loaded."""
    if module is None or module.__name__ in _modules or _is_users(module):
        return
    if not complete and getattr(getattr(module, "__spec__", None), "_initializing", False):
        return  # it will be looked at when it has been
    top = module.__name__.partition(".")[0]
    if module.__name__ not in STANDARD and not _uses_numpy(top):
        return
    if not _modules:
        importlib.import_module("fusewright.numpy.border").met.append(_met)
    _modules[module.__name__] = module
    if module.__name__ == top:
        home, kinds = CLASSES.get(top, (top, ()))
        for name in kinds:
            _open_class(getattr(importlib.import_module(home), name))
        if top in CONNECT:
            importlib.import_module(CONNECT[top])
    _open_module(module, _names)
    lazy = vars(module).get("__getattr__")
    if type(lazy) is FunctionType and top not in ONLY:
        vars(module)["__getattr__"] = _looking(module, lazy)


def _looking(module: ModuleType, lazy: Callable[[str], Any]) -> Callable[[str], Any]:
    """A module's own look-up of names, with what it finds behind the border."""

    @functools.wraps(lazy)
    def __getattr__(name: str) -> Any:
        found = lazy(name)
        return _behind(found, module) if name in _names else found

    return __getattr__


def _is_users(module: ModuleType) -> bool:
    return isinstance(getattr(module, "__loader__", None), tuple(_user_loaders))


def _uses_numpy(top: str) -> bool:
    """Whether some module of a package has NumPy under its usual name."""
    if not _uses.get(top):
        numpy = sys.modules.get("numpy")
        _uses[top] = any(
            numpy in (values.get("np"), values.get("numpy"), values.get("_np"))
            for name, module in sys.modules.copy().items()
            if name == top or name.startswith(top + ".")
            for values in (getattr(module, "__dict__", None) or {},)
        )
    return _uses[top]


def _open_module(module: ModuleType, names: Iterable[str]) -> None:
    values = vars(module)
    allowed = (ONLY | STANDARD).get(module.__name__.partition(".")[0])
    for name in [each for each in names if each in values]:
        if allowed is None or name in allowed:
            value = values[name]
            found = _behind(value, module)
            if found is not value:
                setattr(module, name, found)


def _behind(value: Any, module: ModuleType) -> Any:
    """A function behind the border; classes are opened in place."""
    kind = type(value)
    if isinstance(value, ModuleType):
        if concerns(value.__name__):
            touch(value)
    elif isinstance(value, type):
        _open_class(value)
    elif kind.__name__ in FUNCTIONS:
        return _bordered(value) if _is_foreign(value, module.__name__) else value
    elif not callable(value) or not hasattr(value, "__array_ufunc__"):
        _open_class(kind)
    return value


def _is_foreign(value: Any, home: str) -> bool:
    """Whether something is an installed package's own, that may be changed."""
    name = getattr(value, "__module__", None) or home
    return isinstance(name, str) and _is_foreign_home(name)


def _is_foreign_home(name: str) -> bool:
    top = name.partition(".")[0]
    if top in UNDERSTAND or top in sys.stdlib_module_names:
        return name in STANDARD
    module = sys.modules.get(name)
    return module is None or not _is_users(module)


def _bordered(function: Any) -> Any:
    if id(function) not in _borders:
        assert native is not None
        _borders[id(function)] = _in_front(function), function
    return _borders[id(function)][0]


def _in_front(function: Any) -> Any:
    """A border of its own: nothing keeps it, as nothing keeps a method."""
    assert native is not None
    return functools.update_wrapper(native.Border(function), function)


def _open_class(kind: type) -> None:
    """Put the methods that the user's code names behind the border, in a class and its bases."""
    if kind.__module__.partition(".")[0] in ONLY:
        if kind not in _classes and callable(getattr(kind, "__call__", None)):  # noqa: B004
            _classes[kind] = {"__call__"}
            _open_method(kind, "__call__")
        return
    for base in kind.__mro__:
        if base in _classes or _may_change(base):
            done = _classes.setdefault(base, set())
            for name in (_called & vars(base).keys()) - done:
                done.add(name)
                _open_method(base, name)


def _may_change(kind: type) -> bool:
    changes = type(kind).__setattr__ is type.__setattr__
    return (
        changes
        and _is_foreign(kind, "builtins")
        and _is_mutable(kind)
        and not issubclass(kind, BaseException | enum.Enum)
        and _uses_numpy(kind.__module__.partition(".")[0])
    )


HEAP, IMMUTABLE = 1 << 9, 1 << 8
"""Flags of types (`Include/object.h`)."""


def _is_mutable(kind: type) -> bool:
    return bool(kind.__flags__ & HEAP) and not kind.__flags__ & IMMUTABLE


def _open_method(kind: type, name: str) -> None:
    homes = [base for base in kind.__mro__ if name in vars(base)]
    raw = vars(homes[0])[name]
    if homes[0] is not kind:
        made = _bordered(raw)
    elif isinstance(raw, staticmethod | classmethod):
        inner = raw.__func__
        is_function = type(inner).__name__ in FUNCTIONS
        made = type(raw)(_bordered(inner)) if is_function else None
    else:
        made = _bordered(raw) if type(raw).__name__ in FUNCTIONS else None
    if made is not None:
        type.__setattr__(kind, name, made)
