"""A kernel for one set of argument types: found again by its key, translated where it is new."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from fusewright.base.errors import KernelCallError
from fusewright.base.options import Options
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.frontends.kernels.context import Settings
from fusewright.frontends.kernels.inputs import Inputs, outside
from fusewright.frontends.kernels.source import Source
from fusewright.frontends.kernels.translate import Translated, translate
from fusewright.frontends.kernels.values import ArrayKind, Kind, NumberKind, Path, StructKind
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.loops.statements import Check, Kernel, Print, expressions, walk
from fusewright.ir.loops.verify import check_kernel
from fusewright.ir.nest import Source as Origin
from fusewright.kernels.arguments import kind_of, memory_of
from fusewright.kernels.python_functions import REFUSALS, function_of, text_of
from fusewright.kernels.results import is_of_numbers
from fusewright.kernels.steering import steering
from fusewright.machine import record as machine
from fusewright.runtime.arguments import span_of
from fusewright.targets import executable

NDArray = np.ndarray[Any, Any]
Arguments = Mapping[str, Any]


@dataclass(slots=True)
class Specialised:
    """A translated kernel, with what must still hold for it to be the right one.

    `attributes` are the attributes of objects it uses and their kinds; `compiled` its code by
    which buffers share no memory, target and features; `recipes` what calls record, by the shapes
    of their arrays and the numbers that steer loops; `trials` what is known of the times of fused
    and unfused code, by the fused code's address and the size of the arrays; `room` is that of its
    lists, in items.
    """

    translated: Translated
    attributes: dict[Path, Kind]
    compiled: dict[Any, Any] = field(default_factory=dict)
    calls: int = 0
    raised: int = 0
    deferred: int = 0
    recipes: dict[Any, Any] = field(default_factory=dict)
    trials: dict[Any, Any] = field(default_factory=dict)
    _steering: frozenset[int] | None = None
    _at_once: bool | None = None
    _size: int = 0
    room: int = 1024

    @property
    def size(self) -> int:
        """Operations in its text."""
        if not self._size:
            statements = list(walk(self.kernel.body))
            nodes = sum(1 for s in statements for _ in postorder(expressions(s)))
            self._size = len(statements) + nodes
        return self._size

    @property
    def kernel(self) -> Kernel:
        return self.translated.kernel

    @property
    def steering(self) -> frozenset[int]:
        """The parameters that bounds and indices depend on."""
        if self._steering is None:
            self._steering = steering(self.kernel)
        return self._steering

    @property
    def acts_at_once(self) -> bool:
        """Whether it prints, or may end in an error: a call is complete when it returns."""
        if self._at_once is None:
            self._at_once = any(isinstance(s, Print | Check) for s in walk(self.kernel.body))
        return self._at_once

    @property
    def gives_numbers(self) -> bool:
        """Whether it makes no arrays, and returns none, and draws no random numbers."""
        if self.translated.draws:
            return False
        return not self.translated.makes and is_of_numbers(self.translated.result)

    def holds(self, arguments: Arguments) -> bool:
        """Whether what was captured, and the attributes' types, are as they were."""
        if not all(capture.holds() for capture in self.translated.captures):
            return False
        for path, kind in self.attributes.items():
            found = reach(path, arguments, self.translated.captured_objects)
            if kind_of(found, str(path[-1])) != kind:
                return False
        return True


def reach(path: Path, arguments: Arguments, outer: Mapping[str, tuple[FunctionType, str]]) -> Any:
    """The object at a path."""
    root, *steps = path
    first = str(root)
    found = outside(*outer[first]) if first in outer else arguments[first]
    for step in steps:
        found = found[step] if isinstance(step, int) else getattr(found, step)
    return found


def specialise(
    function: FunctionType,
    source: Source,
    kinds: Mapping[str, Kind],
    arguments: Arguments,
    settings: Settings,
    options: Options,
) -> Specialised:
    """Translate a kernel for these arguments."""
    attributes: dict[Path, Kind] = {}
    found: list[Inputs] = []

    def attribute(path: Path, span: Span) -> Kind:
        try:
            value = reach(path, arguments, found[-1].captured_objects)
        except AttributeError as error:
            raise KernelCallError(str(error), span) from None
        kind = kind_of(value, ".".join(map(str, path)))
        attributes[path] = kind
        return kind

    def capture_kind(value: Any) -> Kind | None:
        kind = kind_of(value, "a captured object")
        return kind if isinstance(kind, ArrayKind | StructKind | NumberKind) else None

    def make_inputs() -> Inputs:
        attributes.clear()
        found.append(Inputs(dict(kinds), attribute, capture_kind))
        return found[-1]

    translated = translate(function, source, make_inputs, settings)
    for name, (owner, free) in translated.captured_objects.items():
        attributes[(name,)] = kind_of(outside(owner, free), free)
    if options.debug:
        check_kernel(translated.kernel)
    return Specialised(translated, attributes)


