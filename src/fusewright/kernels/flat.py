"""The values that a kernel's code takes out of a call's arguments: items of tuples, attributes of
objects, numbers of any type, as one list.

For a kind of call that is a function of Python's own, made once: `lambda a: [a[0], a[1][0],
a[2].dt]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fusewright.frontends.kernels.values import Path
from fusewright.ir.dtypes import FLOAT64, INT64, DType
from fusewright.runtime.arguments import word

Flat = Callable[[Sequence[Any]], list[Any]]


@dataclass(frozen=True, slots=True)
class Attributes:
    """The chains of attributes of an object that kernels use, and what the object holds there: of
    an object on the way to others, its type.
    """

    chains: tuple[tuple[str, ...], ...]
    held: Callable[[Any], tuple[Any, ...]]

    @classmethod
    def of(cls, chains: Sequence[tuple[str, ...]]) -> Attributes:
        """Of these chains, each once."""
        own = tuple(dict.fromkeys(chains))
        ways = {chain[:length] for chain in own for length in range(1, len(chain))}
        texts = [".".join(("o", *c, "__class__") if c in ways else ("o", *c)) for c in own]
        return cls(own, eval(f"lambda o: ({''.join(f'{text},' for text in texts)})"))


Chains = dict[type, Attributes]
"""By the types of objects."""
PLAIN = (np.ndarray, int, float)
"""What code takes as it is."""


def is_plain(arguments: Iterable[Any]) -> bool:
    """Whether arguments are what code takes as they are."""
    return all(type(value) in PLAIN for value in arguments)


def flat_of(
    names: Sequence[str], paths: Sequence[Path], values: Sequence[Any], dtypes: Mapping[Path, DType]
) -> Flat:
    """The function that takes the values at these paths; `dtypes` are those of the numbers."""
    known: dict[str, Any] = {}
    texts = []
    for number, (path, value) in enumerate(zip(paths, values, strict=True)):
        text = _text(names, path)
        if path in dtypes and type(value) not in (int, float):
            name = f"convert{number}"
            known[name] = _conversion(dtypes[path])
            text = f"{name}({text})"
        texts.append(text)
    made: Flat = eval(f"lambda a: [{', '.join(texts)}]", known)
    return made


def _text(names: Sequence[str], path: Path) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path[1:])
    return f"a[{names.index(str(path[0]))}]{''.join(steps)}"


def _conversion(dtype: DType) -> Callable[[Any], Any]:
    if dtype is FLOAT64:
        return float
    return int if dtype is INT64 else partial(word, dtype=dtype)


def key_part(value: Any, chains: Chains) -> Any:
    """What a kind of call is found by, of an argument that is no array and no number of Python's;
    None where calls with it take the long way.
    """
    kind = type(value)
    if kind in _SCALARS:
        return kind
    if kind is type:
        return value
    if kind is tuple:
        return _all(value, chains)
    if kind is np.ndarray:
        return (value.dtype, value.shape, value.strides, value.flags.writeable)
    known = chains.get(kind)
    if known is None:
        return None
    try:
        parts = [key_part(held, chains) for held in known.held(value)]
    except AttributeError:
        return None
    return None if None in parts else (kind, *parts)


def _all(values: Iterable[Any], chains: Chains) -> Any:
    parts = tuple(key_part(value, chains) for value in values)
    return None if None in parts else parts


def chains_of(
    names: Sequence[str], arguments: Mapping[str, Any], paths: Iterable[Path]
) -> dict[type, list[tuple[str, ...]]] | None:
    """The chains of attributes among paths, by the types of the objects; None where a path leads
    somewhere else.
    """
    found: dict[type, list[tuple[str, ...]]] = {}
    for path in paths:
        root, *steps = path
        if root not in names or not all(isinstance(step, str) for step in steps):
            return None
        found.setdefault(type(arguments[str(root)]), []).append(tuple(map(str, steps)))
    return found


_SCALARS = frozenset({int, float, complex, bool, *np.sctypeDict.values()})
