"""The statements of kernels of loops: their text, what they mean, and what is not well formed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fusewright.base.errors import InternalError
from fusewright.ir.dtypes import BOOL, FLOAT32, FLOAT64, INT64
from fusewright.ir.expr import const, index, load, local, op, param
from fusewright.ir.loops import interpret
from fusewright.ir.loops.parse import parse_kernel
from fusewright.ir.loops.statements import (
    Block,
    Check,
    Dim,
    For,
    If,
    Kernel,
    Leave,
    Let,
    Local,
    Print,
    Shown,
    Store,
    While,
    walk,
)
from fusewright.ir.loops.text import kernel_text
from fusewright.ir.loops.verify import check_kernel
from fusewright.ir.nest import Buffer, Source

N, AT, K = param(0, INT64), index(0), local(0, INT64)
ZERO, ONE = const(0, INT64), const(1, INT64)
HERE = load(0, (AT,), FLOAT64)
BODY = (
    Let(0, ZERO),
    Block(
        1,
        (
            For(
                (Dim(0, ZERO, N),),
                (
                    If(op("less", HERE, const(0.0, FLOAT64)), (Leave(1),)),
                    Store(0, (AT,), const(2.0, FLOAT64), "multiply"),
                    Let(0, op("add", K, ONE)),
                ),
            ),
        ),
    ),
    While((), op("less", K, const(9, INT64)), (Let(0, op("multiply", K, const(3, INT64))),)),
    Print(("k = ", Shown(K, True), "\n")),
    Check(op("not_equal", K, ONE), "bounds", "k is {}", (K,), (("k", K),)),
)
KERNEL = Kernel(
    "sample",
    (Buffer(0, FLOAT64, (N,)),),
    frozenset(),
    (Source("extent", 0, 0),),
    (INT64,),
    (Local("k", INT64, True),),
    BODY,
)
TEXT = """\
kernel sample
  param p0: int64 = extent 0 of b0
  buffer b0: float64[p0]
  var v0: int64  # k
  v0 = 0
  block L1:
    for i0 in [0, p0):
      if (b0[i0] < 0.0):
        leave L1
      b0[i0] multiply= 2.0
      v0 = (v0 + 1)
  while:
    pass
  holds (v0 < 9):
    v0 = (v0 * 3)
  print('k = ', v0, '\\n')
  check (v0 != 1) else bounds('k is {}', v0, 'k'=v0)
"""


def run(values: list[float]) -> tuple[list[float], str]:
    array = np.array(values)
    shown: list[str] = []

    def failed(check: Check, found: Any, loops: Any) -> Exception:
        return IndexError(check.message.format(*found), loops)

    interpret.run(KERNEL, [array], [len(values)], shown.append, failed)
    return array.tolist(), "".join(shown)


def test_text() -> None:
    assert kernel_text(KERNEL) == TEXT
    assert parse_kernel(TEXT) == KERNEL


def test_meaning() -> None:
    assert run([1.0, 2.0, -1.0, 5.0]) == ([2.0, 4.0, -1.0, 5.0], "k = 18\n")


def test_a_failed_check() -> None:
    with pytest.raises(IndexError, match="k is 1"):
        interpret.run(
            replace(KERNEL, body=(Let(0, ONE), BODY[-1])),
            [np.zeros(1)],
            [1],
            print,
            lambda check, found, loops: IndexError(check.message.format(*found)),
        )


def test_facts() -> None:
    assert KERNEL.given == (0,)
    assert KERNEL.written == {0}
    assert len(list(walk(BODY))) == 11


def test_well_formed() -> None:
    check_kernel(KERNEL)


WRONG = {
    "outside its loop": (Store(0, (AT,), const(1.0, FLOAT64)),),
    "dtype of the value": (Store(0, (ZERO,), const(1.0, FLOAT32)),),
    "rank": (Store(0, (), const(1.0, FLOAT64)),),
    "no buffer 3": (Store(3, (ZERO,), const(1.0, FLOAT64)),),
    "no op mix": (Store(0, (ZERO,), const(1.0, FLOAT64), "mix"),),
    "no block 7": (Leave(7),),
    "label twice": (Block(1, (Block(1, ()),)),),
    "has a dtype": (Let(0, const(1.0, FLOAT64)),),
    "no variable 5": (Let(5, ZERO),),
    "not a condition": (If(ZERO, (Leave(1),)),),
    "are not new": (For((Dim(0, ZERO, N), Dim(0, ZERO, N)), ()),),
    "no p4": (Let(0, param(4, INT64)),),
    "rank of b0": (If(op("less", load(0, (), FLOAT64), const(0.0, FLOAT64)), ()),),
    "is no int64": (If(load(0, (const(True, BOOL),), BOOL), ()),),
}


@pytest.mark.parametrize("what", WRONG)
def test_not_well_formed(what: str) -> None:
    with pytest.raises(InternalError, match=what):
        check_kernel(replace(KERNEL, body=WRONG[what]))


def test_a_value_is_defined_once_and_before_use() -> None:
    kernel = replace(KERNEL, locals=(Local("k", INT64),))
    with pytest.raises(InternalError, match="defined twice"):
        check_kernel(replace(kernel, body=(Let(0, ZERO), Let(0, ONE))))
    with pytest.raises(InternalError, match="before its definition"):
        check_kernel(replace(kernel, body=(If(op("less", K, ONE), ()),)))
