"""LLVM text to machine code: parse, emit an object, link.  No passes over the IR, no run-time
linker of LLVM's.

The text comes with explicit vectors, so the IR passes would gain nothing and cost half the time.
Code generation knows three levels: 0 at once, 2 or 3 in the background; the bits computed are the
same.
"""

from __future__ import annotations

import ctypes
import os
import threading
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite

from fusewright.base.errors import InternalError
from fusewright.base.options import current
from fusewright.runtime.image import Image
from fusewright.targets.cpu.features import FeatureSet

TRIPLE = "x86_64-unknown-linux-gnu"
CPU = "x86-64"
"""The architecture's baseline: what a kernel may use is named feature by feature."""


class _LLVM(NamedTuple):
    binding: Any
    target: Any
    raw: Any


_start = threading.RLock()
_llvm: _LLVM | None = None
_machines = threading.local()


def _llvm_lock() -> Any:
    """What llvmlite holds around its calls into LLVM."""
    return getattr(_llvm.binding.ffi.lib, "_lock", None) if _llvm is not None else None


def _before_fork() -> None:
    """A fork must not fall into a call of another thread: the child would wait for it for ever."""
    _start.acquire()
    lock = _llvm_lock()
    if lock is not None:
        lock.__enter__()


def _after_fork() -> None:
    lock = _llvm_lock()
    if lock is not None:
        lock.__exit__(None, None, None)
    _start.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


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


def _emit(text: str, features: FeatureSet, level: int, as_object: bool, scalars: bool) -> bytes:
    llvm = _started()
    # A context of its own: LLVM's global one must not be used by two threads at once.
    context = llvm.binding.create_context()
    try:
        module = llvm.binding.parse_assembly(text, context)
        if current().debug:
            module.verify()
    except RuntimeError as error:
        raise InternalError(f"LLVM refuses the generated code: {error}\n{text}") from error
    with module:
        machine = _machine(llvm, features, level)
        if scalars:
            _to_registers(llvm, machine, module)
        return _machine_code(llvm, machine, module, as_object)


def _to_registers(llvm: _LLVM, machine: Any, module: Any) -> None:
    """Variables on the stack become registers (LLVM's SROA); no arithmetic is touched."""
    binding = llvm.binding
    builder = binding.create_pass_builder(machine, binding.create_pipeline_tuning_options())
    passes = binding.create_new_function_pass_manager()
    passes.add_sroa_pass()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)


def _started() -> _LLVM:
    global _llvm
    with _start:
        if _llvm is None:
            # Imported here: it takes 40 to 130 ms, and most processes find their code on disk.
            _map_library()
            import llvmlite.binding as binding

            binding.initialize_native_target()
            binding.initialize_native_asmprinter()
            raw = getattr(binding.ffi.lib, "_lib", None)
            _llvm = _LLVM(binding, binding.Target.from_triple(TRIPLE), raw)
        return _llvm


def start() -> None:
    """Make LLVM ready: for a thread that has nothing better to do."""
    _started()


def _map_library() -> None:
    """Map LLVM's library, other threads running meanwhile (importing llvmlite, none does)."""
    folder = Path(llvmlite.__file__).parent / "binding"
    for library in folder.glob("*llvmlite.so"):
        # A foreign call gives up the interpreter's lock; loading through ctypes itself does not.
        dlopen = ctypes.CDLL(None).dlopen
        dlopen.restype = ctypes.c_void_p
        dlopen(os.fsencode(library), os.RTLD_NOW)


def _machine(llvm: _LLVM, features: FeatureSet, level: int) -> Any:
    """The code generator of this thread."""
    known: dict[tuple[str, int], Any] | None = getattr(_machines, "known", None)
    if known is None:
        known = _machines.known = {}
    key = (features.llvm_features, level)
    if key not in known:
        known[key] = llvm.target.create_target_machine(
            cpu=CPU, features=features.llvm_features, opt=level, reloc="pic", codemodel="small"
        )
    return known[key]


def _machine_code(llvm: _LLVM, machine: Any, module: Any, as_object: bool) -> bytes:
    if llvm.raw is None:
        text = machine.emit_object(module) if as_object else machine.emit_assembly(module).encode()
        return bytes(text)
    # llvmlite holds one lock around every call into LLVM, so that a background compilation would
    # stall the program for its whole length.  LLVM itself needs no lock where context and machine
    # belong to one thread, as ours do.
    with llvm.binding.ffi.OutputString() as message:
        buffer = llvm.raw.LLVMPY_TargetMachineEmitToMemory(machine, module, int(as_object), message)
        if not buffer:
            raise InternalError(f"LLVM cannot generate code: {message}")
    try:
        start = llvm.raw.LLVMPY_GetBufferStart(buffer)
        return ctypes.string_at(start, llvm.raw.LLVMPY_GetBufferSize(buffer))
    finally:
        llvm.raw.LLVMPY_DisposeMemoryBuffer(buffer)
