"""`fusewright cache`: where compiled code is kept, how much there is, and how to remove it."""

from __future__ import annotations

import argparse

from fusewright.base import options
from fusewright.base.words import count, size
from fusewright.cli.console import progress, say
from fusewright.cli.program import Settings, execute
from fusewright.cli.run import Request, give_hints
from fusewright.runtime import cache


def command(chosen: argparse.Namespace) -> int:
    """Carry out `cache info`, `cache clear` or `cache path`."""
    if chosen.action == "path":
        print(options.cache_folder())
        return 0
    if chosen.action == "clear":
        print(f"removed {count(cache.clear(), 'file')} from {options.cache_folder()}")
        return 0
    info = cache.info()
    print(f"folder  {info.folder}")
    print(f"files   {info.entries:,}")
    print(f"size    {size(info.nbytes)} of at most {size(info.limit)}")
    if info.unusable:
        print(f"not used: {info.unusable}")
        return 1
    return 0


def _is_unusable(info: cache.Info) -> bool:
    """Whether nothing can be kept there, which is said."""
    if info.unusable:
        say(f"compiled code cannot be kept in {info.folder}: {info.unusable}")
    return bool(info.unusable)


def warm_pyscf(chosen: argparse.Namespace) -> int:
    """Compile the integrals of basis sets, so that PySCF programs find them on disk."""
    # Imported here: it loads PySCF.
    from fusewright.bridges.pyscf.warm import warm_basis

    before = cache.info()
    if _is_unusable(before):
        return 1
    elements = [each for given in chosen.elements for each in given]
    ranges = chosen.range_separated == "both" or chosen.range_separated
    for name in chosen.basis:
        with progress(f"compiling the integrals of {name}"):
            many = warm_basis(name, elements, chosen.cartesian, ranges)
        say(f"{name}: {count(many, 'kind')} of integrals")
    after = cache.info()
    if _is_unusable(after):
        return 1
    say(f"{count(after.entries - before.entries, 'new file')} in {after.folder}")
    return 0


def warm(request: Request) -> int:
    """Run a program once, everything compiled at once and for good, so that what it needs is on
    disk: the next process compiles nothing.
    """
    before = cache.info()
    if _is_unusable(before):
        return 1
    options.set_defaults(interpret=False, background=False, **request.changes())
    with progress(f"compiling what {request.program.name} needs"):
        outcome = execute(request.program, Settings(library=request.library))
    give_hints(request)
    after = cache.info()
    if _is_unusable(after):
        return outcome.code or 1
    new = count(after.entries - before.entries, "new file")
    say(f"{new} in {after.folder}, {size(after.nbytes)} in all")
    return outcome.code
