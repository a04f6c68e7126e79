"""Figures of the machine's record (`machine/record.py`) that are the same on all machines, for
those who need them before it is read, or must not read it.

They decide what is recorded together and how code is laid out, and so the names of code on disk:
nobody detects or measures them.  The native core has a copy (`_core/machine.h`); a test compares
the two.
"""

LINE = 64
"""Bytes of a cache line on every processor that code is made for, and of the widest vector."""
LINES = 2 * LINE
"""Bytes of a pair of lines, which are fetched together: what two threads write is as far apart."""
FIRST = 32 << 10
"""Bytes of the smallest first-level data cache of x86-64 processors with AVX2."""
KEPT = 1 << 20
"""Bytes of row buffers that a kernel may keep, half of a second-level cache of 2 MiB: the other
half is for what streams through.
"""
NEAR = KEPT // 2
"""Bytes that are read again soon, while others are written: half of what is kept."""
STRIP = KEPT // 4
"""Bytes of an array's rows in a strip: a strip has several arrays, and what is smaller than that
lies in the cache in whatever order it is read.
"""
ROWS = (FIRST // 8, STRIP // 8, KEPT // 8)
"""Elements of a row at which plans may differ: rows of float64 that fit the first-level cache, a
strip, all that is kept.
"""
PREFETCH = ((512, 3), (2048, 2))
"""Bytes by which a stream is fetched before it is read, and LLVM's word for the cache it comes to:
L1 soon, L2 earlier.  The processor's own prefetching stops at each page.  Measured on arrays beyond
the caches: 10 to 20 % faster with 1, 2 and 4 streams, the same with 8.
"""
IN_FLIGHT = 8
"""Vectors whose additions are under way at once: four cycles each, two begin in each cycle."""
CYCLES = 2.5
"""Cycles of the time-stamp counter in a nanosecond, about."""
WAKE = 100_000
"""Nanoseconds until a sleeping thread has begun.  On a virtual machine (measured) the call that
wakes one takes 10 to 20 us, and 60 to 90 us pass before it begins.
"""
TAKEN = 12_000
"""Nanoseconds between two looks of a thread that waits awake which say that somebody else had its
processor meanwhile.
"""
ELEMENT = 1.0
"""Nanoseconds of an element of an operation by itself, in NumPy."""
INTERPRETED = 4_000.0
"""Nanoseconds that interpreting an operation takes in Python (measured), whatever its size."""
COMPILED = 10e-3
"""Seconds for which a structure has been interpreted when it is worth compiling: what compiling two
operations takes.
"""

STARTED_ELEMENTS = 1 << 14
"""Elements up to which computing a value takes about as long as starting to."""
KERNEL_ELEMENTS = 2 * STARTED_ELEMENTS
"""Elements from which on an operation, a region or a mask is worth a kernel of its own: its work is
then most of what it takes.  Up to there it is done at once, with one call of NumPy or one loop.
"""
COPIED_ELEMENTS = 2 * KERNEL_ELEMENTS
"""The same of what is only copied or filled, which is half of the work."""
MOVED_ELEMENTS = KERNEL_ELEMENTS // 8
"""The same of what can still be fused with whatever uses it (what is moved, made or gathered, where
its operands have been computed): one pass of several is all that doing it at once costs, and
waiting saves.
"""
FEW_ELEMENTS = STARTED_ELEMENTS // 8
"""Elements that are computed operation by operation, in whatever order their dims lie: starting a
kernel takes as long as eight passes over so many.  (Measured: a chain of five operations on 4,000
takes twice as long this way.)
"""
TINY_ELEMENTS = STARTED_ELEMENTS // 16
"""Elements that are copied in less time than a launch takes; a thread takes no fewer at a time."""
USED_ELEMENTS = 1 << 19
"""Elements of an operand that is computed because a step of NumPy's uses it at once: it still lies
in the caches then, while a fused kernel has nothing to fuse it with.
"""
MULTIPLICATIONS = 1 << 22
"""Multiplications of a product of matrices that is computed at once, 80 us on one thread: what
takes longer may be fused with what surrounds it.
"""
COPIED_BYTES = 1 << 12
"""Bytes that are copied in less time than it takes to keep others' memory, or to find memory that
begins at a line.
"""
