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
