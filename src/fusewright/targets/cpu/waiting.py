"""How the pool's threads wait and are woken, as LLVM text: spinning for a bounded time, then asleep
on a futex.  `targets.cpu.pool` says when, and declares the types and intrinsics used here.
"""

from fusewright.base.figures import CYCLES, TAKEN

PREEMPTED = int(CYCLES * TAKEN)
"""Cycles between two looks that say that somebody else had the CPU meanwhile."""

PATIENCE = 3
"""How much longer than it spins a thread waits awake, at most: the Python of an evaluation takes
100 us where the data have driven it out of the caches.
"""

TEXT = f"""
declare void @llvm.x86.sse2.pause()

define internal void @futex_wait(ptr %word, i32 %seen) nounwind {{
  %v = zext i32 %seen to i64
  call i64 (i64, ...) @syscall(i64 202, ptr %word, i64 128, i64 %v, ptr null, ptr null, i64 0)
  ret void
}}

define internal void @futex_wake(ptr %word) nounwind {{
  call i64 (i64, ...) @syscall(i64 202, ptr %word, i64 129, i64 1, ptr null, ptr null, i64 0)
  ret void
}}

define internal i64 @patience(ptr %pool, i64 %now) nounwind {{
  ; How long to spin from `now` on, at most.
  %spin = load atomic i64, ptr %pool monotonic, align 8
  %launched.p = getelementptr %job, ptr %pool, i64 0, i32 12
  %launched = load atomic i64, ptr %launched.p monotonic, align 8
  %took = sub i64 %now, %launched
  %most = mul i64 %spin, {PATIENCE}
  %more = call i64 @llvm.umin.i64(i64 %took, i64 %most)
  %limit = add i64 %spin, %more
  ret i64 %limit
}}

define internal i32 @await(ptr %word, i32 %old, ptr %asleep, i1 %until.zero, i64 %start, i64 %limit)
  nounwind {{
  ; Until the word differs from `old`, or is zero; awake until `limit` after `start`.  Returns the
  ; word.
entry:
  br label %look
look:
  %before = phi i64 [ 0, %entry ], [ %spent, %pause ]
  %w = load atomic i32, ptr %word acquire, align 4
  %zero = icmp eq i32 %w, 0
  %new = icmp ne i32 %w, %old
  %ready = select i1 %until.zero, i1 %zero, i1 %new
  br i1 %ready, label %out, label %pause
pause:
  call void @llvm.x86.sse2.pause()
  %now = call i64 @llvm.readcyclecounter()
  %spent = sub i64 %now, %start
  %gap = sub i64 %spent, %before
  %alone = icmp ult i64 %gap, {PREEMPTED}
  %patient = icmp ult i64 %spent, %limit
  %stay = and i1 %alone, %patient
  br i1 %stay, label %look, label %announce
announce:
  store atomic i32 1, ptr %asleep seq_cst, align 4
  br label %check
check:
  %w2 = load atomic i32, ptr %word seq_cst, align 4
  %zero2 = icmp eq i32 %w2, 0
  %new2 = icmp ne i32 %w2, %old
  %ready2 = select i1 %until.zero, i1 %zero2, i1 %new2
  br i1 %ready2, label %awake, label %sleep
sleep:
  call void @futex_wait(ptr %word, i32 %w2)
  br label %check
awake:
  store atomic i32 0, ptr %asleep seq_cst, align 4
  br label %out
out:
  %result = phi i32 [ %w, %look ], [ %w2, %awake ]
  ret i32 %result
}}

define internal void @wake_sleepers(ptr %pool, i64 %threads) nounwind {{
entry:
  br label %each
each:
  %w = phi i64 [ 1, %entry ], [ %w.next, %called ]
  %others = icmp ult i64 %w, %threads
  br i1 %others, label %look, label %done
look:
  %box = getelementptr %pool, ptr %pool, i64 0, i32 4, i64 %w
  %asleep.p = getelementptr %box, ptr %box, i64 0, i32 1
  %asleep = load atomic i32, ptr %asleep.p seq_cst, align 4
  %sleeps = icmp ne i32 %asleep, 0
  br i1 %sleeps, label %wake, label %called
wake:
  call void @futex_wake(ptr %box)
  br label %called
called:
  %w.next = add i64 %w, 1
  br label %each
done:
  ret void
}}
"""
