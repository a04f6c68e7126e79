"""Kernels, as LLVM text, whose results say who ran what: for the tests of the thread pool."""

KERNELS = """
target triple = "x86_64-unknown-linux-gnu"
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)

define void @mark(ptr %args, i64 %lo, i64 %hi, ptr %scratch) {
  ; counts[i] += 1, through the scratch, which nobody else may touch meanwhile
entry:
  %counts = load ptr, ptr %args
  %some = icmp slt i64 %lo, %hi
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ %lo, %entry ], [ %next, %loop ]
  %p = getelementptr i64, ptr %counts, i64 %i
  %v = load i64, ptr %p
  store volatile i64 %v, ptr %scratch
  %back = load volatile i64, ptr %scratch
  %w = add i64 %back, 1
  store i64 %w, ptr %p
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %hi
  br i1 %more, label %loop, label %done
done:
  ret void
}

define void @slow(ptr %args, i64 %lo, i64 %hi, ptr %scratch) {
  ; for each unit: spin spins[i] times, addresses[i] = scratch, counts[i] += 1
entry:
  %counts = load ptr, ptr %args
  %second = getelementptr ptr, ptr %args, i64 1
  %spins = load ptr, ptr %second
  %third = getelementptr ptr, ptr %args, i64 2
  %addresses = load ptr, ptr %third
  br label %unit
unit:
  %i = phi i64 [ %lo, %entry ], [ %next, %step ]
  %more = icmp slt i64 %i, %hi
  br i1 %more, label %begin, label %done
begin:
  %sp = getelementptr i64, ptr %spins, i64 %i
  %times = load i64, ptr %sp
  br label %wait
wait:
  %k = phi i64 [ 0, %begin ], [ %k1, %wait ]
  %k1 = add i64 %k, 1
  store volatile i64 %k, ptr %scratch
  %on = icmp slt i64 %k1, %times
  br i1 %on, label %wait, label %step
step:
  %ap = getelementptr ptr, ptr %addresses, i64 %i
  store ptr %scratch, ptr %ap
  %p = getelementptr i64, ptr %counts, i64 %i
  %v = load i64, ptr %p
  %w = add i64 %v, 1
  store i64 %w, ptr %p
  %next = add i64 %i, 1
  br label %unit
done:
  ret void
}

define void @ranges(ptr %args, i64 %lo, i64 %hi, ptr %scratch) {
  ; at[lo] = hi, addresses[lo] = scratch
  %at = load ptr, ptr %args
  %p = getelementptr i64, ptr %at, i64 %lo
  store i64 %hi, ptr %p
  %second = getelementptr ptr, ptr %args, i64 1
  %addresses = load ptr, ptr %second
  %q = getelementptr ptr, ptr %addresses, i64 %lo
  store ptr %scratch, ptr %q
  ret void
}

define void @environment(ptr %args, i64 %lo, i64 %hi, ptr %scratch) {
  ; out[i] = MXCSR
entry:
  %out = load ptr, ptr %args
  %word = alloca i32
  br label %loop
loop:
  %i = phi i64 [ %lo, %entry ], [ %next, %loop ]
  call void @llvm.x86.sse.stmxcsr(ptr %word)
  %v = load i32, ptr %word
  %z = zext i32 %v to i64
  %p = getelementptr i64, ptr %out, i64 %i
  store i64 %z, ptr %p
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %hi
  br i1 %more, label %loop, label %done
done:
  ret void
}

define void @set_environment(i32 %v) {
  %word = alloca i32
  store i32 %v, ptr %word
  call void @llvm.x86.sse.ldmxcsr(ptr %word)
  ret void
}
"""
