"""Recurrences on the CPU: lists of statements over columns, compiled, kept on disk, called."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from fusewright.base.errors import ArgumentError, ShapeError
from fusewright.base.options import Options
from fusewright.base.values import dataclass
from fusewright.codegen.recurrences.columns import block_sizes, columns, rows_of
from fusewright.ir.fused import Array
from fusewright.ir.recurrences.phases import Phases
from fusewright.ir.recurrences.text import straight_text
from fusewright.runtime.image import Executable, Image
from fusewright.runtime.kept import Kept
from fusewright.targets.cpu import compiler
from fusewright.targets.cpu.disk_keys import disk_key
from fusewright.targets.cpu.features import FeatureSet, select
from fusewright.targets.cpu.threads import run_units
from fusewright.targets.executable import Written

LEVEL = 1
"""Of code generation: the same code as at level 2, in an eighth less time (measured at (ff|ff))."""
S = TypeVar("S")
_kept: Kept[tuple[Any, Image]] = Kept()
"""A process keeps what it has used."""
_loaded: dict[Image, Executable[Any]] = {}


def obtain(program: Written[S], options: Options, make: bool = True) -> Executable[S] | None:
    """The code of a program as text; without `make` None where it has to be made."""
    features = select(options.features)
    key = (program.key, features)

    def name() -> str:
        return disk_key("recurrences", key)

    def made() -> tuple[S, Image]:
        signature, text = program.write(lanes_of(features))
        return signature, compiler.compile_ir(text, features, LEVEL)

    if not make and not _kept.has(key, name):
        return None
    signature, image = _kept.obtain(key, name, made).value
    code = _loaded.get(image)
    if code is None:
        code = _loaded[image] = Executable(signature)
        code.use(image)
    return code


def lanes_of(features: FeatureSet) -> int:
    """Doubles in the widest register of a machine."""
    return features.vector_bytes // 8


@dataclass(frozen=True, slots=True)
class ColumnKernel:
    """The code of a plan; run on rows, it returns the results, one row each."""

    phases: Phases
    code: Executable[None]
    lanes: int

    def run(self, scalars: Mapping[str, Any], leaves: Mapping[str, Any]) -> Array:
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
        run_units(self.code.address, words, units, 64, scratch)

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


def columns_of(phases: Phases, options: Options) -> ColumnKernel:
    """The code of a plan for this machine."""
    parts = (phases.outer, phases.inner)
    key = tuple(straight_text(part) if part is not None else "" for part in parts)
    found = obtain(Written(("columns", key), lambda lanes: (None, columns(phases, lanes))), options)
    assert found is not None, "it is made where it is not kept"
    return ColumnKernel(phases, found, lanes_of(select(options.features)))
