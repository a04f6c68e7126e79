"""A kernel call that is no array statement, as one pending value: it runs when something it writes
is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fusewright.frontends.arrays.core import Handle, record
from fusewright.ir.graph import OPAQUE, PART, InPlace, Node
from fusewright.kernels.binding import Binding, Place
from fusewright.kernels.specialise import Specialised

NDArray = np.ndarray[Any, Any]
Execute = Callable[[Specialised, list[NDArray], list[Any]], None]


@dataclass
class Deferred(InPlace):
    """One call: operands are the arrays', then the lazy numbers'.

    Called with them it gives the arrays it writes, each with its new content, then its results; it
    runs once, whoever asks how often.
    """

    found: Specialised
    places: Mapping[int, Place]
    arrays: int
    written: tuple[int, ...]
    numbers: tuple[tuple[int, Any], ...]
    lazy: tuple[int, ...]
    execute: Execute
    outcome: tuple[NDArray, ...] | None = None

    def __post_init__(self) -> None:
        super().__init__()

    def __call__(self, *operands: NDArray) -> tuple[NDArray, ...]:
        if self.outcome is None:
            self.outcome = self._run(operands)
        return self.outcome

    def _run(self, operands: tuple[NDArray, ...]) -> tuple[NDArray, ...]:
        memories = [
            np.array(operand, order="C")
            if number in self.written and number not in self.spare
            else straight(operand)
            for number, operand in enumerate(operands[: self.arrays])
        ]
        kernel = self.found.kernel
        buffers = {
            number: self.places[number].within(memories[self.places[number].array])
            if number in self.places
            else np.empty((), kernel.buffers[number].dtype.numpy)
            for number in kernel.given
        }
        values = dict(self.numbers)
        for number, operand in zip(self.lazy, operands[self.arrays :], strict=True):
            values[number] = np.asarray(operand).item()
        params = [
            values[number]
            if source.what == "scalar"
            else _of(buffers[source.slot], source.what)[source.dim]
            for number, source in enumerate(kernel.arguments)
        ]
        self.execute(self.found, list(buffers.values()), params)
        results = [buffers[number] for number in kernel.given if number not in self.places]
        return (*(memories[number] for number in self.written), *results)


def straight(array: NDArray) -> NDArray:
    """An array in C order, as the kernel was compiled for."""
    return array if array.flags.c_contiguous else np.ascontiguousarray(array).reshape(array.shape)


def _of(array: NDArray, what: str) -> tuple[int, ...]:
    return array.shape if what == "extent" else array.strides


def defer(
    found: Specialised, bound: Binding, values: Mapping[int, Any], execute: Execute
) -> dict[int, Node]:
    """Record a call: what it writes gets new values; its results by their buffers."""
    kernel = found.kernel
    written = tuple(sorted({bound.places[n].array for n in kernel.written if n in bound.places}))
    lazy = tuple(number for number, value in values.items() if isinstance(value, Handle))
    numbers = tuple((n, value) for n, value in values.items() if n not in lazy)
    call = Deferred(found, bound.places, len(bound.arrays), written, numbers, lazy, execute)
    operands = (*bound.nodes, *(values[number]._node for number in lazy))
    name = f"kernel {kernel.name}"
    whole = record(OPAQUE, operands, bound.arrays[0]._dtype, (), op=name, value=call)
    parts = [bound.arrays[number] for number in written]
    for place, array in enumerate(parts):
        array._write(record(PART, (whole,), array._dtype, array._shape, place, "kernel"))
    results = [number for number in kernel.given if number not in bound.places]
    return {
        number: record(
            PART, (whole,), kernel.buffers[number].dtype, (), len(parts) + place, "kernel"
        )
        for place, number in enumerate(results)
    }


def results_of(nodes: Mapping[int, Node], shape: Any, finish: Callable[[Node, Any], Any]) -> Any:
    """What a call returns: a number for each result, in the tuples it returns them in."""
    if shape is None or isinstance(shape[0], tuple) or shape[0] is None:
        return None if shape is None else tuple(results_of(nodes, s, finish) for s in shape)
    buffer, origin = shape
    return finish(nodes[buffer], origin)
