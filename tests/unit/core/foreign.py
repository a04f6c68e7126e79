"""Arrays of other libraries, and what is none: who decides what an operator means."""

from __future__ import annotations

from typing import Any

import numpy as np


class Foreign:
    """Another library's array: NumPy asks its `__array_ufunc__`."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> str:
        return f"{ufunc.__name__} {method} {[type(each).__name__ for each in inputs]}"


class _Own:
    """Operators that say who asked."""

    def __add__(self, other: Any) -> str:
        return f"add {type(other).__name__}"

    def __radd__(self, other: Any) -> str:
        return f"radd {type(other).__name__}"

    def __rpow__(self, other: Any) -> str:
        return f"rpow {type(other).__name__}"

    def __lt__(self, other: Any) -> str:
        return f"lt {type(other).__name__}"

    def __eq__(self, other: object) -> Any:
        return f"eq {type(other).__name__}"

    __hash__ = object.__hash__


class Aloof(_Own):
    """One that wants nothing to do with ufuncs."""

    __array_ufunc__ = None


class Prior(_Own):
    """One from before `__array_ufunc__`, which wins by its priority."""

    __array_priority__ = 1e6


class Modest(_Own):
    """One of lower priority: an element of unknown type."""

    __array_priority__ = -1.0


class Subclass(np.ndarray):
    """NumPy's array with another name."""


FOREIGN: dict[str, Any] = {
    "Foreign": Foreign(), "Aloof": Aloof(), "Prior": Prior(), "Modest": Modest(),
    "Subclass": np.ones(3).view(Subclass), "ndarray": np.ones(3), "matrix of one": np.ones((1, 3)),
    "masked_array": np.ma.ones(3), "object": np.array([1, None, 2], dtype=object),
}  # fmt: skip