def memories(specialised: Specialised, arguments: Arguments) -> list[NDArray]:
    """The arrays a kernel is given, in order; fresh ones for numbers that it gives back, and for
    new arrays, whose sizes `make` computes.
    """
    translated = specialised.translated
    buffers = translated.kernel.buffers
    return [
        np.empty((0,) * len(buffers[number].extents), buffers[number].dtype.numpy)
        if path is None
        else memory_of(reach(path, arguments, translated.captured_objects))
        for number, path in zip(translated.kernel.given, translated.paths, strict=True)
    ]


def make(specialised: Specialised, arrays: list[NDArray], params: Sequence[Any]) -> None:
    """Allocate the new arrays of a call."""
    if specialised.translated.makes:
        known = dict(enumerate(params))
        places = {number: place for place, number in enumerate(specialised.kernel.given)}
        for number in specialised.translated.makes:
            buffer = specialised.kernel.buffers[number]
            shape = [int(computed(extent, known)) for extent in buffer.extents]
            arrays[places[number]] = np.empty(shape, buffer.dtype.numpy)


def computed(expr: Expr, params: Mapping[int, Any]) -> Any:
    """An expression over the parameters of a call."""
    quick = _in_python(expr)
    if quick is not None:
        with suppress(*REFUSALS):
            return quick(params)
    # Imported here: few kernels ask.
    from fusewright.ir.loops.interpret import meaning

    values: dict[Expr, Any] = {}
    for node in postorder([expr]):
        if node.name in ("const", "param"):
            value = node.attr if node.name == "const" else params[node.attr]
            values[node] = node.dtype.numpy.type(value)
        else:
            values[node] = meaning(node, [values[arg] for arg in node.args])
    return values[expr]


@lru_cache(1024)
def _in_python(expr: Expr) -> Callable[[Any], Any] | None:
    text = text_of(expr, "args[{}]".format)
    return None if text is None else function_of(text)


def apart(kernel: Kernel, arrays: list[NDArray]) -> frozenset[tuple[int, int]]:
    """The pairs of given buffers, one of them written, that share no memory."""
    given, written = kernel.given, kernel.written
    bounds = dict(zip(given, map(_bounds, arrays), strict=True))
    return frozenset(
        (a, b)
        for a in given
        for b in given
        if a < b
        and (a in written or b in written)
        and (bounds[a][1] <= bounds[b][0] or bounds[b][1] <= bounds[a][0])
    )


def _bounds(array: NDArray) -> tuple[int, int]:
    """The bytes an array lies in, half open."""
    address: int = array.__array_interface__["data"][0]
    low, high = span_of(array)
    return address + low, address + high


def reach_of(
    source: Origin, translated: Translated, paths: Mapping[int, Path | None]
) -> Path | None:
    """The path of the argument that a parameter comes from."""
    if source.what == "scalar":
        return translated.scalars[source.slot]
    return paths[source.slot]


def large_ones(kernel: Kernel, arrays: list[NDArray]) -> frozenset[int]:
    """The buffers too large for a cache."""
    past = machine.current().past_in_loops
    pairs = zip(kernel.given, arrays, strict=True)
    return frozenset(number for number, array in pairs if array.nbytes >= past)


def code_key(kernel: Kernel, arrays: list[NDArray], options: Options) -> tuple[Any, ...]:
    """What a kernel's compiled code is found by: facts about memory, and settings."""
    memory = (apart(kernel, arrays), large_ones(kernel, arrays))
    return (*memory, options.features, executable.settings_of(options))


def with_facts(
    kernel: Kernel, disjoint: frozenset[tuple[int, int]], large: frozenset[int] = frozenset()
) -> Kernel:
    """The kernel with what is known about the memory of one call."""
    buffers = tuple(replace(b, large=n in large) for n, b in enumerate(kernel.buffers))
    return replace(kernel, disjoint=disjoint, buffers=buffers)
