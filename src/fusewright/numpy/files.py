"""Saving, loading and printing: values are computed, and NumPy writes and reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from fusewright.frontends.arrays import opaque
from fusewright.numpy.operands import Function


class Archive(Mapping[str, Any]):
    """An open `.npz` file whose arrays are ours."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __getitem__(self, name: str) -> Any:
        return opaque.from_numpy_result(self._file[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._file)

    def __len__(self) -> int:
        return len(self._file)

    def __contains__(self, name: object) -> bool:
        return name in self._file

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __repr__(self) -> str:
        return repr(self._file)


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """Read a `.npy` or `.npz` file."""
    found = np.load(file, *args, **kwargs)
    if isinstance(found, np.lib.npyio.NpzFile):
        return Archive(found)
    return opaque.from_numpy_result(found)


def on_host(original: Callable[..., Any]) -> Function:
    """A function that looks at values and leaves none behind that need recording (files, text,
    types).
    """

    def function(*args: Any, **kwargs: Any) -> Any:
        args = tuple(map(opaque.to_numpy, args))
        kwargs = {key: opaque.to_numpy(value) for key, value in kwargs.items()}
        return opaque.from_numpy_result(original(*args, **kwargs))

    function.__name__ = function.__qualname__ = original.__name__
    function.__doc__ = original.__doc__
    return function


EXPORTS: dict[str, Function] = {
    "load": load,
    **{
        f.__name__: on_host(f)
        for f in (
            np.save,
            np.savez,
            np.savez_compressed,
            np.savetxt,
            np.loadtxt,
            np.genfromtxt,
            np.fromregex,
            np.array_repr,
            np.array_str,
            np.array2string,
            np.format_float_positional,
            np.format_float_scientific,
        )
    },
}
