"""What waking a sleeping thread costs on this machine, with nothing of ours around it: one thread
that sleeps on a futex, called by the benchmarks that state what our threads cost.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from fusewright.runtime.image import load
from fusewright.targets.cpu.compiler import compile_ir
from fusewright.targets.cpu.features import BASELINE

TEXT = """
target triple = "x86_64-unknown-linux-gnu"
declare i64 @syscall(i64, ...)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)

define internal ptr @sleeper(ptr %word) nounwind {
entry:
  %answer = getelementptr i32, ptr %word, i64 32
  br label %wait
wait:
  %seen = phi i32 [ 0, %entry ], [ %now, %wait ]
  %v = zext i32 %seen to i64
  call i64 (i64, ...) @syscall(i64 202, ptr %word, i64 128, i64 %v, ptr null, ptr null, i64 0)
  %now = load atomic i32, ptr %word seq_cst, align 4
  store atomic i32 %now, ptr %answer seq_cst, align 4
  br label %wait
}

define void @begin(ptr %word) nounwind {
  %id = alloca i64, align 8
  call i32 @pthread_create(ptr %id, ptr null, ptr @sleeper, ptr %word)
  ret void
}

define void @wake(ptr %word) nounwind {
  %before = atomicrmw add ptr %word, i32 1 seq_cst, align 4
  call i64 (i64, ...) @syscall(i64 202, ptr %word, i64 129, i64 1, ptr null, ptr null, i64 0)
  ret void
}

define void @ping(ptr %word) nounwind {
entry:
  call void @wake(ptr %word)
  %answer = getelementptr i32, ptr %word, i64 32
  %wanted = load atomic i32, ptr %word seq_cst, align 4
  br label %look
look:
  %seen = load atomic i32, ptr %answer seq_cst, align 4
  %answered = icmp eq i32 %seen, %wanted
  br i1 %answered, label %done, label %look
done:
  ret void
}
"""


def sleeper() -> tuple[Callable[[], None], Callable[[], None]]:
    """Two calls: wake the sleeping thread; the same, and wait for its answer.  The thread, its
    code and its memory stay until the process ends.
    """
    image = load(compile_ir(TEXT, BASELINE, 2))
    words = (ctypes.c_int32 * 64)()
    _kept.append((image, words))
    begin, wake, ping = (
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(image.address(name))
        for name in ("begin", "wake", "ping")
    )
    address = ctypes.addressof(words)
    begin(address)
    return (lambda: wake(address)), (lambda: ping(address))


_kept: list[object] = []
