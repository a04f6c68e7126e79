"""Calls of kernels with lists: run again, with more room, where there was too little.

What a call writes into the caller's arrays is put back first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fusewright.frontends.kernels.inputs import ROOM
from fusewright.kernels.full import Full
from fusewright.kernels.specialise import Specialised, memories


def is_unwritten(found: Specialised) -> bool:
    """Whether a call that ends for want of room has changed nothing that is the caller's."""
    given, written = found.kernel.given, found.kernel.written
    paths = zip(given, found.translated.paths, strict=True)
    return not any(path is not None and number in written for number, path in paths)


def run(
    found: Specialised, arguments: Mapping[str, Any], once: Callable[[Mapping[str, Any]], Any]
) -> Any:
    """Call a kernel until its lists have room."""
    given, written = found.kernel.given, found.kernel.written
    places = [
        place
        for place, (number, path) in enumerate(zip(given, found.translated.paths, strict=True))
        if path is not None and number in written
    ]
    arrays = memories(found, arguments) if places else []
    before = [(arrays[place], arrays[place].copy()) for place in places]
    while True:
        try:
            return once({**arguments, ROOM: found.room})
        except Full as full:
            found.room = max(2 * found.room, full.needed)
            for array, content in before:
                np.copyto(array, content)
