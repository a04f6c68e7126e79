"""LLVM's C functions, as llvmlite's library exports them, called directly: importing
`llvmlite.binding` takes a quarter of a first call.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_void_p
from typing import Any

import llvmlite

from fusewright.base import forks
from fusewright.base.errors import InternalError

CHECKED = ("0.46", "0.47", "0.48", "0.49", "0.50")
"""Versions of llvmlite whose functions are those below; of others, the first use asks llvmlite."""
_TEXT = POINTER(c_char_p)
_FLAG = ctypes.c_bool

FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "InitializeNativeTarget": (c_int, ()),
    "InitializeNativeAsmPrinter": (c_int, ()),
    "GetTargetFromTriple": (c_void_p, (c_char_p, _TEXT)),
    # target; triple, processor, features; level; relocation, code model; print, JIT; ABI
    "CreateTargetMachine": (
        c_void_p,
        (c_void_p, *(c_char_p,) * 3, c_int, c_char_p, c_char_p, c_int, c_int, c_char_p),
    ),
    "DisposeTargetMachine": (None, (c_void_p,)),
    "ContextCreate": (c_void_p, ()),
    "ContextDispose": (None, (c_void_p,)),
    "ParseAssembly": (c_void_p, (c_void_p, c_char_p, _TEXT)),
    "VerifyModule": (_FLAG, (c_void_p, _TEXT)),
    "DisposeModule": (None, (c_void_p,)),
    "TargetMachineEmitToMemory": (c_void_p, (c_void_p, c_void_p, c_int, _TEXT)),
    "GetBufferStart": (c_void_p, (c_void_p,)),
    "GetBufferSize": (c_size_t, (c_void_p,)),
    "DisposeMemoryBuffer": (None, (c_void_p,)),
    "DisposeString": (None, (c_char_p,)),
    "CreatePipelineTuningOptions": (c_void_p, ()),
    "DisposePipelineTuningOptions": (None, (c_void_p,)),
    "CreatePassBuilder": (c_void_p, (c_void_p, c_void_p)),
    "DisposePassBuilder": (None, (c_void_p,)),
    "CreateNewModulePassManager": (c_void_p, ()),
    "DisposeNewModulePassManger": (None, (c_void_p,)),
    "module_AddSROAPass": (None, (c_void_p,)),
    "RunNewModulePassManager": (None, (c_void_p, c_void_p, c_void_p)),
}
"""Result and arguments by name, without llvmlite's prefix."""

_lock = threading.RLock()
"""Held while LLVM starts, and around what is too short to be worth another thread's while."""
_library: Any = None
forks.wait_for(forks.COMPILER, lambda: _lock if _lock.acquire(blocking=False) else None)


def started() -> Any:
    """The library, its functions declared, the processor's code generator ready."""
    global _library
    with _lock:
        if _library is None:
            path = _path()
            # A foreign call gives up the interpreter's lock; loading through ctypes itself does
            # not, and to map LLVM takes as long as to plan the first program.
            dlopen = ctypes.CDLL(None).dlopen
            dlopen.restype = c_void_p
            dlopen(os.fsencode(path), os.RTLD_NOW)
            library = _declared(ctypes.CDLL(path))
            library.LLVMPY_InitializeNativeTarget()
            library.LLVMPY_InitializeNativeAsmPrinter()
            _library = library
    return _library


def _path() -> str:
    folder = os.path.join(os.path.dirname(llvmlite.__file__), "binding")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    found = next((name for name in names if name.endswith("llvmlite.so")), None)
    if found is None:
        # Imported here: only a distribution that keeps the library elsewhere needs it.
        from llvmlite.binding import ffi

        return str(ffi.lib._name)
    return os.path.join(folder, found)


def _declared(library: Any) -> Any:
    if not llvmlite.__version__.startswith(CHECKED):
        strangers = differing()
        if strangers:
            raise InternalError(f"llvmlite {llvmlite.__version__} declares {strangers} differently")
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, f"LLVMPY_{name}")
        function.restype, function.argtypes = result, arguments
    return library


