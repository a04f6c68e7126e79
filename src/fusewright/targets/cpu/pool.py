"""The thread pool's machine code, as LLVM text.

A launch splits [0, units) into one range for each thread and each range into a few chunks.  Every
range has a cursor (generation, chunks left).  A thread takes chunks from its own range first, so
that it meets the data it had in its caches the last time, and then from the others', so that nobody
waits for a thread that the system has put aside.

* A chunk is taken by compare-and-swap on a cursor of the launch's generation.  The launch cannot
  end before a chunk taken is done, so what the job says is stable exactly while it is read; a
  thread that wakes late finds no chunk and sleeps again.
* A waiting thread spins for a bounded time and then sleeps on a futex.  It announces the sleep,
  then looks again; the waker writes the word, then looks for the announcement (both sequentially
  consistent): no wake-up is lost.
* A thread spins only after a launch that came soon after the one before: in a loop.  Among other
  work, whose threads would need the CPU, it sleeps at once.  In a loop it spins for as long again
  as the launch took (at most `PATIENCE` spins), but sleeps where it finds that somebody else has
  had its CPU.  Offering the CPU (sched_yield) instead is worse: a spinning neighbour keeps it for
  milliseconds.
* Waking a sleeper takes tens of microseconds, and the system may put it beside its waker, on one
  CPU.  So after a pause the caller begins alone, and wakes the others only if what its first chunk
  took says that the rest is `WORTH_WAKING`.  (With few chunks there is no telling: at once.)
* Ranges are gone through forwards and backwards in turn: what a thread touched last in one launch,
  and so has in its cache, it meets first in the next.
* The rounding mode and flush-to-zero of the calling thread (MXCSR) hold in all threads: same bits
  on one or many.
"""

from __future__ import annotations

from fusewright.base.figures import CYCLES, WAKE
from fusewright.base.options import MAX_THREADS
from fusewright.targets.cpu import waiting

STATE_BYTES = 256 + 128 * MAX_THREADS
"""Size of `%pool`; its first 8 bytes are the time to spin, in time-stamp cycles."""

CHUNKS = 8
"""Chunks in a thread's range."""

WORTH_WAKING = int(CYCLES * WAKE)
"""Cycles of work left for which sleeping threads are woken."""

