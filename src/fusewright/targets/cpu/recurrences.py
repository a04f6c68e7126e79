"""Recurrences on the CPU: lists of statements over columns, compiled, kept on disk, called."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from fusewright.base.errors import ArgumentError, ShapeError
from fusewright.base.options import Options, current
from fusewright.codegen.recurrences.columns import block_sizes, columns, rows_of
from fusewright.ir import store
from fusewright.ir.fused import Array
from fusewright.ir.recurrences.phases import Phases
from fusewright.ir.recurrences.text import straight_text
from fusewright.runtime import cache as disk
from fusewright.runtime.image import Image, LoadedImage, load
from fusewright.runtime.limits import thread_count
from fusewright.targets.cpu import compiler
from fusewright.targets.cpu.disk_keys import disk_key
from fusewright.targets.cpu.features import FeatureSet, select
from fusewright.targets.cpu.threads import launch

LEVEL = 2
T = TypeVar("T")
_known: dict[tuple[Any, FeatureSet], Any] = {}
_images: dict[Image, LoadedImage] = {}
"""A process keeps what it has used."""


def kept(key: Any, make: Callable[[FeatureSet], T], options: Options) -> T:
    """What `make` makes for a machine: from memory, from the disk, or made now.

    `key` has all that it depends on, but for this package's code and the machine.
    """
    features = select(options.features)
    found = _known.get((key, features))
    if found is None:
        name = disk_key(("recurrences", key, features))
        found = _stored(name)
        if found is None:
            found = make(features)
            disk.put(name, store.dumps(found))
        _known[key, features] = found
    made: T = found
    return made


def is_kept(key: Any, options: Options) -> bool:
    """Whether `kept` need not make it."""
    features = select(options.features)
    if (key, features) in _known:
        return True
    return disk.is_there(disk_key(("recurrences", key, features)))


def _stored(name: str) -> Any:
    data = disk.get(name)
    if data is None:
        return None
    try:
        return store.loads(data)
    except Exception:  # noqa: BLE001 - whatever a damaged file raises when read
        return None


def compiled(text: str, features: FeatureSet) -> Image:
    """A module's machine code."""
    return compiler.compile_ir(text, features, LEVEL)


def loaded(image: Image) -> LoadedImage:
    """Code in memory, once for each image."""
    found = _images.get(image)
    if found is None:
        found = _images[image] = load(image)
    return found


def lanes(options: Options) -> int:
    """Doubles in the widest register."""
    return width_of(select(options.features))


def width_of(features: FeatureSet) -> int:
    """Doubles in the widest register of a machine."""
    return features.vector_bytes // 8


@dataclass(frozen=True, slots=True)
class ColumnKernel:
    """The code of a plan; called with rows, it returns the results, one row each."""

    phases: Phases
    image: LoadedImage
    lanes: int

    def __call__(self, scalars: Mapping[str, Any], leaves: Mapping[str, Any]) -> Array:
        """The same bits as `ir.recurrences.phases.run_phases` of the same rows.

        A row is a number or a float64 array (columns,); what a list below a sum reads may also be
        (places, columns).
        """
        each, once = rows_of(self.phases)
        known = {**scalars, **leaves}
        missing = [name for name in (*each, *once) if name not in known]
        if missing:
            raise ArgumentError(f"no row is given for `{missing[0]}`")
        rows = {n: np.asarray(known[n], np.float64) for n in dict.fromkeys((*each, *once))}
        places, shape = self._shape(rows, each, once)
        total = int(np.prod(shape))
        kept = [_row(rows[n], (places, *shape), total) for n in each]
        kept += [_row(rows[n], shape, total) for n in once]
        results = np.empty((len(self.phases.outer.results), total))
        words = [total, places]
        for row in kept:
            words += [row.ctypes.data, row.strides[0] if row.shape[0] > 1 else 0]
        words += [results[place].ctypes.data for place in range(len(results))]
        self._launch(array("q", words), total)
        return results.reshape(len(results), *shape)

    def _launch(self, words: array[int], total: int) -> None:
        units = -(-total // self.lanes)
        scratch = sum(block_sizes(self.phases)) * self.lanes * 8
        address = self.image.address("kernel")
        launch(address, words.buffer_info()[0], units, 64, scratch, thread_count())

    def _shape(
        self, rows: Mapping[str, Array], each: tuple[str, ...], once: tuple[str, ...]
    ) -> tuple[int, tuple[int, ...]]:
        """Places of the axis, and the shape of a row."""
        try:
            shape = np.broadcast_shapes(*(rows[n].shape for n in once))
            if not each:
                return 0, shape
            whole = np.broadcast_shapes((1, *shape), *(rows[n].shape for n in each))
        except ValueError as error:
            raise ShapeError(f"the rows do not fit together: {error}") from None
        return whole[0], whole[1:]


def _row(row: Array, shape: tuple[int, ...], total: int) -> Array:
    """(places, columns), contiguous along columns; one place where all are the same."""
    if row.ndim < len(shape) or row.shape[0] == 1:
        shape = (1, *shape[1:]) if row.ndim == len(shape) else shape
    whole = np.broadcast_to(row, shape)
    return np.ascontiguousarray(whole.reshape(-1, total))


def compile_phases(phases: Phases) -> ColumnKernel:
    """The plan's code for this machine."""
    options = current()
    parts = (phases.outer, phases.inner)
    key = tuple(straight_text(part) if part is not None else "" for part in parts)

    def make(features: FeatureSet) -> Image:
        return compiled(columns(phases, width_of(features)), features)

    image = kept(("columns", key), make, options)
    return ColumnKernel(phases, loaded(image), lanes(options))
