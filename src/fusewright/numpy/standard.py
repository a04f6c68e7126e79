"""What the Python array API standard asks of a namespace beyond NumPy's names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import numpy as np

from fusewright._core import native
from fusewright.base.errors import ValueRangeError
from fusewright.frontends.arrays import Array, core, creation

API_VERSION = "2025.12"


class NamespaceInfo:
    """`__array_namespace_info__()`: one device, NumPy's dtypes, data-dependent shapes computed
    at once.
    """

    def capabilities(self) -> dict[str, Any]:
        """What the namespace can do."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": 64,
        }

    def default_device(self) -> str:
        """Where arrays live."""
        return "cpu"

    def devices(self) -> tuple[str, ...]:
        """All places arrays can live."""
        return ("cpu",)

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtypes of new arrays."""
        _check(device)
        info: Any = np.__array_namespace_info__()
        return dict(info.default_dtypes())

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The dtypes there are, by name."""
        _check(device)
        info: Any = np.__array_namespace_info__()
        return dict(info.dtypes(kind=kind))


def _check(device: Any) -> None:
    if device not in (None, "cpu"):
        raise ValueRangeError(
            f"Device not understood. Only 'cpu' is allowed, got: {device}", help="use 'cpu'"
        )


EXTRA = {
    "sort": "descending", "argsort": "descending", "fftfreq": "dtype", "rfftfreq": "dtype",
}  # fmt: skip
"""Keywords of the standard's that NumPy's functions lack."""
Function = Callable[..., Any]


def _descending(function: Function, original: Function) -> Function:
    """Sorting from the greatest on: equal elements keep their order, as the standard asks."""
    is_argsort = original is np.argsort

    @wraps(function)
    def call(
        a: Any, axis: Any = -1, *args: Any, descending: Any = False, stable: Any = None, **more: Any
    ) -> Any:
        if not descending:
            more |= {} if stable is None else {"stable": stable}
            return function(a, axis, *args, **more)
        if not isinstance(a, core.Handle):
            small = 0 if native is None else native.small()
            a = np.asarray(a) if small else creation.asarray(a)
        if axis is None:
            a, axis = np.ravel(a), -1
        if not args and not more:
            more = {"stable": True if stable is None else stable}
        found = np.flip(original(np.flip(a, axis), axis, *args, **more), axis)
        return a.shape[axis] - 1 - found if is_argsort else found.copy()

    return call


def _of_dtype(function: Function, original: Function) -> Function:
    @wraps(function)
    def call(n: Any, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
        if dtype is None:
            return function(n, d, device)
        return original(n, d, device).astype(dtype)

    return call


_EXTENDED: dict[str, tuple[Callable[[Function, Function], Function], Function]] = {
    "sort": (_descending, np.sort), "argsort": (_descending, np.argsort),
    "fftfreq": (_of_dtype, np.fft.fftfreq), "rfftfreq": (_of_dtype, np.fft.rfftfreq),
}  # fmt: skip
_NAMED = {"clip": {"a_min": "min", "a_max": "max"}}
"""Arguments that the standard names otherwise; both names are taken."""


def extended(functions: Mapping[str, Function]) -> dict[str, Function]:
    """The functions of a table that have more arguments in the standard, with their signatures."""
    made = {
        name: extend(functions[name], original)
        for name, (extend, original) in _EXTENDED.items()
        if name in functions
    }
    for name, function in made.items():
        function.__signature__ = with_keyword(_EXTENDED[name][1], EXTRA[name])  # type: ignore[attr-defined]
    for name in _NAMED.keys() & functions.keys():
        function = made[name] = _passed_on(functions[name])
        function.__signature__ = _renamed(np.clip, _NAMED[name])  # type: ignore[attr-defined]
    return made


def _passed_on(function: Function) -> Function:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def with_keyword(function: Function, name: str) -> inspect.Signature:
    """A function's signature with one keyword more, if it has none of the name."""
    signature = inspect.signature(function)
    if name in signature.parameters:  # NumPy 2.5 sorts from the greatest on, too
        return signature
    default = None if name == "dtype" else False
    more = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
    return signature.replace(parameters=[*signature.parameters.values(), more])


def _renamed(function: Function, names: Mapping[str, str]) -> inspect.Signature:
    signature = inspect.signature(function)
    parameters = [each for each in signature.parameters.values() if each.name not in names.values()]
    renamed = [each.replace(name=names.get(each.name, each.name)) for each in parameters]
    return signature.replace(parameters=renamed)


class Extending(type):
    """The class of classes that stand for NumPy's: its own objects are instances of them."""

    def __instancecheck__(cls, value: Any) -> bool:
        numpys = cls.__mro__[1]
        is_derived = isinstance(numpys, Extending)
        return type.__instancecheck__(cls, value) if is_derived else isinstance(value, numpys)

    def __subclasscheck__(cls, kind: type) -> bool:
        numpys = cls.__mro__[1]
        is_derived = isinstance(numpys, Extending)
        return type.__subclasscheck__(cls, kind) if is_derived else issubclass(kind, numpys)


def _type_of(value: Any) -> Any:
    return value.dtype if isinstance(value, np.ndarray | Array) else value


class finfo(np.finfo, metaclass=Extending):
    """NumPy's `finfo`, also of an array."""

    def __new__(cls, dtype: Any) -> Any:
        return np.finfo(dtype if type(dtype) is type else _type_of(dtype))


class iinfo(np.iinfo, metaclass=Extending):
    """NumPy's `iinfo`, also of an array."""

    def __new__(cls, type: Any) -> Any:
        return np.iinfo(_type_of(type))


EXPORTS: dict[str, Any] = {
    "__array_namespace_info__": NamespaceInfo, "__array_api_version__": API_VERSION,
    "finfo": finfo, "iinfo": iinfo,
}  # fmt: skip
