"""`fusewright cache`: where compiled code is kept, how much there is, and how to remove it."""

from __future__ import annotations

import argparse

from fusewright.base.errors import FusewrightError
from fusewright.cli.console import count, size
from fusewright.runtime import cache


class CacheNotCleared(FusewrightError, OSError):
    """The folder of compiled code cannot be emptied."""

    code = "FW115"


def command(chosen: argparse.Namespace) -> int:
    """Carry out `cache info`, `cache clear` or `cache path`."""
    if chosen.action == "path":
        print(cache.folder())
        return 0
    if chosen.action == "clear":
        print(f"removed {count(_clear(), 'file')} from {cache.folder()}")
        return 0
    info = cache.info()
    print(f"folder  {info.folder}")
    print(f"files   {info.entries:,}")
    print(f"size    {size(info.nbytes)} of at most {size(info.limit)}")
    if info.unusable:
        print(f"not used: {info.unusable}")
        return 1
    return 0


def _clear() -> int:
    try:
        return cache.clear()
    except OSError as error:
        raise CacheNotCleared(
            f"cannot empty {cache.folder()}",
            why=error.strerror or str(error),
            help="FUSEWRIGHT_CACHE_DIR names another folder",
        ) from error
