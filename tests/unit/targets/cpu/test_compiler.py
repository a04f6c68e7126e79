"""LLVM text to code: exact arithmetic, levels, features, threads, and errors."""

import ctypes
import os
import subprocess
import sys
import tempfile
import threading

import pytest

from fusewright.base.errors import InternalError
from fusewright.base.options import options
from fusewright.runtime.image import load
from fusewright.targets.cpu import llvm
from fusewright.targets.cpu.compiler import assembly, compile_ir
from fusewright.targets.cpu.features import machine_flags_of, select

AVX2 = select("avx2", machine_flags_of("avx2"))
AVX512 = select("avx512", machine_flags_of("avx512"))
MULTIPLY_ADD = """
define void @f(ptr %p) {
  %x = load <8 x double>, ptr %p
  %m = fmul <8 x double> %x, %x
  %s = fadd <8 x double> %m, %x
  store <8 x double> %s, ptr %p
  ret void
}
"""
FUSED = """
declare <8 x double> @llvm.fma.v8f64(<8 x double>, <8 x double>, <8 x double>)
define void @f(ptr %p) {
  %x = load <8 x double>, ptr %p
  %s = call <8 x double> @llvm.fma.v8f64(<8 x double> %x, <8 x double> %x, <8 x double> %x)
  store <8 x double> %s, ptr %p
  ret void
}
"""


@pytest.mark.parametrize("level", [0, 2, 3])
@pytest.mark.parametrize("features", [AVX2, AVX512], ids=lambda f: f.name)
def test_multiply_and_add_are_not_contracted(features, level):
    text = assembly(MULTIPLY_ADD, features, level)
    assert "vmulpd" in text
    assert "vfmadd" not in text
    assert "vfmadd" in assembly(FUSED, features, level)


def test_registers_are_as_wide_as_the_features_say():
    assert "%zmm" in assembly(MULTIPLY_ADD, AVX512, 2)
    narrow = assembly(MULTIPLY_ADD, AVX2, 2)
    assert "%ymm" in narrow
    assert "%zmm" not in narrow


def test_refused_text_is_our_error_and_shows_the_text():
    with pytest.raises(InternalError, match="LLVM refuses") as caught:
        compile_ir("define void @f() { ret i32 0 }", AVX2, 0)
    assert "ret i32 0" in str(caught.value)


def test_debug_verifies_the_module():
    broken = "define void @f() {\n br label %a\na:\n %x = add i64 %x, 1\n ret void\n}"
    with options(debug=True), pytest.raises(InternalError, match="LLVM refuses"):
        compile_ir(broken, AVX2, 0)


def kernel(n):
    body = "\n".join(f"  %v{i + 1} = fadd double %v{i}, {float(i)}" for i in range(n))
    return f"define double @f(double %v0) {{\n{body}\n  ret double %v{n}\n}}"


def test_many_threads_compile_the_same_code_at_once():
    sizes = [10, 40, 70, 100] * 3
    expected = {n: compile_ir(kernel(n), AVX2, 2) for n in set(sizes)}
    found = []

    def work(n):
        found.append((n, compile_ir(kernel(n), AVX2, 2)))

    threads = [threading.Thread(target=work, args=(n,)) for n in sizes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(sizes)
    assert all(image == expected[n] for n, image in found)


def test_compiled_code_runs():
    loaded = load(compile_ir(kernel(5), AVX2, 0))
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(loaded.address("f"))(0.5) == 10.5


def test_llvm_is_never_loaded_here_and_no_process_started_for_what_needs_no_code():
    script = (
        "import os, sys, fusewright.numpy as np\n"
        "def is_mapped(): return 'llvmlite' in open('/proc/self/maps').read()\n"
        "from fusewright.targets.cpu import compiled, compiler, threads\n"
        "print(compiler.idle_workers, 'fusewright.targets.cpu.workers' in sys.modules)\n"
        "total = float(np.exp2(np.zeros(3000)).sum())\n"
        "print(total, len(compiler.idle_workers), is_mapped(), 'llvmlite.binding' in sys.modules)"
    )
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True,
            env={**os.environ, "FUSEWRIGHT_CACHE_DIR": folder, "FUSEWRIGHT_INTERPRET": "0"},
        )  # fmt: skip
    assert done.stdout.split() == ["[]", "False", "3000.0", "1", "False", "False"]


def test_we_call_llvm_as_llvmlite_does(monkeypatch):
    assert llvm.differing() == []
    changed = {
        **llvm.FUNCTIONS,
        "ParseAssembly": (ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_int)),
        "Renamed": (None, ()),
    }
    monkeypatch.setattr(llvm, "FUNCTIONS", changed)
    assert llvm.differing() == ["ParseAssembly", "Renamed"]
