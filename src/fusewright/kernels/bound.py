"""Calls like an earlier one, in less than a microsecond: the native core's form of a call at once.

The core finds a call by the types of its arguments and, of arrays, the layout; sizes are read when
it is made.  Here is what it needs for that: which words the code takes, and where each comes from.
Without the core every call takes the long way.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from inspect import Parameter
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright._core import native
from fusewright.base.options import Options
from fusewright.base.values import dataclass
from fusewright.frontends.kernels.inputs import ROOM
from fusewright.frontends.kernels.returned import Returned
from fusewright.frontends.kernels.values import Kind, NumberKind, Path
from fusewright.ir.dtypes import DType, component
from fusewright.ir.expr import Expr, postorder
from fusewright.kernels import results
from fusewright.kernels.arguments import kind_of
from fusewright.kernels.guards import Unfit, guards_of, lookup_of
from fusewright.kernels.requirements import is_of_shapes, meet_fit
from fusewright.kernels.sizes import shape_of
from fusewright.kernels.specialise import Specialised, reach
from fusewright.runtime.arguments import (
    ARRAY,
    CONSTANT,
    EXTENT,
    NUMBER,
    STRIDE,
    VALUE,
    WordSource,
    table,
    word_table,
)
from fusewright.runtime.limits import thread_count

if TYPE_CHECKING:
    from fusewright.codegen.module import Word
    from fusewright.kernels.kernel_data import KernelData
    from fusewright.targets.executable import LoopExecutable

NDArray = np.ndarray[Any, Any]
REPORT, FIRST_RESULT = 0, 1
"""The values of a call, as in `_core/bound.h`."""
MOST_SLOTS = 32
"""Numbers that a call returns, at most."""
MOST_LEAVES, MOST_WORDS = 64, 256
"""Arrays and numbers of a call, its new arrays among them, and its words, as in `_core/bound.h`."""
_MISSING = object()
_PARTS = ("real", "imag")


@dataclass(slots=True)
class Calls:
    """The calls of one kernel that the core knows: its cache, the attributes and the names from
    outside that this looks at, and what has been added, to count it.
    """

    cache: Any
    attributes: dict[type, tuple[str, ...]] = field(default_factory=dict)
    outer: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    added: list[tuple[Specialised, Any]] = field(default_factory=list)

    def settle(self) -> None:
        """Count calls where they belong."""
        for found, call in self.added:
            found.calls += call.calls
        self.added.clear()

    @property
    def counted(self) -> int:
        """Calls that the core has run and nobody has counted yet."""
        return sum(call.calls for _, call in self.added)

    def counted_of(self, found: Specialised) -> int:
        """Those for one set of argument types."""
        return sum(call.calls for each, call in self.added if each is found)


def learn(
    kernel: KernelData,
    found: Specialised,
    compiled: LoopExecutable,
    arguments: Mapping[str, Any],
    options: Options,
    failed: Callable[..., Exception],
) -> None:
    """Have the core run calls like this one, which has just been made; `Unfit` where it cannot."""
    if compiled.signature.prints or len(compiled.signature.words) > MOST_WORDS:
        raise Unfit
    calls = _calls(kernel, found, compiled, arguments)
    args = tuple(arguments.values())
    values = {**arguments, **{root: outside(where) for root, where in calls.outer.items()}}
    paths = [path for root, value in values.items() for path in _leaves(kernel, calls, root, value)]
    leaves = calls.cache.leaves(args)
    if leaves is None or len(leaves) != len(paths):
        raise Unfit
    call = _Call(found, compiled, arguments, {path: n for n, path in enumerate(paths)}, leaves)
    guards, cells = guards_of(found.translated.captures)
    words = word_table(map(call.word, compiled.signature.words))
    bound = native.BoundCall(
        options, guards, cells, compiled, compiled.address, compiled.team, thread_count(), words,
        call.pairs(), call.result, call.make(), call.finish(), partial(_failure, compiled, failed),
    )  # fmt: skip
    full = calls.cache.used
    calls.cache.add(args, bound)
    if calls.cache.used < full or len(calls.added) > 4 * full + 64:
        calls.settle()
    calls.added.append((found, bound))


def outside(where: tuple[Any, ...]) -> Any:
    """What a name from outside means: of a cell, or in a dict."""
    return where[0].cell_contents if len(where) == 1 else where[0][where[1]]


def _failure(
    compiled: LoopExecutable, failed: Callable[..., Exception], report: bytes
) -> Exception:
    return compiled.failure(memoryview(report).cast("q"), failed)


# -- the cache of a kernel ------------------------------------------------------------------------


def _calls(
    kernel: KernelData,
    found: Specialised,
    compiled: LoopExecutable,
    arguments: Mapping[str, Any],
) -> Calls:
    """The kernel's calls; a new cache where this one has to look at more."""
    calls: Calls = kernel.bound or Calls(None)
    translated = found.translated
    attributes = dict(calls.attributes)
    for path in found.attributes:
        _note(path, arguments, translated.captured_objects, attributes)
    outer = dict(calls.outer)
    for root, (function, name) in translated.captured_objects.items():
        if outer.setdefault(root, where := lookup_of(function, name)) != where:
            raise Unfit
    exact = bool(translated.makes or translated.fits or compiled.plan.is_close)
    exact |= calls.cache is not None and bool(calls.cache.exact)
    known = calls.cache is not None and bool(calls.cache.exact) == exact
    if not known or attributes != calls.attributes or outer != calls.outer:
        calls.settle()
        cache = _cache(kernel, attributes, tuple(outer.values()), exact)
        calls = kernel.bound = Calls(cache, attributes, outer)
        kernel.cache = cache
    return calls