TEXT = f"""
target triple = "x86_64-unknown-linux-gnu"

;             spin generation threads
%job = type {{ i64, i32, i32,
;             kernel args units grain scratch stride; chunk range mxcsr start soon ended
               ptr, ptr, i64, i64, ptr, i64,          i64, i64, i32, i64,  i64, i64, [16 x i8] }}
;             seq  asleep pool index           cursor
%box = type {{ i32, i32,  ptr, i64, [40 x i8], i64, [56 x i8] }}
;                   pending waiting
%pool = type {{ %job, i32,   i32, [120 x i8], [{MAX_THREADS} x %box] }}

declare i64 @syscall(i64, ...)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
declare i64 @llvm.readcyclecounter()
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.usub.sat.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

@thread_name = private constant [11 x i8] c"fusewright\\00"

define void @idle(ptr %args, i64 %lo, i64 %hi, ptr %scratch) nounwind {{
  ret void
}}

define internal i64 @round_up(i64 %n, i64 %d, i64 %multiple) nounwind alwaysinline {{
  ; ceil(n / d) rounded up to a multiple
  %n1 = add i64 %n, %d
  %n2 = sub i64 %n1, 1
  %q = udiv i64 %n2, %d
  %q1 = add i64 %q, %multiple
  %q2 = sub i64 %q1, 1
  %r = urem i64 %q2, %multiple
  %s = sub i64 %q2, %r
  ret i64 %s
}}

define internal i64 @chunks_of(i64 %r, i64 %range, i64 %chunk, i64 %units) nounwind {{
  %lo = mul i64 %r, %range
  %left = call i64 @llvm.usub.sat.i64(i64 %units, i64 %lo)
  %length = call i64 @llvm.umin.i64(i64 %left, i64 %range)
  %n = call i64 @round_up(i64 %length, i64 %chunk, i64 1)
  ret i64 %n
}}

define internal void @run_chunk(ptr %pool, i64 %me, i64 %r, i64 %remaining, i32 %generation)
  nounwind {{
  %kernel.p = getelementptr %job, ptr %pool, i64 0, i32 3
  %kernel = load ptr, ptr %kernel.p
  %args.p = getelementptr %job, ptr %pool, i64 0, i32 4
  %args = load ptr, ptr %args.p
  %units.p = getelementptr %job, ptr %pool, i64 0, i32 5
  %units = load i64, ptr %units.p
  %chunk.p = getelementptr %job, ptr %pool, i64 0, i32 9
  %chunk = load i64, ptr %chunk.p
  %range.p = getelementptr %job, ptr %pool, i64 0, i32 10
  %range = load i64, ptr %range.p
  %scratch.p = getelementptr %job, ptr %pool, i64 0, i32 7
  %scratch = load ptr, ptr %scratch.p
  %stride.p = getelementptr %job, ptr %pool, i64 0, i32 8
  %stride = load i64, ptr %stride.p
  %mxcsr.p = getelementptr %job, ptr %pool, i64 0, i32 11
  call void @llvm.x86.sse.ldmxcsr(ptr %mxcsr.p)
  %n = call i64 @chunks_of(i64 %r, i64 %range, i64 %chunk, i64 %units)
  %forwards = sub i64 %n, %remaining
  %backwards = sub i64 %remaining, 1
  %odd = trunc i32 %generation to i1
  %k = select i1 %odd, i64 %backwards, i64 %forwards
  %start = mul i64 %r, %range
  %end0 = add i64 %start, %range
  %end = call i64 @llvm.umin.i64(i64 %end0, i64 %units)
  %skip = mul i64 %k, %chunk
  %lo = add i64 %start, %skip
  %hi0 = add i64 %lo, %chunk
  %hi = call i64 @llvm.umin.i64(i64 %hi0, i64 %end)
  %mine = mul i64 %me, %stride
  %own = getelementptr i8, ptr %scratch, i64 %mine
  call void %kernel(ptr %args, i64 %lo, i64 %hi, ptr %own)
  ret void
}}

define internal void @work(ptr %pool, i64 %me, i32 %generation, i1 %sleepers) nounwind {{
  ; `sleepers`: threads were left asleep; they are woken when the work turns out to be worth it
entry:
  %start.p = getelementptr %job, ptr %pool, i64 0, i32 12
  %start = load atomic i64, ptr %start.p monotonic, align 8
  %pending = getelementptr %pool, ptr %pool, i64 0, i32 1
  %waiting = getelementptr %pool, ptr %pool, i64 0, i32 2
  %threads.p = getelementptr %job, ptr %pool, i64 0, i32 2
  %threads32 = load atomic i32, ptr %threads.p monotonic, align 4
  %threads = zext i32 %threads32 to i64
  %wanted = zext i32 %generation to i64
  br label %range
range:
  %k = phi i64 [ 0, %entry ], [ %k.next, %exhausted ]
  %leave.1 = phi i1 [ %sleepers, %entry ], [ %leave.3, %exhausted ]
  %done.1 = phi i64 [ 0, %entry ], [ %done.3, %exhausted ]
  %r0 = add i64 %me, %k
  %wraps = icmp uge i64 %r0, %threads
  %back = select i1 %wraps, i64 %threads, i64 0
  %r = sub i64 %r0, %back
  %sane = icmp ult i64 %r, {MAX_THREADS}
  br i1 %sane, label %enter, label %exhausted
enter:
  %cursor = getelementptr %pool, ptr %pool, i64 0, i32 4, i64 %r, i32 5
  br label %take
take:
  %leave = phi i1 [ %leave.1, %enter ], [ %leave, %try ], [ %leave, %ran ], [ %still, %judge ],
    [ false, %rouse ]
  %done.2 = phi i64 [ %done.1, %enter ], [ %done.2, %try ], [ %did, %ran ], [ %did, %judge ],
    [ %did, %rouse ]
  %seen = load atomic i64, ptr %cursor acquire, align 8
  %its = lshr i64 %seen, 32
  %same = icmp eq i64 %its, %wanted
  %left = and i64 %seen, 4294967295
  %some = icmp ne i64 %left, 0
  %go = and i1 %same, %some
  br i1 %go, label %try, label %exhausted
try:
  %less = sub i64 %seen, 1
  %swap = cmpxchg ptr %cursor, i64 %seen, i64 %less acq_rel acquire, align 8
  %won = extractvalue {{ i64, i1 }} %swap, 1
  br i1 %won, label %run, label %take
run:
  call void @run_chunk(ptr %pool, i64 %me, i64 %r, i64 %left, i32 %generation)
  %before = atomicrmw sub ptr %pending, i32 1 seq_cst, align 4
  %did = add i64 %done.2, 1
  %last = icmp eq i32 %before, 1
  br i1 %last, label %finish, label %ran
ran:
  br i1 %leave, label %judge, label %take
judge:
  ; (time of a chunk) * (chunks left) >= WORTH_WAKING
  %now = call i64 @llvm.readcyclecounter()
  %elapsed = sub i64 %now, %start
  %pending.left = zext i32 %before to i64
  %chunks.left = sub i64 %pending.left, 1
  %weight = mul i64 %elapsed, %chunks.left
  %enough = mul i64 %did, {WORTH_WAKING}
  %still = icmp ult i64 %weight, %enough
  br i1 %still, label %take, label %rouse
rouse:
  call void @wake_sleepers(ptr %pool, i64 %threads)
  br label %take
finish:
  %sleeper = load atomic i32, ptr %waiting seq_cst, align 4
  %asleep = icmp ne i32 %sleeper, 0
  br i1 %asleep, label %wake, label %done
wake:
  call void @futex_wake(ptr %pending)
  br label %done
exhausted:
  %leave.3 = phi i1 [ %leave.1, %range ], [ %leave, %take ]
  %done.3 = phi i64 [ %done.1, %range ], [ %done.2, %take ]
  %k.next = add i64 %k, 1
  %more = icmp ult i64 %k.next, %threads
  br i1 %more, label %range, label %done
done:
  ret void
}}

define internal ptr @worker(ptr %box) nounwind {{
entry:
  call i64 (i64, ...) @syscall(i64 157, i64 15, ptr @thread_name, i64 0, i64 0, i64 0)
  %asleep = getelementptr %box, ptr %box, i64 0, i32 1
  %pool.p = getelementptr %box, ptr %box, i64 0, i32 2
  %pool = load ptr, ptr %pool.p
  %index.p = getelementptr %box, ptr %box, i64 0, i32 3
  %index = load i64, ptr %index.p
  br label %next
next:
  %old = phi i32 [ 0, %entry ], [ %generation, %next ]
  %start = call i64 @llvm.readcyclecounter()
  %patience = call i64 @patience(ptr %pool, i64 %start)
  %soon.p = getelementptr %job, ptr %pool, i64 0, i32 13
  %soon = load atomic i64, ptr %soon.p monotonic, align 8
  %limit = and i64 %patience, %soon
  %generation = call i32 @await(ptr %box, i32 %old, ptr %asleep, i1 false, i64 %start, i64 %limit)
  call void @work(ptr %pool, i64 %index, i32 %generation, i1 false)
  br label %next
}}

define i64 @start(ptr %pool, i64 %first, i64 %end) nounwind {{
  ; Start the threads [first, end); returns the first that could not be started.
entry:
  %all = alloca [16 x i64], align 8
  %old = alloca [16 x i64], align 8
  %id = alloca i64, align 8
  call void @llvm.memset.p0.i64(ptr %all, i8 -1, i64 128, i1 false)
  ; Signals are for the program's own threads: the mask is inherited by those started here.
  call i32 @pthread_sigmask(i32 2, ptr %all, ptr %old)
  br label %each
each:
  %t = phi i64 [ %first, %entry ], [ %t.next, %started ]
  %more = icmp ult i64 %t, %end
  br i1 %more, label %create, label %done
create:
  %box = getelementptr %pool, ptr %pool, i64 0, i32 4, i64 %t
  %pool.p = getelementptr %box, ptr %box, i64 0, i32 2
  store ptr %pool, ptr %pool.p
  %index.p = getelementptr %box, ptr %box, i64 0, i32 3
  store i64 %t, ptr %index.p
  %failed = call i32 @pthread_create(ptr %id, ptr null, ptr @worker, ptr %box)
  %ok = icmp eq i32 %failed, 0
  br i1 %ok, label %started, label %done
started:
  %thread = load i64, ptr %id
  call i32 @pthread_detach(i64 %thread)
  %t.next = add i64 %t, 1
  br label %each
done:
  call i32 @pthread_sigmask(i32 2, ptr %old, ptr null)
  ret i64 %t
}}

define void @launch(ptr %pool, ptr %wanted, i64 %threads) nounwind {{
  ; wanted: kernel args units grain scratch stride
entry:
  %generation.p = getelementptr %job, ptr %pool, i64 0, i32 1
  %g0 = load i32, ptr %generation.p
  %generation = add i32 %g0, 1
  store i32 %generation, ptr %generation.p
  %threads.p = getelementptr %job, ptr %pool, i64 0, i32 2
  %threads32 = trunc i64 %threads to i32
  store atomic i32 %threads32, ptr %threads.p monotonic, align 4
  %kernel.p = getelementptr %job, ptr %pool, i64 0, i32 3
  call void @llvm.memcpy.p0.p0.i64(ptr %kernel.p, ptr %wanted, i64 48, i1 false)
  %units.p = getelementptr %job, ptr %pool, i64 0, i32 5
  %units = load i64, ptr %units.p
  %grain.p = getelementptr %job, ptr %pool, i64 0, i32 6
  %grain = load i64, ptr %grain.p
  %range = call i64 @round_up(i64 %units, i64 %threads, i64 %grain)
  %chunk = call i64 @round_up(i64 %range, i64 {CHUNKS}, i64 %grain)
  %chunk.p = getelementptr %job, ptr %pool, i64 0, i32 9
  store i64 %chunk, ptr %chunk.p
  %range.p = getelementptr %job, ptr %pool, i64 0, i32 10
  store i64 %range, ptr %range.p
  %mxcsr.p = getelementptr %job, ptr %pool, i64 0, i32 11
  call void @llvm.x86.sse.stmxcsr(ptr %mxcsr.p)
  %start.p = getelementptr %job, ptr %pool, i64 0, i32 12
  %start = call i64 @llvm.readcyclecounter()
  ; Soon after the last one: within the time that a thread would have spun.
  %ended.p = getelementptr %job, ptr %pool, i64 0, i32 14
  %ended = load i64, ptr %ended.p
  %patience = call i64 @patience(ptr %pool, i64 %ended)
  %gap = sub i64 %start, %ended
  %is.soon = icmp ule i64 %gap, %patience
  %soon = sext i1 %is.soon to i64
  %soon.p = getelementptr %job, ptr %pool, i64 0, i32 13
  store atomic i64 %soon, ptr %soon.p monotonic, align 8
  store atomic i64 %start, ptr %start.p monotonic, align 8
  %pending = getelementptr %pool, ptr %pool, i64 0, i32 1
  %waiting = getelementptr %pool, ptr %pool, i64 0, i32 2
  %high0 = zext i32 %generation to i64
  %high = shl i64 %high0, 32
  br label %set
set:
  %r = phi i64 [ 0, %entry ], [ %r.next, %set ]
  %total = phi i64 [ 0, %entry ], [ %total.next, %set ]
  %n = call i64 @chunks_of(i64 %r, i64 %range, i64 %chunk, i64 %units)
  %fresh = or i64 %high, %n
  %cursor = getelementptr %pool, ptr %pool, i64 0, i32 4, i64 %r, i32 5
  store atomic i64 %fresh, ptr %cursor release, align 8
  %total.next = add i64 %total, %n
  %r.next = add i64 %r, 1
  %more = icmp ult i64 %r.next, %threads
  br i1 %more, label %set, label %ready
ready:
  %total32 = trunc i64 %total.next to i32
  store atomic i32 %total32, ptr %pending release, align 4
  br label %knock
knock:
  %w = phi i64 [ 1, %ready ], [ %w.next, %knock ]
  %box = getelementptr %pool, ptr %pool, i64 0, i32 4, i64 %w
  store atomic i32 %generation, ptr %box seq_cst, align 4
  %w.next = add i64 %w, 1
  %others = icmp ult i64 %w.next, %threads
  br i1 %others, label %knock, label %knocked
knocked:
  %few = mul i64 %threads, {CHUNKS // 2}
  %long = icmp ult i64 %total.next, %few
  %at.once = or i1 %is.soon, %long
  br i1 %at.once, label %rouse, label %help
rouse:
  call void @wake_sleepers(ptr %pool, i64 %threads)
  br label %help
help:
  %sleepers = phi i1 [ false, %rouse ], [ true, %knocked ]
  call void @work(ptr %pool, i64 0, i32 %generation, i1 %sleepers)
  %now = call i64 @llvm.readcyclecounter()
  %limit = call i64 @patience(ptr %pool, i64 %now)
  call i32 @await(ptr %pending, i32 0, ptr %waiting, i1 true, i64 %now, i64 %limit)
  store i64 %now, ptr %ended.p
  ret void
}}
{waiting.TEXT}"""
