"""What users may have looked at or checked: which loops were fused, that fused and unfused code
compute the same bits, that tables hold no value twice.
"""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base.errors import InternalError, ValueRangeError
from fusewright.base.options import Options
from fusewright.ir.loops.interpret import Failed
from fusewright.ir.loops.statements import Unique, walk
from fusewright.kernels.specialise import Specialised
from fusewright.targets.target import target

if TYPE_CHECKING:
    from fusewright.kernels.kernel_data import KernelData
    from fusewright.targets.executable import LoopExecutable

NDArray = np.ndarray[Any, Any]


def report(kernel: KernelData, found: Specialised, code: LoopExecutable, form: str) -> None:
    """Log what became of each pair of loops."""
    # Imported here: few programs ask.
    from fusewright.kernels.explain import reasoned
    from fusewright.kernels.records import decisions

    plan = reasoned(found, code)
    name = kernel.function.__name__
    if form == "json":
        pairs = [asdict(pair) for pair in plan.pairs]
        text = json.dumps({"kernel": name, "pairs": pairs})
    else:
        lines = [f"  {line}" for pair in decisions(plan.pairs) for line in pair.lines()]
        text = "\n".join([f"kernel {name}", *lines])
    _log(text)


def _log(text: str) -> None:
    """As a record of level INFO; on standard error where the program has set up no logging."""
    # Imported here: few programs ask.
    import logging

    ours = logging.getLogger("fusewright")
    if ours.level == logging.NOTSET:
        ours.setLevel(logging.INFO)
    logger = ours.getChild("fusion")
    if logger.hasHandlers():
        logger.info("%s", text)
    elif logger.isEnabledFor(logging.INFO):
        print(text, file=sys.stderr)


def check_tables(found: Specialised, arrays: list[NDArray]) -> None:
    """An error where a table that is said to hold no value twice does, or a negative one."""
    numbers = dict(zip(found.kernel.given, arrays, strict=True))
    for statement in walk(found.kernel.body):
        if isinstance(statement, Unique):
            table = numbers[statement.buffer]
            values, counts = np.unique(table, return_counts=True)
            if values.size and (counts.max() > 1 or values[0] < 0):
                wrong = values[0] if values[0] < 0 else values[counts.argmax()]
                raise ValueRangeError(
                    f"fw.assume_unique: the table holds {wrong} "
                    + ("which is negative" if wrong < 0 else f"{counts.max()} times"),
                    statement.span,
                )


def verified(
    code: LoopExecutable,
    arrays: list[NDArray],
    params: list[Any],
    options: Options,
    failed: Failed,
) -> None:
    """Run, and run the loops one by one on copies; the same bits, or an `InternalError`.

    Arrays that share memory are not compared: their copies would not share it.
    """
    kernel = code.kernel
    copies = [array.copy() for array in arrays]
    code.run(arrays, params, failed)
    written = kernel.written
    if not all(kernel.apart(a, b) for a in written for b in kernel.given if a != b):
        return
    alone = target(options.target).compile(kernel, options._replace(fuse=False))
    with redirect_stdout(io.StringIO()):
        alone.run(_laid_out(copies, arrays), params, failed)
    for number, array, copy in zip(kernel.given, arrays, copies, strict=True):
        if number in written and array.tobytes() != copy.tobytes():
            name = f"b{number} of kernel {kernel.name}"
            raise InternalError(f"fused and unfused loops differ in {name}\n{code.signature.text}")


def _laid_out(copies: list[NDArray], arrays: list[NDArray]) -> list[NDArray]:
    """The copies with the strides of the originals."""
    for place, (copy, array) in enumerate(zip(copies, arrays, strict=True)):
        if copy.strides != array.strides and array.size:
            low, high = np.lib.array_utils.byte_bounds(array)
            start = array.__array_interface__["data"][0] - low
            room = np.zeros(high - low, np.uint8)
            fresh: NDArray = np.ndarray(array.shape, array.dtype, room, start, array.strides)
            fresh[...] = copy
            copies[place] = fresh
    return copies
