"""LLVM text to machine code: parse, emit an object, link.  No passes over the IR, no run-time
linker of LLVM's.

The text comes with explicit vectors, so the IR passes would gain nothing and cost half the time.
Code generation knows three levels: 0 at once, 2 or 3 in the background; the bits computed are the
same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fusewright.base.later import later
from fusewright.base.options import current
from fusewright.runtime.image import Image
from fusewright.targets.cpu.features import FeatureSet

if TYPE_CHECKING:
    import llvmlite

    from fusewright.targets.cpu import llvm
else:
    # A process that finds its code on disk only asks for the version.
    llvmlite, llvm = later("llvmlite"), later("fusewright.targets.cpu.llvm")

TRIPLE = "x86_64-unknown-linux-gnu"
CPU = "x86-64"
"""The architecture's baseline: what a kernel may use is named feature by feature."""


_idle: dict[tuple[str, int], list[llvm.Machine]] = {}
"""Code generators that nobody uses now, by features and level."""


def compile_ir(text: str, features: FeatureSet, level: int, scalars: bool = False) -> Image:
    """Machine code for a module; any thread may call it, and others run meanwhile.

    `scalars` first moves variables from the stack into registers (the one pass that kernels of
    loops need).
    """
    # Imported here: a process that finds its code on disk links nothing.
    from fusewright.runtime.elf import link

    return link(_emit(text, features, level, True, scalars))


def assembly(text: str, features: FeatureSet, level: int, scalars: bool = False) -> str:
    """The same code as a listing."""
    return _emit(text, features, level, False, scalars).decode()


def version() -> str:
    """The compiler's version, for the keys of caches; this does not start LLVM."""
    return f"llvmlite {llvmlite.__version__}"


def start() -> None:
    """Make LLVM ready: for a thread that has nothing better to do."""
    llvm.started()


def _emit(text: str, features: FeatureSet, level: int, as_object: bool, scalars: bool) -> bytes:
    with llvm.parsed(text, verify=current().debug) as module:
        key = (features.llvm_features, level)
        idle = _idle.setdefault(key, [])
        try:
            machine = idle.pop()
        except IndexError:
            machine = llvm.Machine(TRIPLE, CPU, *key)
        if scalars:
            llvm.to_registers(machine, module)
        code = machine.emit(module, as_object)
        idle.append(machine)
        return code
