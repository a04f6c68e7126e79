"""Expressions as native functions, for tests: one loop around the spelled primitives, through
llvmlite's own loader.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from fusewright.codegen.prelude import prelude
from fusewright.codegen.spell import current_block, literal, llvm_type, spell
from fusewright.ir.dtypes import BOOL
from fusewright.ir.expr import Expr, postorder

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

FEATURES = {
    "avx512": "+avx2,+fma,+f16c,+bmi2,+popcnt,+lzcnt,+avx512f,+avx512dq,+avx512bw,+avx512vl",
    "avx2": "+avx2,+fma,+f16c,+bmi2,+popcnt,+lzcnt",
}
_CHUNK = 64


def _memory_type(dtype: Any, width: int) -> str:
    scalar = "i8" if dtype is BOOL else dtype.llvm
    return scalar if width == 1 else f"<{width} x {scalar}>"


def _body(root: Expr, width: int, out: list[str], avx512: bool) -> str:
    numbers = count()

    def fresh() -> str:
        return f"%r{next(numbers)}"

    names: dict[int, str] = {}
    for node in postorder([root]):
        if node.name == "const":
            names[id(node)] = literal(node.attr, node.dtype, width)
        elif node.name == "param":
            pointer, value = fresh(), fresh()
            scalar = "i8" if node.dtype is BOOL else node.dtype.llvm
            out.append(f"{pointer} = getelementptr {scalar}, ptr %in{node.attr}, i64 %i")
            kind = _memory_type(node.dtype, width)
            out.append(f"{value} = load {kind}, ptr {pointer}, align 1")
            if node.dtype is BOOL:
                out.append(f"{value}.b = trunc {kind} {value} to {llvm_type(BOOL, width)}")
                value += ".b"
            names[id(node)] = value
        else:
            operands = [names[id(arg)] for arg in node.args]
            names[id(node)] = spell(node, operands, width, out, fresh, avx512)
    return names[id(root)]


def module_text(root: Expr, width: int, avx512: bool = False) -> str:
    """`void kernel(i64 n, ptr out, ptr in0, ...)`, n a multiple of the width; parameter k is read
    from array k.
    """
    params = {node.attr for node in postorder([root]) if node.name == "param"}
    inputs = "".join(f", ptr noalias %in{k}" for k in range(max(params, default=-1) + 1))
    out: list[str] = []
    result = _body(root, width, out, avx512)
    last = current_block(out) or "body"
    scalar = "i8" if root.dtype is BOOL else root.dtype.llvm
    kind = _memory_type(root.dtype, width)
    if root.dtype is BOOL:
        out.append(f"%widened = zext {llvm_type(BOOL, width)} {result} to {kind}")
        result = "%widened"
    lines = "\n  ".join(out)
    return f"""
define void @kernel(i64 %n, ptr noalias %out{inputs}) "prefer-vector-width"="512" {{
entry:
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %next, %{last} ]
  {lines}
  %to = getelementptr {scalar}, ptr %out, i64 %i
  store {kind} {result}, ptr %to, align 1
  %next = add i64 %i, {width}
  %more = icmp slt i64 %next, %n
  br i1 %more, label %body, label %end
end:
  ret void
}}
{prelude(lines)}
"""


class Compiled:
    """A native function of arrays; lengths are padded to a whole number of vectors."""

    def __init__(self, root: Expr, width: int, features: str = "avx512", opt: int = 2) -> None:
        module = llvm.parse_assembly(module_text(root, width, features == "avx512"))
        module.verify()
        target = llvm.Target.from_default_triple().create_target_machine(
            cpu="x86-64", features=FEATURES[features], opt=opt, reloc="pic", jit=True
        )
        self.assembly = target.emit_assembly
        self.module = module
        self._engine = llvm.create_mcjit_compiler(module, target)
        self._engine.finalize_object()
        self._address = self._engine.get_function_address("kernel")
        self._dtype = root.dtype.numpy
        self.width = width

    def raw(self, arity: int) -> Callable[..., None]:
        """The function itself: (n, out, in0, ...)."""
        kinds = [ctypes.c_int64] + [ctypes.c_void_p] * (arity + 1)
        return ctypes.CFUNCTYPE(None, *kinds)(self._address)

    def __call__(self, *arrays: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        size = arrays[0].size
        padded = -(-size // _CHUNK) * _CHUNK
        inputs = [np.resize(np.ascontiguousarray(a).ravel(), padded) for a in arrays]
        out = np.empty(padded, self._dtype)
        self.raw(len(inputs))(padded, out.ctypes.data, *(a.ctypes.data for a in inputs))
        return out[:size]


def compiled(root: Expr, width: int = 8, features: str = "avx512", opt: int = 2) -> Compiled:
    return Compiled(root, width, features, opt)


def has_avx512() -> bool:
    return bool(llvm.get_host_cpu_features().get("avx512f"))


def feature_sets() -> Sequence[str]:
    return ("avx2", "avx512") if has_avx512() else ("avx2",)
