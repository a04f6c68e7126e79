"""Kernels joined from several calls: made once for each sequence of calls that share buffers in the
same way, in the background where that may take longer than running them one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from fusewright._core import native
from fusewright.base.options import current
from fusewright.base.values import dataclass
from fusewright.ir.loops.join import Joined, Member, join
from fusewright.ir.loops.statements import Kernel
from fusewright.kernels.specialise import Specialised, code_key, with_facts
from fusewright.runtime import background
from fusewright.targets.target import target

NDArray = np.ndarray[Any, Any]
MOST = 1024
"""Sequences remembered; all are forgotten when there are more."""
NO_FACTS: Mapping[tuple[int, int], int] = {}
known_units: dict[Any, Unit] = {}
runs = 0
"""How often a joined kernel ran, but for runs by the native core."""


@dataclass(slots=True)
class Unit:
    """One kernel for several calls; `compiled` is its code by facts about memory, as of a
    `Specialised`.
    """

    joined: Joined
    members: tuple[Specialised, ...]
    compiled: dict[Any, Any] = field(default_factory=dict)
    submitted: set[Any] = field(default_factory=set)

    @property
    def kernel(self) -> Kernel:
        return self.joined.kernel


def joined_runs() -> int:
    """How often a joined kernel ran."""
    return runs if native is None else runs + int(native.joined_runs())


def unit_of(
    calls: Sequence[tuple[Specialised, Mapping[int, int]]],
    buffers: list[NDArray],
    dead: frozenset[int] = frozenset(),
    equal: Mapping[tuple[int, int], int] = NO_FACTS,
) -> Unit | None:
    """The joined kernel; None while its code is being made: the calls run one by one.

    Nobody needs what the `dead` buffers held before or hold then; `equal` extents (buffer, dim)
    have one number.
    """
    global runs
    options = current()
    members_key = tuple((id(found), tuple(own.items())) for found, own in calls)
    key = (members_key, dead, tuple(equal.items()))
    unit = known_units.get(key)
    if unit is None:
        if len(known_units) >= MOST:
            known_units.clear()
        members = [Member(found.kernel, own) for found, own in calls]
        joined = join(members, len(buffers), dead, equal)
        unit = known_units[key] = Unit(joined, tuple(found for found, _ in calls))
    if options.target != "cpu" or not options.background or not options.fuse:
        runs += options.fuse
        return unit if options.fuse else None
    facts = code_key(unit.kernel, buffers, options)
    if facts in unit.compiled:
        runs += 1
        return unit
    if facts not in unit.submitted:
        unit.submitted.add(facts)
        background.submit(lambda: _compile(unit, facts, options))
    return None


def _compile(unit: Unit, facts: Any, options: Any) -> None:
    kernel = with_facts(unit.kernel, *facts[:2])
    unit.compiled[facts] = target(options.target).compile(kernel, options)
