"""Runs loop trees as C (`c_printer.py`), with the system's compiler."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tests.c_printer import CPrinter

from fusewright.ir.dtypes import DType
from fusewright.ir.loops.interpret import shown
from fusewright.ir.loops.statements import Shown
from fusewright.ir.tree.nodes import Tree

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
    assert COMPILER is not None
    printer = CPrinter(tree)
    source, library = folder / "kernel.c", folder / "kernel.so"
    source.write_text(printer.text())
    subprocess.run([COMPILER, *FLAGS, "-o", str(library), str(source), "-lm"], check=True)
    function = ctypes.CDLL(str(library)).kernel
    function.restype = ctypes.c_int64
    kernel = tree.declared

    def line(site: int, cells: int) -> None:
        words = _words(cells)
        show("".join(
            shown(piece, [_number(next(words), v.dtype) for v in piece.values])
            if isinstance(piece, Shown) else piece
            for piece in printer.prints[site].pieces
        ))  # fmt: skip

    call = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(line)
    pointers = (ctypes.c_void_p * (len(arrays) + 1))(
        *(array.__array_interface__["data"][0] for array in arrays)
    )
    given = [np.asarray(d.numpy.type(v)) for d, v in zip(kernel.dtypes, params, strict=True)]
    words = b"".join(value.tobytes().ljust(16, b"\0") for value in given)
    report = (ctypes.c_int64 * 64)()
    if function(pointers, words, report, call):
        check = printer.checks[report[0] - 1]
        told = [_number(ctypes.string_at(ctypes.addressof(report) + 8 * (1 + n), 8), e.dtype)
                for n, e in enumerate(check.values)]  # fmt: skip
        first = 1 + len(told)
        raise failed(check, tuple(told), tuple(report[first : first + len(check.loops)]))


def _words(address: int) -> Iterator[bytes]:
    while True:
        yield ctypes.string_at(address, 8)
        address += 8


def _number(word: bytes, dtype: DType) -> Any:
    return np.frombuffer(word[: dtype.itemsize], dtype.numpy)[0]
