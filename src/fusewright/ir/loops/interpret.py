"""What a kernel of loops means: its statements run one after the other, on NumPy arrays.

This is the definition that compiled code is tested against.  Operations are evaluated by the
meanings of `ir.ops`, one number at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusewright.ir import interpret, ops
from fusewright.ir.dtypes import FLOAT16, FLOAT32, DType
from fusewright.ir.expr import Expr, postorder, typed_op
from fusewright.ir.loops.statements import (
    Block,
    Check,
    Fence,
    For,
    If,
    Kernel,
    Leave,
    Let,
    Print,
    Shown,
    Store,
    Unique,
    While,
)

EXTREMES: dict[str, Callable[..., Any]] = {"imin": min, "imax": max}
"""Bounds of loops that the planner makes."""
Failed = Callable[[Check, tuple[Any, ...], tuple[Any, ...]], Exception]


class LeftBlock(Exception):
    """A block is left."""

    def __init__(self, label: int) -> None:
        super().__init__(label)
        self.label = label


def run(
    kernel: Kernel,
    arrays: Sequence[Any],
    params: Sequence[Any],
    show: Callable[[str], None],
    failed: Failed,
) -> None:
    """Run a kernel on the arrays it is given, with one value for each parameter.

    `show` takes what is printed; `failed` makes the error of a check that does not hold.
    """
    machine = KernelMachine(kernel, arrays, params, show, failed)
    with np.errstate(all="ignore"):
        for number in kernel.scratch:
            machine.allocate(number)
        machine.block(kernel.body)


class KernelMachine:
    """What arrays and variables hold while statements run."""

    def __init__(
        self,
        kernel: Kernel,
        arrays: Sequence[Any],
        params: Sequence[Any],
        show: Callable[[str], None],
        failed: Failed,
    ) -> None:
        self.kernel = kernel
        self.arrays = dict(zip(kernel.given, arrays, strict=True))
        self.params = [d.numpy.type(v) for d, v in zip(kernel.dtypes, params, strict=True)]
        self.indices: dict[int, Any] = {}
        self.locals: dict[int, Any] = {}
        self.show = show
        self.failed = failed

    def allocate(self, number: int) -> None:
        """An array of the kernel's own; what it holds is never used."""
        buffer = self.kernel.buffers[number]
        shape = [int(self.value(extent)) for extent in buffer.extents]
        self.arrays[number] = np.zeros(shape, buffer.dtype.numpy)

    def block(self, body: Sequence[Any]) -> None:
        """Statements, one after the other."""
        for statement in body:
            RUN[type(statement)](self, statement)

    def value(self, root: Expr) -> Any:
        """The number an expression stands for here and now."""
        values: dict[Expr, Any] = {}
        for node in postorder([root]):
            values[node] = self._one(node, [values[arg] for arg in node.args])
        return values[root]

    def _one(self, node: Expr, operands: list[Any]) -> Any:
        if node.name == "const":
            return node.dtype.numpy.type(node.attr)
        if node.name == "param":
            return self._parameter(node.attr)
        if node.name == "index":
            return self.indices[node.attr]
        if node.name == "local":
            return self.locals[node.attr]
        if node.name == "load":
            return self.arrays[node.attr][tuple(map(int, operands))]
        return meaning(node, operands)

    def _parameter(self, number: Any) -> Any:
        """A parameter, or a part of a complex one."""
        if isinstance(number, tuple):
            value = self.params[number[0]]
            return value.imag if number[1] else value.real
        return self.params[number]


def meaning(node: Expr, operands: list[Any]) -> Any:
    """An operation on numbers, as NumPy computes it for whole arrays."""
    dtype = node.dtype
    if node.name == "cast":
        return _converted(operands[0], node.args[0].dtype, dtype)
    if node.name == "bitcast":
        return np.asarray(operands[0]).view(dtype.numpy)[()]
    if node.name in EXTREMES:
        return EXTREMES[node.name](*operands)
    row = ops.MAP.get(node.name)
    function = interpret.MEANING[node.name] if row is None else row.meaning
    # One-element arrays: NumPy's number types differ from its arrays in a few corners.
    result = function(*(np.asarray(operand).reshape(1) for operand in operands))
    return np.asarray(result).astype(dtype.numpy, copy=False)[0]


def _converted(value: Any, source: DType, target: DType) -> Any:
    if source is FLOAT16 and target.is_integer:
        value, source = np.float32(value), FLOAT32
    return interpret.convert(np.asarray(value).reshape(1), source, target)[0]


def _let(machine: KernelMachine, statement: Let) -> None:
    machine.locals[statement.local] = machine.value(statement.value)


def _store(machine: KernelMachine, statement: Store) -> None:
    place = tuple(int(machine.value(index)) for index in statement.indices)
    value = machine.value(statement.value)
    array = machine.arrays[statement.buffer]
    if statement.combine:
        dtype = statement.value.dtype
        combined = typed_op(statement.combine, dtype, statement.value, statement.value)
        value = meaning(combined, [array[place], value])
    array[place] = value


def _for(machine: KernelMachine, statement: For) -> None:
    bounds = [
        (dim.index, int(machine.value(dim.low)), int(machine.value(dim.high)))
        for dim in statement.dims
    ]

    def nest(depth: int) -> None:
        if depth == len(bounds):
            machine.block(statement.body)
            return
        number, low, high = bounds[depth]
        for position in range(low, high):
            machine.indices[number] = np.int64(position)
            nest(depth + 1)

    nest(0)


def _while(machine: KernelMachine, statement: While) -> None:
    while True:
        machine.block(statement.head)
        if not machine.value(statement.condition):
            return
        machine.block(statement.body)


def _if(machine: KernelMachine, statement: If) -> None:
    machine.block(statement.body if machine.value(statement.condition) else statement.orelse)


def _labelled(machine: KernelMachine, statement: Block) -> None:
    try:
        machine.block(statement.body)
    except LeftBlock as left:
        if left.label != statement.label:
            raise


def _leave(machine: KernelMachine, statement: Leave) -> None:
    raise LeftBlock(statement.label)


def shown(piece: Shown, parts: Sequence[Any]) -> str:
    """A printed value."""
    number = parts[0]
    if piece.imaginary is not None:
        number = np.stack(parts).view(np.result_type(number, np.complex64))[0]
    number = number.item() if piece.python else number
    if piece.conversion == "r":
        number = repr(number)
    elif piece.conversion == "s":
        number = str(number)
    return format(number, piece.spec) if piece.spec or not piece.conversion else number


def _print(machine: KernelMachine, statement: Print) -> None:
    parts = [
        piece if isinstance(piece, str) else shown(piece, list(map(machine.value, piece.values)))
        for piece in statement.pieces
    ]
    machine.show("".join(parts))


def _nothing(machine: KernelMachine, statement: Fence | Unique) -> None:
    """It only says something to the planner."""


def _check(machine: KernelMachine, statement: Check) -> None:
    if not machine.value(statement.condition):
        values = tuple(map(machine.value, statement.values))
        loops = tuple(machine.value(value).item() for _, value in statement.loops)
        raise machine.failed(statement, values, loops)


RUN: dict[type, Callable[[KernelMachine, Any], None]] = {
    Let: _let,
    Store: _store,
    For: _for,
    While: _while,
    If: _if,
    Block: _labelled,
    Leave: _leave,
    Print: _print,
    Check: _check,
    Fence: _nothing,
    Unique: _nothing,
}
