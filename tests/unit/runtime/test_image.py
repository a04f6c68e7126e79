"""The linker and loader: every kind of reference, damage, and many images come and gone."""

import ctypes

import pytest

from fusewright.base.errors import InternalError
from fusewright.runtime import elf
from fusewright.runtime.image import Image, load
from fusewright.targets.cpu.compiler import compile_ir
from fusewright.targets.cpu.features import BASELINE

TEXT = """
target triple = "x86_64-unknown-linux-gnu"
@table = private constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5], align 64
@pointers = private constant [2 x ptr] [ptr @lookup, ptr @table]
@counter = internal global i64 7
@zeros = internal global [10000 x i8] zeroinitializer, align 64
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare double @fmod(double, double)

define double @lookup(i64 %i) {
  %p = getelementptr double, ptr @table, i64 %i
  %v = load double, ptr %p
  %s = fadd double %v, 0.125
  ret double %s
}
define ptr @pointer(i64 %i) {
  %p = getelementptr ptr, ptr @pointers, i64 %i
  %v = load ptr, ptr %p
  ret ptr %v
}
define i64 @count() {
  %v = load i64, ptr @counter
  %w = add i64 %v, 1
  store i64 %w, ptr @counter
  %p = getelementptr i8, ptr @zeros, i64 9999
  %z = load i8, ptr %p
  %y = add i8 %z, 1
  store i8 %y, ptr %p
  %x = zext i8 %y to i64
  %r = mul i64 %x, %w
  ret i64 %r
}
define void @clear(ptr %p, i64 %n) {
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %n, i1 false)
  ret void
}
define double @outside(double %x, double %y) {
  %r = call double @fmod(double %x, double %y)
  ret double %r
}
define ptr @address_of_outside() {
  ret ptr @fmod
}
define i64 @branch(i64 %i) {
  switch i64 %i, label %d [ i64 0, label %a  i64 1, label %b  i64 2, label %c  i64 3, label %e ]
a:
  ret i64 70
b:
  ret i64 91
c:
  ret i64 13
e:
  ret i64 55
d:
  ret i64 -1
}
"""


@pytest.fixture(scope="module", params=[0, 2])
def image(request):
    return compile_ir(TEXT, BASELINE, request.param)


def function(loaded, name, result, *arguments):
    return ctypes.CFUNCTYPE(result, *arguments)(loaded.address(name))


def test_constants_and_absolute_addresses(image):
    loaded = load(image)
    lookup = function(loaded, "lookup", ctypes.c_double, ctypes.c_int64)
    assert [lookup(i) for i in range(4)] == [1.625, 2.625, 3.625, 4.625]
    pointer = function(loaded, "pointer", ctypes.c_void_p, ctypes.c_int64)
    assert pointer(0) == loaded.address("lookup")
    assert (ctypes.c_double * 4).from_address(pointer(1))[:] == [1.5, 2.5, 3.5, 4.5]
    assert pointer(1) % 64 == 0


def test_jump_table(image):
    loaded = load(image)
    branch = function(loaded, "branch", ctypes.c_int64, ctypes.c_int64)
    assert [branch(i) for i in range(5)] == [70, 91, 13, 55, -1]


def test_writable_and_zeroed_data_belong_to_each_load(image):
    first, second = load(image), load(image)
    count = function(first, "count", ctypes.c_int64)
    assert [count(), count()] == [8, 18]
    assert function(second, "count", ctypes.c_int64)() == 8


def test_calls_outside(image):
    loaded = load(image)
    buffer = ctypes.create_string_buffer(b"x" * 100_000)
    clear = function(loaded, "clear", None, ctypes.c_void_p, ctypes.c_int64)
    clear(ctypes.addressof(buffer), 99_999)
    assert buffer.raw == bytes(99_999) + b"x\0"
    fmod = function(loaded, "outside", ctypes.c_double, ctypes.c_double, ctypes.c_double)
    assert fmod(7.5, 2.0) == 1.5
    expected = ctypes.cast(ctypes.CDLL("libm.so.6").fmod, ctypes.c_void_p).value
    assert function(loaded, "address_of_outside", ctypes.c_void_p)() == expected


def test_bytes_round_trip(image):
    assert Image.from_bytes(image.to_bytes()) == image


def test_any_damage_is_noticed(image):
    data = image.to_bytes()
    for cut in (0, 1, 7, 31, 40, len(data) // 2, len(data) - 1):
        with pytest.raises(ValueError, match="image"):
            Image.from_bytes(data[:cut])
    for place in range(0, len(data), max(len(data) // 97, 1)):
        wrong = bytearray(data)
        wrong[place] ^= 0x10
        with pytest.raises(ValueError, match="image"):
            Image.from_bytes(bytes(wrong))


def test_unknown_function_outside_is_refused():
    text = (
        "declare void @system(ptr)\ndefine void @f() {\n call void @system(ptr null)\n ret void\n}"
    )
    with pytest.raises(InternalError, match="system"):
        load(compile_ir(text, BASELINE, 0))


def test_unknown_symbol():
    text = "define void @f() {\n ret void\n}"
    with pytest.raises(InternalError, match="no symbol 'g'"):
        load(compile_ir(text, BASELINE, 0)).address("g")


def test_not_an_object_file():
    with pytest.raises(InternalError, match="ELF"):
        elf.link(b"MZ" + bytes(100))


def test_thread_local_data_is_refused():
    text = (
        "@t = thread_local global i32 1\ndefine i32 @f() {\n %v = load i32, ptr @t\n ret i32 %v\n}"
    )
    with pytest.raises(InternalError, match="thread-local"):
        compile_ir(text, BASELINE, 0)


def maps():
    with open("/proc/self/maps") as file:
        return sum(1 for line in file if "r-xp 00000000 00:00 0" in line)


def test_pages_are_executable_but_not_writable_and_go_with_the_image(image):
    loaded = load(image)
    with open("/proc/self/maps") as file:
        line = next(row for row in file if row.startswith(f"{loaded.base:x}-"))
    assert line.split()[1] == "r-xp"
    before = maps()
    many = [load(image) for _ in range(300)]
    results = {function(one, "lookup", ctypes.c_double, ctypes.c_int64)(2) for one in many}
    assert results == {3.625}
    del many
    assert maps() <= before
    assert function(loaded, "lookup", ctypes.c_double, ctypes.c_int64)(2) == 3.625


def test_an_image_is_a_value(image):
    with pytest.raises(AttributeError):
        image.size = 1
    assert hash(image) == hash(Image.from_bytes(image.to_bytes()))
