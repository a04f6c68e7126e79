"""LLVM text to machine code, in a process beside this one (decision 0032).

The text comes with explicit vectors, so the IR passes would gain nothing and cost half the time.
Code generation knows three levels: 0 at once, 2 or 3 in the background; the bits computed are the
same.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from fusewright.base.later import later
from fusewright.base.options import current
from fusewright.runtime.image import Image
from fusewright.targets.cpu.features import FeatureSet

if TYPE_CHECKING:
    import llvmlite

    from fusewright.targets.cpu import workers
else:
    # A process that finds its code on disk only asks for the version.
    llvmlite, workers = later("llvmlite"), later("fusewright.targets.cpu.workers")

Submit = Callable[[str, int], Callable[[], Image]]
"""Text and level to a promise of machine code."""
MOST_IDLE = 2
"""Workers kept for the next job; each ends by itself when none comes."""
MOST_IMAGES = 256

_Key = tuple[str, FeatureSet, int, bool]
_images: dict[_Key, Image] = {}
"""Kernels of one text (the steps of a loop) are compiled once; all are forgotten when there are
more than so many.
"""
idle_workers: list[workers.Worker] = []


def compile_ir(text: str, features: FeatureSet, level: int, scalars: bool = False) -> Image:
    """Machine code for a module; any thread may call it, and others run meanwhile.

    `scalars` first moves variables from the stack into registers (the one pass that kernels of
    loops need).
    """
    with batch(features, scalars) as submit:
        return submit(text, level)()


@contextmanager
def batch(features: FeatureSet, scalars: bool = False) -> Iterator[Submit]:
    """For several modules: LLVM works on one while the next is being written.  What is promised is
    to be asked for when all are submitted, and within the block.
    """
    promised: dict[_Key, Callable[[], bytes]] = {}
    with _worker() as worker:

        def submit(text: str, level: int) -> Callable[[], Image]:
            key = (text, features, level, scalars)
            image = _images.get(key)
            if image is not None:
                return lambda: image
            if key not in promised:
                promised[key] = worker.promise(job(text, features, level, scalars=scalars))
            return partial(_linked, key, promised[key])

        yield submit


def assembly(text: str, features: FeatureSet, level: int, scalars: bool = False) -> str:
    """The same code as a listing."""
    with _worker() as worker:
        return worker.promise(job(text, features, level, False, scalars))().decode()


def version() -> str:
    """The compiler's version, for the keys of caches; this does not start LLVM."""
    return f"llvmlite {llvmlite.__version__}"


def start() -> None:
    """Have LLVM started meanwhile, by who will soon need it."""
    if not idle_workers:
        idle_workers.append(workers.worker())


def forget() -> None:
    """Compile anew what this process has compiled."""
    _images.clear()


def job(
    text: str, features: FeatureSet, level: int, as_object: bool = True, scalars: bool = False
) -> workers.Job:
    """What a worker is asked for."""
    named = features.llvm_features.encode()
    return workers.Job(text.encode(), named, level, as_object, scalars, current().debug)


def _linked(key: _Key, promise: Callable[[], bytes]) -> Image:
    image = _images.get(key)
    if image is None:
        # Imported here: a process that finds its code on disk links nothing.
        from fusewright.runtime.elf import link

        image = link(promise())
        if len(_images) >= MOST_IMAGES:
            _images.clear()
        _images[key] = image
    return image


@contextmanager
def _worker() -> Iterator[workers.Worker]:
    """One for this thread alone; whoever is interrupted leaves none behind."""
    try:
        worker = idle_workers.pop()
    except IndexError:
        worker = workers.worker()
    try:
        yield worker
    except BaseException:
        worker.close()
        raise
    if len(idle_workers) < MOST_IDLE:
        idle_workers.append(worker)
    else:
        worker.close()


def close_workers() -> None:
    """End the processes that compile and are idle."""
    while idle_workers:
        idle_workers.pop().close()


atexit.register(close_workers)
os.register_at_fork(after_in_child=close_workers)
