"""A call like an earlier one, in a microsecond: NumPy arrays of the same shapes, Python numbers.

What an earlier call found out (the code, which words are constants, which arrays must not overlap)
is kept under the settings and the arguments' types, shapes and strides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fusewright.base.options import Options
from fusewright.frontends.kernels.values import Path
from fusewright.ir.dtypes import FLOAT64, INT64
from fusewright.ir.expr import postorder
from fusewright.kernels.flat import Chains, Flat, flat_of, is_plain, key_part
from fusewright.kernels.sizes import shape_of
from fusewright.kernels.specialise import Specialised, reach, reach_of
from fusewright.targets.executable import BoundKernel, Given

if TYPE_CHECKING:
    from fusewright.codegen.module import Word
    from fusewright.targets.executable import LoopExecutable

NDArray = np.ndarray[Any, Any]
MOST = 256
"""Shapes remembered for a kernel; all are forgotten when there are more."""
_NUMBERS = (int, float)
NO_CHAINS: Chains = {}


class Fresh(NamedTuple):
    """An array that each call allocates; `shape` may be a function of the arguments."""

    buffer: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...] | Callable[[Sequence[Any]], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Quick:
    """One kind of call: its bound kernel takes the arguments (or what `flat` makes of them), then
    its results.
    """

    found: Specialised
    options: Options
    bound: BoundKernel
    results: tuple[Fresh, ...]
    flat: Flat | None
    finish: Callable[[dict[int, NDArray], Sequence[Any]], Any] | None

    def holds(self, options: Options) -> bool:
        """Whether settings and captured values are those it was made for."""
        captures = self.found.translated.captures
        return options is self.options and (
            not captures or all(capture.holds() for capture in captures)
        )

    def run(self, args: Sequence[Any]) -> tuple[bool, Any]:
        """Whether it ran (it does not where arrays overlap), and what it returns."""
        given = args
        if self.flat is not None:
            args = self.flat(args)
        if not self.results and self.finish is None:
            done = self.bound.run(args)
            self.found.calls += done
            return done, None
        fresh = {
            number: np.empty(shape(args) if callable(shape) else shape, dtype)
            for number, dtype, shape in self.results
        }
        if not self.bound.run([*args, *fresh.values()]):
            return False, None
        self.found.calls += 1
        return True, None if self.finish is None else self.finish(fresh, given)


def key_of(args: Sequence[Any], options: Options, chains: Chains = NO_CHAINS) -> Any:
    """What a quick call is found by; None for arguments that take the long way.

    Settings count by identity: `Quick` keeps its own, so that no others can have that number.
    """
    key: list[Any] = [id(options)]
    for value in args:
        kind = type(value)
        if kind is np.ndarray:
            key.append((value.dtype, value.shape, value.strides, value.flags.writeable))
        elif kind in _NUMBERS:
            key.append(kind)
        else:
            part = key_part(value, chains)
            if part is None:
                return None
            key.append(part)
    return tuple(key)


def learn(
    found: Specialised,
    compiled: LoopExecutable,
    names: Sequence[str],
    arguments: Mapping[str, Any],
    options: Options,
    finish: Callable[[dict[int, NDArray], Sequence[Any]], Any] | None,
) -> Quick | None:
    """Remember a call that has just been made; None where such calls take the long way."""
    translated = found.translated
    taken = _taken(found, names, arguments)
    if taken is None:
        return None
    places, flat = taken
    paths = dict(zip(translated.kernel.given, translated.paths, strict=True))
    fresh = [number for number, path in paths.items() if path is None]
    results = _fresh(found, fresh, places, arguments)
    if results is None:
        return None

    def word_of(word: Word) -> Given | int | None:
        if word.what == "pointer":
            path: Path | None = paths[word.number]
            if path is None:
                return Given(len(places) + fresh.index(word.number))
        else:
            source = translated.kernel.arguments[word.number]
            path = reach_of(source, translated, paths)
            if source.what != "scalar":
                assert path is not None
                array = reach(path, arguments, {})
                sizes = array.shape if source.what == "extent" else array.strides
                return int(sizes[source.dim])
        return Given(places[path]) if path in places else None

    arrays = {
        number: reach(path, arguments, {}) for number, path in paths.items() if path is not None
    }
    bound = compiled.bind(arrays, word_of)
    return None if bound is None else Quick(found, options, bound, results, flat, finish)


def _taken(
    found: Specialised, names: Sequence[str], arguments: Mapping[str, Any]
) -> tuple[dict[Path, int], Flat | None] | None:
    """Where the code finds its values, in the arguments or in what the function makes of them; None
    where some are neither.
    """
    translated = found.translated
    if not found.attributes and is_plain(arguments.values()):
        return {(name,): number for number, name in enumerate(names)}, None
    known = [path for path in (*translated.paths, *translated.scalars) if path is not None]
    if any(path[0] not in names for path in (*known, *found.attributes)):
        return None
    places = {path: number for number, path in enumerate(dict.fromkeys(known))}
    kinds = {
        translated.scalars[source.slot]: dtype
        for source, dtype in zip(found.kernel.arguments, found.kernel.dtypes, strict=True)
        if source.what == "scalar"
    }
    values = [reach(path, arguments, {}) for path in places]
    return places, flat_of(names, list(places), values, kinds)


def _fresh(
    found: Specialised,
    numbers: Sequence[int],
    places: Mapping[Path, int],
    arguments: Mapping[str, Any],
) -> tuple[Fresh, ...] | None:
    """The arrays that calls like this one allocate; None where one cannot tell their sizes."""
    translated, kernel = found.translated, found.kernel
    if not translated.makes:
        return tuple(Fresh(n, kernel.buffers[n].dtype.numpy, ()) for n in numbers)
    paths = dict(zip(kernel.given, translated.paths, strict=True))
    constants, where = {}, {}
    extents = (extent for number in numbers for extent in kernel.buffers[number].extents)
    for number in {node.attr for node in postorder(extents) if node.name == "param"}:
        source = kernel.arguments[number]
        path = reach_of(source, translated, paths)
        if path is None or path not in places:
            return None
        if source.what == "scalar":
            if kernel.dtypes[number] not in (INT64, FLOAT64):
                return None  # its value has become a word
            where[number] = places[path]
        else:
            array = reach(path, arguments, {})
            sizes = array.shape if source.what == "extent" else array.strides
            constants[number] = int(sizes[source.dim])
    return tuple(
        Fresh(
            number,
            kernel.buffers[number].dtype.numpy,
            shape_of(kernel.buffers[number].extents, constants, where),
        )
        for number in numbers
    )
