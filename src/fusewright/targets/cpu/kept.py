"""Machine code that front ends of their own ask for: found in memory or on the disk, or made now.

(Code of recorded arrays and of kernels of loops comes from the driver, with tiers.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from fusewright.base.options import Options
from fusewright.ir import store
from fusewright.runtime import cache as disk
from fusewright.runtime.image import Image, LoadedImage, load
from fusewright.targets.cpu import compiler
from fusewright.targets.cpu.disk_keys import disk_key
from fusewright.targets.cpu.features import FeatureSet, select

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
        name = disk_key((key, features))
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
    return disk.is_there(disk_key((key, features)))


def _stored(name: str) -> Any:
    data = disk.get(name)
    if data is None:
        return None
    try:
        return store.loads(data)
    except Exception:  # noqa: BLE001 - whatever a damaged file raises when read
        return None


def compiled(text: str, features: FeatureSet, scalars: bool = False) -> Image:
    """A module's machine code; `scalars` as in `compiler.compile_ir`."""
    return compiler.compile_ir(text, features, LEVEL, scalars)


def loaded(image: Image) -> LoadedImage:
    """Code in memory, once for each image."""
    found = _images.get(image)
    if found is None:
        found = _images[image] = load(image)
    return found
