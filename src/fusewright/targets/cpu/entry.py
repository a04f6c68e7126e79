"""The doors from Python into machine code, as LLVM text: built-in functions, since ctypes is slow.

A call through ctypes takes 0.4 us, one through these (METH_FASTCALL) 0.04.  Only functions of
Python's stable ABI are used.
"""

from __future__ import annotations

TEXT = """
declare ptr @PyLong_AsVoidPtr(ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyErr_Occurred()
declare i32 @PyErr_BadArgument()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)

define ptr @py_call(ptr %self, ptr %list, i64 %count) nounwind {
  ; call(kernel, args, units, scratch): on this thread, holding the GIL
entry:
  %right = icmp eq i64 %count, 4
  br i1 %right, label %parse, label %bad
parse:
  %o0 = load ptr, ptr %list
  %kernel = call ptr @PyLong_AsVoidPtr(ptr %o0)
  %p1 = getelementptr ptr, ptr %list, i64 1
  %o1 = load ptr, ptr %p1
  %args = call ptr @PyLong_AsVoidPtr(ptr %o1)
  %p2 = getelementptr ptr, ptr %list, i64 2
  %o2 = load ptr, ptr %p2
  %units = call i64 @PyLong_AsLongLong(ptr %o2)
  %p3 = getelementptr ptr, ptr %list, i64 3
  %o3 = load ptr, ptr %p3
  %scratch = call ptr @PyLong_AsVoidPtr(ptr %o3)
  %error = call ptr @PyErr_Occurred()
  %clean = icmp eq ptr %error, null
  br i1 %clean, label %run, label %fail
run:
  call void %kernel(ptr %args, i64 0, i64 %units, ptr %scratch)
  %result = call ptr @PyLong_FromLongLong(i64 0)
  ret ptr %result
bad:
  call i32 @PyErr_BadArgument()
  br label %fail
fail:
  ret ptr null
}

define ptr @py_loops(ptr %self, ptr %list, i64 %count) nounwind {
  ; loops(spec, words...): a word is an int, a float, or an ndarray (its data pointer)
  ; spec: kernel, type of ndarrays, type of floats, release, n, then n times the positions of two
  ; words, each followed by the bytes it reaches [low, high): where two overlap nothing runs and 1
  ; is returned
entry:
  %enough = icmp sgt i64 %count, 0
  br i1 %enough, label %begin, label %bad
begin:
  %v = alloca i64, i64 %count, align 8
  %o0 = load ptr, ptr %list
  %spec = call ptr @PyLong_AsVoidPtr(ptr %o0)
  %unreadable = icmp eq ptr %spec, null
  br i1 %unreadable, label %fail, label %known
known:
  %kernel = load ptr, ptr %spec
  %array.p = getelementptr i64, ptr %spec, i64 1
  %array = load ptr, ptr %array.p
  %float.p = getelementptr i64, ptr %spec, i64 2
  %float = load ptr, ptr %float.p
  br label %parse
parse:
  %i = phi i64 [ 1, %known ], [ %i.next, %stored ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %one, label %parsed
one:
  %op = getelementptr ptr, ptr %list, i64 %i
  %o = load ptr, ptr %op
  %type.p = getelementptr i8, ptr %o, i64 8
  %type = load ptr, ptr %type.p
  %is.array = icmp eq ptr %type, %array
  %is.float = icmp eq ptr %type, %float
  %direct = or i1 %is.array, %is.float
  br i1 %direct, label %inside, label %integer
inside:
  %field = getelementptr i8, ptr %o, i64 16
  %bits = load i64, ptr %field
  br label %stored
integer:
  %number = call i64 @PyLong_AsLongLong(ptr %o)
  br label %stored
stored:
  %word = phi i64 [ %bits, %inside ], [ %number, %integer ]
  %before = sub i64 %i, 1
  %vp = getelementptr i64, ptr %v, i64 %before
  store i64 %word, ptr %vp
  %i.next = add i64 %i, 1
  br label %parse
parsed:
  %error = call ptr @PyErr_Occurred()
  %clean = icmp eq ptr %error, null
  br i1 %clean, label %pairs, label %fail
pairs:
  %n.p = getelementptr i64, ptr %spec, i64 4
  %n = load i64, ptr %n.p
  br label %pair
pair:
  %k = phi i64 [ 0, %pairs ], [ %k.next, %apart ]
  %left = icmp slt i64 %k, %n
  br i1 %left, label %look, label %run
look:
  %k6 = mul i64 %k, 6
  %at = add i64 %k6, 5
  %p0 = getelementptr i64, ptr %spec, i64 %at
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %p4 = getelementptr i64, ptr %p0, i64 4
  %p5 = getelementptr i64, ptr %p0, i64 5
  %a = load i64, ptr %p0
  %a.low.by = load i64, ptr %p1
  %a.high.by = load i64, ptr %p2
  %b = load i64, ptr %p3
  %b.low.by = load i64, ptr %p4
  %b.high.by = load i64, ptr %p5
  %a.p = getelementptr i64, ptr %v, i64 %a
  %a.at = load i64, ptr %a.p
  %b.p = getelementptr i64, ptr %v, i64 %b
  %b.at = load i64, ptr %b.p
  %a.low = add i64 %a.at, %a.low.by
  %a.high = add i64 %a.at, %a.high.by
  %b.low = add i64 %b.at, %b.low.by
  %b.high = add i64 %b.at, %b.high.by
  %starts = icmp ult i64 %a.low, %b.high
  %ends = icmp ult i64 %b.low, %a.high
  %overlap = and i1 %starts, %ends
  br i1 %overlap, label %shared, label %apart
apart:
  %k.next = add i64 %k, 1
  br label %pair
shared:
  %one.object = call ptr @PyLong_FromLongLong(i64 1)
  ret ptr %one.object
run:
  %release.p = getelementptr i64, ptr %spec, i64 3
  %release = load i64, ptr %release.p
  %free = icmp ne i64 %release, 0
  br i1 %free, label %released, label %held
held:
  call void %kernel(ptr %v, i64 0, i64 1, ptr null)
  br label %done
released:
  %saved = call ptr @PyEval_SaveThread()
  call void %kernel(ptr %v, i64 0, i64 1, ptr null)
  call void @PyEval_RestoreThread(ptr %saved)
  br label %done
done:
  %result = call ptr @PyLong_FromLongLong(i64 0)
  ret ptr %result
bad:
  call i32 @PyErr_BadArgument()
  br label %fail
fail:
  ret ptr null
}

define ptr @py_launch(ptr %self, ptr %list, i64 %count) nounwind {
  ; launch(pool, kernel, args, units, grain, scratch, stride, threads): the GIL is released
entry:
  %v = alloca [8 x i64], align 8
  %right = icmp eq i64 %count, 8
  br i1 %right, label %parse, label %bad
parse:
  %i = phi i64 [ 0, %entry ], [ %i.next, %parse ]
  %op = getelementptr ptr, ptr %list, i64 %i
  %o = load ptr, ptr %op
  %value = call i64 @PyLong_AsLongLong(ptr %o)
  %vp = getelementptr i64, ptr %v, i64 %i
  store i64 %value, ptr %vp
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, 8
  br i1 %more, label %parse, label %parsed
parsed:
  %error = call ptr @PyErr_Occurred()
  %clean = icmp eq ptr %error, null
  br i1 %clean, label %release, label %fail
release:
  %pool = load ptr, ptr %v
  %wanted = getelementptr ptr, ptr %v, i64 1
  %kernel = load ptr, ptr %wanted
  %args.p = getelementptr ptr, ptr %v, i64 2
  %args = load ptr, ptr %args.p
  %units.p = getelementptr i64, ptr %v, i64 3
  %units = load i64, ptr %units.p
  %scratch.p = getelementptr ptr, ptr %v, i64 5
  %scratch = load ptr, ptr %scratch.p
  %threads.p = getelementptr i64, ptr %v, i64 7
  %threads = load i64, ptr %threads.p
  %saved = call ptr @PyEval_SaveThread()
  %alone = icmp ult i64 %threads, 2
  br i1 %alone, label %direct, label %together
direct:
  call void %kernel(ptr %args, i64 0, i64 %units, ptr %scratch)
  br label %acquire
together:
  call void @launch(ptr %pool, ptr %wanted, i64 %threads)
  br label %acquire
acquire:
  call void @PyEval_RestoreThread(ptr %saved)
  %result = call ptr @PyLong_FromLongLong(i64 0)
  ret ptr %result
bad:
  call i32 @PyErr_BadArgument()
  br label %fail
fail:
  ret ptr null
}
"""
