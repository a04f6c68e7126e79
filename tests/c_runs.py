"""Runs loop trees as C (`c_printer.py`), with the system's compiler."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tests.c_arrays import ArrayPrinter
from tests.c_printer import CPrinter

from fusewright.ir.dtypes import DType, component
from fusewright.ir.loops.interpret import shown
from fusewright.ir.loops.statements import Shown
from fusewright.ir.tree.interpret_arrays import UnitCalls
from fusewright.ir.tree.nodes import Tree
from fusewright.runtime.arguments import integer

COMPILER = shutil.which("cc")
FLAGS = ("-O1", "-shared", "-fPIC", "-w", "-std=gnu11", "-ffp-contract=off", "-fwrapv",
         "-fno-strict-aliasing")  # fmt: skip


def run_c(
    tree: Tree,
    folder: Path,
    arrays: Sequence[Any],
    params: Sequence[Any],
    show: Callable[[str], None],
    failed: Callable[..., Exception],
) -> None:
    """Compile and run a tree without a guard; arguments as of `ir.tree.interpret.run_tree`."""
    printer = CPrinter(tree)
    function = _compiled(printer.text(), folder).kernel
    function.restype = ctypes.c_int64

    def line(site: int, cells: int) -> None:
        words = _words(cells)
        show("".join(
            shown(piece, [_number(next(words), v.dtype) for v in piece.values])
            if isinstance(piece, Shown) else piece
            for piece in printer.prints[site].pieces
        ))  # fmt: skip

    call = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(line)
    report = (ctypes.c_int64 * 64)()
    if function(_pointers(arrays), _parameters(tree, params), report, call):
        check = printer.checks[report[0] - 1]
        told = [_number(ctypes.string_at(ctypes.addressof(report) + 8 * (1 + n), 8), e.dtype)
                for n, e in enumerate(check.values)]  # fmt: skip
        first = 1 + len(told)
        raise failed(check, tuple(told), tuple(report[first : first + len(check.loops)]))


def run_c_arrays(
    tree: Tree, folder: Path, arrays: Sequence[Any], params: Sequence[Any], calls: UnitCalls
) -> None:
    """The same for a kernel of arrays; arguments as of `run_array_tree`."""
    assert tree.units is not None
    library = _compiled(ArrayPrinter(tree).text(), folder)
    count = max(-(-max(high for _, high in calls.parts) // calls.block), 1)
    kinds = {buffer.slot: component(buffer.dtype).numpy for buffer in tree.declared.buffers}
    partials = [
        np.full(count * integer(each.size)(params), 77, kinds[each.buffer])
        for each in tree.units.partials
    ]
    shared = _pointers(arrays), _parameters(tree, params), _pointers(partials)
    for part in calls.parts:
        library.kernel(*shared, *map(ctypes.c_int64, (*part, calls.block, calls.stretch)))
    library.finish(*shared, ctypes.c_int64(count))


def _compiled(text: str, folder: Path) -> ctypes.CDLL:
    assert COMPILER is not None
    source, library = folder / "kernel.c", folder / "kernel.so"
    source.write_text(text)
    subprocess.run([COMPILER, *FLAGS, "-o", str(library), str(source), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def _pointers(arrays: Sequence[Any]) -> Any:
    addresses = (array.__array_interface__["data"][0] for array in arrays)
    return (ctypes.c_void_p * (len(arrays) + 1))(*addresses)


def _parameters(tree: Tree, params: Sequence[Any]) -> bytes:
    """16 bytes for each."""
    pairs = zip(tree.declared.dtypes, params, strict=True)
    given = [np.asarray(dtype.numpy.type(value)) for dtype, value in pairs]
    return b"".join(value.tobytes().ljust(16, b"\0") for value in given)


def _words(address: int) -> Iterator[bytes]:
    while True:
        yield ctypes.string_at(address, 8)
        address += 8


def _number(word: bytes, dtype: DType) -> Any:
    return np.frombuffer(word[: dtype.itemsize], dtype.numpy)[0]
