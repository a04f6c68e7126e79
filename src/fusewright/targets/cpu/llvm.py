"""LLVM's C functions, as llvmlite's library exports them: text to machine code.  No passes over the
IR (but for variables of loops), no run-time linker of LLVM's.

This file is also a program: `compiler` runs it as a process of its own, so that the user's process
never holds LLVM (60 MiB), nor ends with it.  It imports the standard library alone, since that
process starts without any other (25 ms with LLVM loaded).
"""

import ctypes
import os
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_void_p
from functools import cache
from typing import Any, NamedTuple

TRIPLE = b"x86_64-unknown-linux-gnu"
CPU = b"x86-64"
"""The architecture's baseline: what a kernel may use is named feature by feature."""
IDLE = 10.0
"""Seconds without a job after which the process ends."""

REFUSED, DONE = 0, 1
JOB, ANSWER = struct.Struct("<IIBBBB"), struct.Struct("<BQ")
"""What precedes a job: the lengths of its features and of its text, its level and flags.  What
precedes an answer: whether it is code or a message, and its length.
"""

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


class Job(NamedTuple):
    """A module's text and what to make of it: code for a processor with these features, or a
    listing.  `scalars` first moves variables from the stack into registers; `verify` has LLVM check
    the module.  To the process, a job without text says: answer.
    """

    text: bytes = b""
    features: bytes = b""
    level: int = 0
    as_object: bool = True
    scalars: bool = False
    verify: bool = False

    def to_bytes(self) -> bytes:
        """For the process; `_received` is the inverse."""
        flags = (self.level, self.as_object, self.scalars, self.verify)
        return JOB.pack(len(self.features), len(self.text), *flags) + self.features + self.text


class Refused(Exception):
    """LLVM's reason for not compiling a module."""


class Compiler:
    """LLVM in this process, for one thread at a time.  `checks` has llvmlite asked whether it
    declares the library's functions as this file does.
    """

    def __init__(self, path: str, checks: bool) -> None:
        self.library = library = ctypes.CDLL(path)
        if checks and (strangers := differing()):
            raise Refused(f"this llvmlite declares {strangers} differently")
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(library, f"LLVMPY_{name}")
            function.restype, function.argtypes = result, arguments
        library.LLVMPY_InitializeNativeTarget()
        library.LLVMPY_InitializeNativeAsmPrinter()
        self.machine = cache(self._machine)

    def compile(self, job: Job) -> bytes:
        """An object file, or a listing; raises `Refused`."""
        library, machine = self.library, self.machine(job.features, job.level)
        context = library.LLVMPY_ContextCreate()
        module = None
        try:
            with self._message() as problem:
                module = library.LLVMPY_ParseAssembly(context, job.text, problem)
                if _said(problem) or (job.verify and library.LLVMPY_VerifyModule(module, problem)):
                    text = job.text.decode()
                    raise Refused(f"LLVM refuses the generated code: {_said(problem)}\n{text}")
            if job.scalars:
                self._to_registers(machine, module)
            return self._emitted(machine, module, job.as_object)
        finally:
            if module:
                library.LLVMPY_DisposeModule(module)
            library.LLVMPY_ContextDispose(context)

    def _machine(self, features: bytes, level: int) -> int:
        """A code generator."""
        with self._message() as problem:
            target = self.library.LLVMPY_GetTargetFromTriple(TRIPLE, problem)
            machine: int = self.library.LLVMPY_CreateTargetMachine(
                target, TRIPLE, CPU, features, level, b"pic", b"small", 0, 0, b""
            )
            if not machine:
                raise Refused(f"LLVM has no code generator for {TRIPLE!r}: {_said(problem)}")
        return machine

    def _emitted(self, machine: int, module: int, as_object: bool) -> bytes:
        library = self.library
        with self._message() as problem:
            buffer = library.LLVMPY_TargetMachineEmitToMemory(machine, module, as_object, problem)
            if not buffer:
                raise Refused(f"LLVM cannot generate code: {_said(problem)}")
        try:
            start = library.LLVMPY_GetBufferStart(buffer)
            return ctypes.string_at(start, library.LLVMPY_GetBufferSize(buffer))
        finally:
            library.LLVMPY_DisposeMemoryBuffer(buffer)

    def _to_registers(self, machine: int, module: int) -> None:
        """Variables on the stack become registers (LLVM's SROA); no arithmetic is touched."""
        library = self.library
        tuning = library.LLVMPY_CreatePipelineTuningOptions()
        builder = library.LLVMPY_CreatePassBuilder(machine, tuning)
        passes = library.LLVMPY_CreateNewModulePassManager()
        library.LLVMPY_module_AddSROAPass(passes)
        library.LLVMPY_RunNewModulePassManager(passes, module, builder)
        library.LLVMPY_DisposeNewModulePassManger(passes)
        library.LLVMPY_DisposePassBuilder(builder)
        library.LLVMPY_DisposePipelineTuningOptions(tuning)

    @contextmanager
    def _message(self) -> Iterator[Any]:
        """Room for what LLVM has to say."""
        text = c_char_p(None)
        try:
            yield ctypes.pointer(text)
        finally:
            self.library.LLVMPY_DisposeString(text)