def _note(
    path: Path,
    arguments: Mapping[str, Any],
    outer: Mapping[str, Any],
    attributes: dict[type, tuple[str, ...]],
) -> None:
    """The attributes on the way to a value, by the types of their objects."""
    for length in range(1, len(path)):
        step = path[length]
        if isinstance(step, str):
            kind = type(reach(path[:length], arguments, outer))
            attributes[kind] = tuple(dict.fromkeys((*attributes.get(kind, ()), step)))


def _cache(
    kernel: KernelData,
    attributes: dict[type, tuple[str, ...]],
    outer: tuple[tuple[Any, ...], ...],
    exact: bool,
) -> Any:
    parameters = kernel.signature.parameters.values()
    only = sum(p.kind is Parameter.POSITIONAL_ONLY for p in parameters)
    return native.CallCache(
        tuple(p.name for p in parameters),
        tuple(_MISSING if p.default is p.empty else p.default for p in parameters),
        _MISSING,
        tuple(p.name in kernel.static for p in parameters),
        sum(p.kind is not Parameter.KEYWORD_ONLY for p in parameters),
        only, attributes, outer, exact,
    )  # fmt: skip


def _leaves(kernel: KernelData, calls: Calls, root: str, value: Any) -> Iterator[Path]:
    """The paths of the arrays and numbers in an argument, in the order of the core's walk."""
    if root not in kernel.static:
        yield from _inside(calls, (root,), value)


def _inside(calls: Calls, path: Path, value: Any) -> Iterator[Path]:
    names = calls.attributes.get(type(value))
    if type(value) is tuple:
        for number, item in enumerate(value):
            yield from _inside(calls, (*path, number), item)
    elif isinstance(value, np.ndarray | np.generic | int | float | complex):
        yield path
    elif names is not None:
        for name in names:
            yield from _inside(calls, (*path, name), getattr(value, name))


# -- one kind of call -----------------------------------------------------------------------------


