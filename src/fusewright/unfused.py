"""What the core needs to run requests operation by operation (`_core/unfused.c`): all that a
process loads for the first of them.  The driver comes with the first one that the core leaves.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright._core import native
from fusewright.base.later import later
from fusewright.ir import ops
from fusewright.ir.dtypes import ROWS
from fusewright.ir.graph import Node
from fusewright.runtime.listening import listeners

if TYPE_CHECKING:
    from fusewright.targets.reference import interpreter
else:
    interpreter = later("fusewright.targets.reference.interpreter")


def meaning(node: Node, operands: list[Any]) -> Any:
    """What a node means to NumPy."""
    return interpreter.MEANINGS[node.kind](node, [np.asarray(operand) for operand in operands])


def _connect() -> None:
    """Tell the core how to run operations one by one, where this NumPy lets it."""
    with suppress(ImportError, AttributeError):
        # Not public: without them new work is interpreted in Python, or compiled at once.
        from numpy._core.umath import _extobj_contextvar, _make_extobj

        functions: dict[str, Any] = {name: ops.MAP[name].meaning for name in ops.EXACT - {"cast"}}
        functions["where"] = np.where
        table = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]
        quiet = _make_extobj(all="ignore")
        numbers = tuple(row.numpy.num for row in ROWS)
        known = functions, ops.EXACT_PARTS, meaning
        native.set_unfused(*known, _extobj_contextvar, quiet, table, np.ufunc, numbers)
    native.set_listeners(listeners)


if native is not None:
    _connect()