def differing() -> list[str]:
    """The functions that llvmlite itself calls in another way than we do."""
    # Imported here: it is what this file avoids.
    from llvmlite.binding import ffi, initfini, module, newpassmanagers, targets

    assert all((initfini, module, newpassmanagers, targets))  # they declare what `ffi` calls
    return [name for name, (_, ours) in FUNCTIONS.items() if not _agree(ffi.lib, name, ours)]


def _agree(library: Any, name: str, ours: tuple[Any, ...]) -> bool:
    function = getattr(library, f"LLVMPY_{name}", None)
    theirs = function.argtypes if function is not None else ()
    return function is not None and (theirs is None or [*map(_kind, theirs)] == [*map(_kind, ours)])


def _kind(argument: Any) -> tuple[bool, int]:
    pointer = argument in (c_void_p, c_char_p) or hasattr(argument, "contents")
    return pointer, ctypes.sizeof(argument)


class Machine:
    """A code generator for a processor, for one thread at a time."""

    __slots__ = ("pointer", "library")

    def __init__(self, triple: str, cpu: str, features: str, level: int) -> None:
        self.library = library = started()
        words = [word.encode() for word in (triple, cpu, features, "pic", "small", "")]
        with _lock, message() as text:
            target = library.LLVMPY_GetTargetFromTriple(words[0], text)
            self.pointer = library.LLVMPY_CreateTargetMachine(
                target, *words[:3], level, *words[3:5], 0, 0, words[5]
            )
            if not self.pointer:
                raise InternalError(f"LLVM has no code generator for {triple}: {said(text)}")

    def emit(self, module: int, as_object: bool) -> bytes:
        """Machine code or a listing.  Without a lock: context and machine belong to one thread."""
        library = self.library
        with message() as text:
            buffer = library.LLVMPY_TargetMachineEmitToMemory(
                self.pointer, module, int(as_object), text
            )
            if not buffer:
                raise InternalError(f"LLVM cannot generate code: {said(text)}")
        try:
            start = library.LLVMPY_GetBufferStart(buffer)
            return ctypes.string_at(start, library.LLVMPY_GetBufferSize(buffer))
        finally:
            library.LLVMPY_DisposeMemoryBuffer(buffer)


@contextmanager
def parsed(text: str, verify: bool) -> Iterator[int]:
    """A module in a context of its own: two threads must not share one."""
    library = started()
    context = library.LLVMPY_ContextCreate()
    module = None
    try:
        with _lock, message() as problem:
            module = library.LLVMPY_ParseAssembly(context, text.encode(), problem)
            if said(problem):
                raise InternalError(f"LLVM refuses the generated code: {said(problem)}\n{text}")
            if verify and library.LLVMPY_VerifyModule(module, problem):
                raise InternalError(f"LLVM refuses the generated code: {said(problem)}\n{text}")
        yield module
    finally:
        if module:
            library.LLVMPY_DisposeModule(module)
        library.LLVMPY_ContextDispose(context)


def to_registers(machine: Machine, module: int) -> None:
    """Variables on the stack become registers (LLVM's SROA); no arithmetic is touched."""
    library = machine.library
    tuning = library.LLVMPY_CreatePipelineTuningOptions()
    builder = library.LLVMPY_CreatePassBuilder(machine.pointer, tuning)
    passes = library.LLVMPY_CreateNewModulePassManager()
    library.LLVMPY_module_AddSROAPass(passes)
    library.LLVMPY_RunNewModulePassManager(passes, module, builder)
    library.LLVMPY_DisposeNewModulePassManger(passes)
    library.LLVMPY_DisposePassBuilder(builder)
    library.LLVMPY_DisposePipelineTuningOptions(tuning)


@contextmanager
def message() -> Iterator[Any]:
    """Room for what LLVM has to say."""
    text = c_char_p(None)
    try:
        yield ctypes.pointer(text)
    finally:
        started().LLVMPY_DisposeString(text)


def said(text: Any) -> str:
    """What LLVM put there."""
    return (text.contents.value or b"").decode()