class _Call:
    """Where a call's words and results come from; `places` are the leaves by their paths."""

    def __init__(
        self,
        found: Specialised,
        compiled: LoopExecutable,
        arguments: Mapping[str, Any],
        places: dict[Path, int],
        leaves: Sequence[Any],
    ) -> None:
        self.found, self.compiled, self.arguments = found, compiled, arguments
        self.translated, self.kernel = found.translated, found.kernel
        self.places, self.leaves = places, leaves
        self.paths = dict(zip(self.kernel.given, self.translated.paths, strict=True))
        self.fresh = [number for number, path in self.paths.items() if path is None]
        self.room = found.room
        self.fits = () if is_of_shapes(found) else self.translated.fits
        plain = not self.translated.makes and results.is_of_numbers(self.translated.result)
        self.at_once = plain and not self.fits
        if len(self.fresh) > (MOST_SLOTS if self.at_once else MOST_LEAVES - len(leaves)):
            raise Unfit
        self.result = self._numbers(self.translated.result) if self.at_once else None

    def _numbers(self, shape: Any) -> Any:
        if shape is None:
            return None
        if not isinstance(shape, Returned):
            return tuple(map(self._numbers, shape))
        dtype = self.kernel.buffers[shape.buffer].dtype
        return self.fresh.index(shape.buffer), dtype, shape.origin == "python"

    def word(self, word: Word) -> WordSource:
        """Where it comes from; the threads are filled in where they are taken."""
        if word.what == "counts":
            return WordSource(CONSTANT, ctypes.addressof(self.compiled.counts))
        if word.what == "team":
            return WordSource(CONSTANT, 0)
        if word.what == "report":
            return WordSource(VALUE, REPORT)
        if word.what == "pointer":
            return self._pointer(word.number)
        source = self.kernel.arguments[word.number]
        if source.what != "scalar":
            what = EXTENT if source.what == "extent" else STRIDE
            return WordSource(what, self._leaf(source.slot), part=source.dim)
        return self._number(self.translated.scalars[source.slot], self.kernel.dtypes[word.number])

    def _pointer(self, number: int) -> WordSource:
        if self.paths[number] is not None:
            return WordSource(ARRAY, self._leaf(number))
        place = self.fresh.index(number)
        if self.at_once:
            return WordSource(VALUE, FIRST_RESULT + place)
        return WordSource(ARRAY, len(self.leaves) + place)

    def _leaf(self, buffer: int) -> int:
        """The leaf that a buffer is."""
        path = self.paths[buffer]
        if path is None or type(self.leaves[self.places.get(path, 0)]) is not np.ndarray:
            raise Unfit
        return self._place(path)

    def _place(self, path: Path) -> int:
        if path not in self.places:
            raise Unfit
        return self.places[path]

    def _number(self, path: Path, dtype: DType) -> WordSource:
        if path == (ROOM,):
            return WordSource(CONSTANT, self.room)
        part = -1
        if path not in self.places and path[-1] in _PARTS:
            path, part = path[:-1], _PARTS.index(str(path[-1]))
        place = self._place(path)
        kind: Kind = kind_of(self.leaves[place])
        if not isinstance(kind, NumberKind):
            raise Unfit
        if (component(kind.dtype) if kind.dtype.is_complex else kind.dtype) is not dtype:
            raise Unfit
        return WordSource(NUMBER, place, dtype, part)

    def pairs(self) -> bytes:
        """The arrays that the code takes to be apart."""
        given = {number: path for number, path in self.paths.items() if path is not None}
        return table(
            (self._leaf(a), self._leaf(b))
            for a, b in sorted(self.compiled.kernel.disjoint)
            if a in given and b in given
        )

    def make(self) -> Callable[[tuple[Any, ...]], tuple[NDArray, ...] | None] | None:
        """What allocates the arrays of a call; None where it is not like those any more."""
        if self.at_once:
            return None
        shapes = [
            (self._shape(number), self.kernel.buffers[number].dtype.numpy) for number in self.fresh
        ]

        fits, fit, found, room = self.fits, self._conditions(), self.found, self.room

        def made(leaves: tuple[Any, ...]) -> tuple[NDArray, ...] | None:
            if found.room != room:  # another call has needed more since: this one goes the long way
                return None
            if fit is not None and not all(fit(leaves)):
                for each in fits:
                    meet_fit(each, self._known(leaves))
            return tuple(
                np.empty(shape(leaves) if callable(shape) else shape, dtype)
                for shape, dtype in shapes
            )

        return made

    def _conditions(self) -> Any:
        """What tells of a call whether its sizes fit, where that depends on its numbers."""
        if not self.fits:
            return None
        found = self._of_call([fit.condition for fit in self.fits])
        return found if callable(found) else None

    def _known(self, leaves: Sequence[Any]) -> dict[int, Any]:
        """The parameters that sizes depend on."""
        exprs = [each for fit in self.fits for each in (fit.condition, *fit.values)]
        constants, where = self._sources(exprs)
        return {**constants, **{param: leaves[place] for param, place in where.items()}}

    def _shape(self, number: int) -> Any:
        return self._of_call(self.kernel.buffers[number].extents)

    def _of_call(self, numbers: Sequence[Expr]) -> Any:
        """Numbers, or a function of a call's leaves that gives them."""
        return shape_of(numbers, *self._sources(numbers))

    def _sources(self, numbers: Sequence[Expr]) -> tuple[dict[int, int], dict[int, int]]:
        """The parameters that are known of this kind of call, and the leaves that others are."""
        constants, where = {}, {}
        for param in {node.attr for node in postorder(numbers) if node.name == "param"}:
            source = self.kernel.arguments[param]
            if source.what == "scalar" and self.translated.scalars[source.slot] == (ROOM,):
                constants[param] = self.room
            elif source.what == "scalar":
                if self.kernel.dtypes[param].numpy.kind not in "if":
                    raise Unfit
                where[param] = self._place(self.translated.scalars[source.slot])
            else:
                array = self.leaves[self._leaf(source.slot)]
                sizes = array.shape if source.what == "extent" else array.strides
                constants[param] = int(sizes[source.dim])
        return constants, where

    def finish(self) -> Callable[[tuple[Any, ...]], Any] | None:
        """What makes the result of a call that allocates arrays."""
        if self.at_once:
            return None
        shape, fresh, places, first = (
            self.translated.result, self.fresh, self.places, len(self.leaves)
        )  # fmt: skip

        if not set(results.paths_of(shape)) <= places.keys():
            raise Unfit

        def finished(leaves: tuple[Any, ...]) -> Any:
            made = dict(zip(fresh, leaves[first:], strict=True))
            return results.returned(shape, made, lambda path: leaves[places[path]])

        return finished
