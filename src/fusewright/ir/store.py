"""Anything that holds expressions, as bytes: these are kept as a table, operands first, whatever
their depth.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from fusewright.ir.expr import Expr, postorder, rebuilt

Row = tuple[str, tuple[int, ...], Any, Any]


class _Writer(pickle.Pickler):
    """Notes the expressions on its way; each is its number in the table."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=5)
        self.numbers: dict[Expr, int] = {}

    def persistent_id(self, obj: Any) -> int | None:
        if type(obj) is not Expr:
            return None
        for node in postorder([obj], self.numbers):
            self.numbers[node] = len(self.numbers)
        return self.numbers[obj]


class _Reader(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, table: list[Expr]) -> None:
        super().__init__(file)
        self.table = table

    def persistent_load(self, pid: int) -> Expr:
        return self.table[pid]


def dumps(value: Any) -> bytes:
    """The bytes of a value."""
    file = io.BytesIO()
    writer = _Writer(file)
    writer.dump(value)
    numbers = writer.numbers
    rows: list[Row] = [
        (node.name, tuple(numbers[arg] for arg in node.args), node.dtype, node.attr)
        for node in numbers
    ]
    return pickle.dumps((rows, file.getvalue()), protocol=5)


def loads(data: bytes) -> Any:
    """The value of such bytes; a damaged file makes this raise anything."""
    rows, content = pickle.loads(data)
    table: list[Expr] = []
    for name, args, dtype, attr in rows:
        table.append(rebuilt(name, tuple(table[arg] for arg in args), dtype, attr))
    return _Reader(io.BytesIO(content), table).load()
