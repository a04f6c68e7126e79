"""Recordings of the common kind as the native core replays them: arrays and floats in, new arrays
out, and a call runs no Python at all.
"""

from __future__ import annotations

from typing import Any

from fusewright import driver
from fusewright._core import native
from fusewright.frontends.arrays import core
from fusewright.replay.recording import Recording

MOST = 32
"""Arguments, and results, that the core takes."""
MOST_NODES = 256


def quick(recording: Recording, key: Any) -> Any:
    """A native replay of a recording made for arguments of this structure; None where it is not of
    the common kind.
    """
    arguments = None if native is None else _arguments(recording, key)
    if arguments is None or not _is_common(recording):
        return None
    program = driver.in_core(recording.runner)
    if program is None:
        return None
    captured = recording.captured
    slots = {id(node): slot for slot, node in enumerate(recording.order)}
    return native.Replay(
        recording.options,
        tuple(captured.guards),
        tuple(captured.cells),
        tuple(captured.nodes),
        arguments,
        tuple(recording.scalars),
        tuple(recording.order),
        tuple(slots[id(recording.outputs[place])] for place in recording.places),
        program,
        recording.form == "tuple",
    )


def _is_common(recording: Recording) -> bool:
    """Nothing but new arrays comes out, each computed by this very call."""
    places = recording.places
    fresh = all(place >= 0 for place in places) and len(set(places)) == len(places)
    plain = all(
        flags == 0 and kind is (core.array_class if node.shape else core.scalar_class)
        for (kind, flags), node in zip(recording.kinds, recording.outputs, strict=False)
    )
    alone = not (recording.changed or recording.lent or recording.used)
    known = len(places) == len(recording.outputs) == len(recording.kinds)
    small = len(places) <= MOST and len(recording.order) <= MOST_NODES
    return bool(recording.form and fresh and plain and alone and known and small)


def _arguments(recording: Recording, key: Any) -> tuple[Any, ...] | None:
    """(dtype, flags, shape, strides, slot) of each array, None for a float."""
    forms, *rest = key
    arrays = sum(form == "array" for form in forms)
    if len(forms) > MOST or not all(form in ("array", "float") for form in forms):
        return None
    if rest[:arrays] != list(range(arrays)) or len(rest) != 6 * arrays:
        return None
    slots = {id(node): slot for slot, node in enumerate(recording.order)}
    bound = {number: slots[id(node)] for number, node in recording.inputs}
    found: list[Any] = []
    number = 0
    for form in forms:
        if form == "float":
            found.append(None)
            continue
        dtype, shape, strides, flags, kind = rest[arrays + 5 * number : arrays + 5 * number + 5]
        if kind is not core.array_class:
            return None
        found.append((dtype, flags, shape, strides, bound.get(number, -1)))
        number += 1
    return tuple(found)