def _said(text: Any) -> str:
    """What LLVM put there."""
    return (text.contents.value or b"").decode()


def differing() -> list[str]:
    """The functions that llvmlite itself calls in another way than we do."""
    # Imported here: what it loads takes longer than LLVM.
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


# ---- the process -----------------------------------------------------------------------------


def serve(path: str, checks: bool, folders: list[str]) -> None:
    """Compile what comes through the socket that is file 0, and answer when asked to; until nothing
    has come for a while, or nobody holds the other end of the pipe that is file 1.
    """
    # Imported here: a process that compiles by itself needs none of it.
    import _socket
    import fcntl

    if os.fork():
        os._exit(0)  # what goes on is nobody's child: no `wait()` of the user's meets it
    os.closerange(3, 1 << 16)
    os.chdir("/")
    # LLVM does not look up while it works: when the pipe is closed, SIGIO ends this process.
    fcntl.fcntl(1, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(1, fcntl.F_SETFL, os.O_ASYNC)
    if checks:
        sys.path[:0] = folders
    peer = _socket.socket(fileno=0)
    peer.settimeout(IDLE)
    answers: list[bytes] = []
    try:
        compiler = Compiler(path, checks)
        peer.sendall(_packed(DONE, str(os.getpid()).encode()))
    except (Refused, OSError, AttributeError) as error:
        peer.sendall(_packed(REFUSED, str(error).encode()))
        return
    while True:
        job = _received(peer)
        if job.text:
            answers.append(_answer(compiler, job))
        else:
            peer.sendall(b"".join(answers))
            answers.clear()


def _answer(compiler: Compiler, job: Job) -> bytes:
    try:
        return _packed(DONE, compiler.compile(job))
    except Refused as refused:
        return _packed(REFUSED, str(refused).encode())


def _packed(said: int, data: bytes) -> bytes:
    return ANSWER.pack(said, len(data)) + data


def _received(peer: Any) -> Job:
    features, text, level, *flags = JOB.unpack(exactly(peer.recv, JOB.size))
    named = exactly(peer.recv, features)
    return Job(exactly(peer.recv, text), named, level, *map(bool, flags))


def exactly(receive: Callable[[int], bytes], length: int) -> bytes:
    """So many bytes; `EOFError` where the other side ends before."""
    pieces = []
    while length:
        piece = receive(min(length, 1 << 20))
        if not piece:
            raise EOFError
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


if __name__ == "__main__":
    try:
        serve(sys.argv[1], sys.argv[2] == "1", sys.argv[3:])
    except (OSError, EOFError):  # a time-out is one, too
        os._exit(0)
