"""What `strict` refuses, with an error at the user's line; `ir.library_steps` has the table of what
`strict=True` lets pass.
"""

from __future__ import annotations

from fusewright.base import hooks
from fusewright.base.errors import StrictError
from fusewright.base.options import current
from fusewright.ir.graph import PART, PRODUCT, InPlace, Node
from fusewright.ir.library_steps import UNCOMPILED, family_of


def reason(name: str, why: str, library: str) -> str:
    """Why a step is not compiled: `library` is said of the steps of the table alone."""
    return UNCOMPILED if why == library and family_of(name) is None else why


def refuse(name: str, why: str) -> None:
    """Under `strict=True`, an error unless the step is in the table; under `"all"` in any case."""
    strict, family = current().strict, family_of(name)
    if family is None:
        kind, allowing, what = "uncompiled", False, why
    elif strict == "all":
        kind, allowing, what = "library", True, family.why
    else:
        return
    raise StrictError(
        f"{name} would run as an uncompiled step in NumPy",
        why=f"{what}, and strict={strict!r} forbids {kind} steps",
        help=f"write it with supported functions, or use fw.options(strict={allowing})",
    )


def refuse_node(node: Node, pending: list[Node]) -> None:
    """The same of a value that has just been recorded, by what the code generators compile; one
    that is refused is not `pending`.
    """
    if node.kind in (PART, PRODUCT) or isinstance(node.value, InPlace):
        return
    why = hooks.why_uncompiled(node)
    if why:
        try:
            refuse(node.op, why)
        except StrictError:
            pending.remove(node)
            raise
