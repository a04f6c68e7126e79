"""Fused or apart, where the prediction is close: both forms run on calls that have to be made
anyway (the bits are the same), the faster one is kept, and the times are remembered on disk.

What is faster depends on where the arrays lie; each class of sizes is measured apart.  Small
arrays are not: there fusing saves launches, and a call is too short to be timed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base.figures import STRIP
from fusewright.base.options import Options
from fusewright.base.values import dataclass
from fusewright.ir.loops.interpret import Failed
from fusewright.kernels.specialise import Specialised
from fusewright.machine import record as machine
from fusewright.runtime import cache as disk
from fusewright.runtime import kept
from fusewright.targets.executable import LoopExecutable
from fusewright.targets.target import target

if TYPE_CHECKING:
    from fusewright.kernels.kernel_data import KernelData

NDArray = np.ndarray[Any, Any]
ROUNDS, CALLS = 2, 8
"""How often each form has its turn, and how many calls in a row that is.  The first of them is not
timed: it finds in each thread's cache what the other form has left there, and what a form has once
settled in them it goes on with (3 calls were too few: 75 us measured of what takes 42).
"""


@dataclass(slots=True)
class Trial:
    """Two forms of a kernel, and what calls with arrays of about `nbytes` took, in seconds."""

    fused: LoopExecutable
    options: Options
    name: str
    nbytes: int
    times: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    least: tuple[float, float] | None = None
    _apart: LoopExecutable | None = None

    @property
    def apart(self) -> LoopExecutable:
        """The form that is not fused, made when it is needed."""
        if self._apart is None:
            apart = self.options._replace(fuse=False)
            self._apart = target(apart.target).compile(self.fused.kernel, apart)
        return self._apart

    @property
    def chosen(self) -> LoopExecutable | None:
        """The faster form; None while that is not known."""
        if self.least is None:
            return None
        return self.fused if self.least[0] <= self.least[1] else self.apart

    def run(
        self, arrays: Sequence[Any], params: Sequence[Any], failed: Failed
    ) -> LoopExecutable | None:
        """Run the form whose turn it is, or the faster one; that one, where it is known."""
        code = self.chosen
        if code is not None:
            code.run(arrays, params, failed)
            return code
        fused, apart = self.times
        done, place = divmod(len(fused) + len(apart), CALLS)
        code, times = (self.apart, apart) if done % 2 else (self.fused, fused)
        begin = perf_counter()
        code.run(arrays, params, failed)
        times.append(perf_counter() - begin if place else inf)
        if len(apart) == ROUNDS * CALLS:
            self.least = (min(fused), min(apart))
            kept.write(self.name, self.least)
        return None


def trial_of(
    kernel: KernelData,
    found: Specialised,
    code: LoopExecutable,
    arrays: Sequence[NDArray],
    options: Options,
) -> Trial | None:
    """What is known, or to be found out, about calls with arrays of this size; None where there is
    nothing to choose.
    """
    total = sum(array.nbytes for array in arrays)
    # What is near each power of two is measured apart, since how far out arrays lie decides: from a
    # share of a cache on, up to where all that is larger lies in memory anyway.
    most = machine.current().past_in_loops
    least = min(_nearest_power(total), most) if total >= STRIP else 0
    asked = options.measure and options.fuse and not options.reassociate and kernel.fuse is None
    if not (asked and least) or code.signature.checks or code.signature.prints:
        return None
    trial: Trial | None = found.trials.get((code.address, least))
    if trial is None:
        name = disk.digest(f"measured {code.name} {least}".encode())
        trial = Trial(code, options, name, least, least=_remembered(name))
        found.trials[code.address, least] = trial
    return trial


def _nearest_power(count: int) -> int:
    """The power of two near a number.

    >>> [_nearest_power(count) for count in (4, 5, 6, 1023)]
    [4, 4, 8, 1024]
    """
    return 1 << (count + count // 2).bit_length() - 1


def _remembered(name: str) -> tuple[float, float] | None:
    """The times on disk."""
    times: tuple[float, float] | None = kept.read(name)
    return times
