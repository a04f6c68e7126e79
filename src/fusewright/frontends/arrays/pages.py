"""Arrays in notebooks: what a cell shows of one, without computing what nobody has asked for.

Jupyter asks an object for text and HTML at once, and text is the values: a cell that ends with `y`
would compute it.  A notebook gets the shape, the type and the pending operations instead; a
terminal, and arrays that NumPy would print whole, get the values as everywhere.
"""

from __future__ import annotations

import sys
from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base.later import later
from fusewright.base.words import memory
from fusewright.frontends.arrays import sharing
from fusewright.frontends.arrays.core import Handle
from fusewright.ir.graph import LEAF, SCALAR, VIEW, Node

if TYPE_CHECKING:
    from fusewright.ir import names as called
else:
    called = later("fusewright.ir.names")

MOST_WALKED = 1000
"""Pending operations that are counted: a cell must not wait for a long history."""
MOST_NAMED = 8
"""Kinds of operations that are named."""
CORNER = 5
"""Rows and columns of the part that a notebook recommends to look at."""


def bundle(array: Handle) -> dict[str, str] | None:
    """The forms a notebook shows, by MIME type; None where the values themselves are shown."""
    if not _in_notebook() or array._node.dtype.numpy.hasobject:
        return None
    if np.prod(array._shape, dtype=float) <= np.get_printoptions()["threshold"]:
        return None
    node = array._node
    head = f"{node.dtype} array of shape {'×'.join(map(str, node.shape))}, {_size(array)}"
    if node.kind == LEAF:
        values = repr(sharing.content(array))
        html = f"<p>{head}</p>{_details('values', values)}"
        return {"text/plain": values, "text/html": html}
    work = _pending(node)
    advice = (
        "print(x), fw.evaluate(x) or any use of a value computes it; fw.explain(x) shows how; "
        f"x{_corner(node.shape)} shows a corner and computes what that needs"
    )
    html = f"<p>{head}; <b>pending</b>: {escape(work)}</p><p><small>{advice}</small></p>"
    return {"text/plain": f"<{head}; pending: {work}; {advice}>", "text/html": html}


def _in_notebook() -> bool:
    """Whether the session that displays shows HTML."""
    shell = sys.modules.get("IPython")
    session: Any = shell.get_ipython() if shell is not None else None
    formatter = getattr(session, "display_formatter", None)
    return "text/html" in getattr(formatter, "active_types", ())


def _corner(shape: tuple[int, ...]) -> str:
    """`[0, :5, :5]`: the index of a part that is small enough to be printed."""
    kept = [f":{CORNER}" if extent > CORNER else ":" for extent in shape[-2:]]
    return f"[{', '.join(['0'] * len(shape[:-2]) + kept)}]"


def _size(array: Handle) -> str:
    nbytes = array._node.dtype.numpy.itemsize * int(np.prod(array._shape, dtype=object))
    return memory(nbytes)


def _pending(root: Node) -> str:
    """`5 operations (2 multiply, add, exp, sum)`: what is to be computed, views left out."""
    seen, stack, names = {id(root)}, [root], Counter[str]()
    while stack and len(seen) <= MOST_WALKED:
        node = stack.pop()
        if node.kind not in (LEAF, SCALAR, VIEW):
            names[called.name_of(node)] += 1
        for operand in node.args:
            if id(operand) not in seen and operand.kind != LEAF:
                seen.add(id(operand))
                stack.append(operand)
    total = sum(names.values())
    more = "more than " if stack else ""
    common = [f"{n} {name}" if n > 1 else name for name, n in names.most_common(MOST_NAMED)]
    rest = ", ..." if len(names) > MOST_NAMED else ""
    return f"{more}{total} operation{'' if total == 1 else 's'} ({', '.join(common)}{rest})"


def _details(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary><pre>{escape(text)}</pre></details>"
