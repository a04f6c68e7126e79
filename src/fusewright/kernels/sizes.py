"""The sizes of a call's new arrays, from its numbers: computed anew in each call, so as a function
of Python's where they are sums, products and whole quotients of integers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, postorder
from fusewright.kernels.specialise import computed

Shape = tuple[int, ...]
_SPELLED = {"add": "+", "subtract": "-", "multiply": "*", "floor_divide": "//", "remainder": "%"}


def shape_of(
    extents: Sequence[Expr], constants: Mapping[int, int], places: Mapping[int, int]
) -> Shape | Callable[[Sequence[Any]], Shape]:
    """The extents, or a function of a call's arguments; parameters are `constants`, or at these
    `places` among the arguments.
    """
    used = {n.attr for n in postorder(extents) if n.name == "param"}
    if used <= constants.keys():
        return tuple(int(computed(extent, constants)) for extent in extents)
    texts = [_text(extent, constants, places) for extent in extents]
    if None not in texts:
        made: Callable[[Sequence[Any]], Shape] = eval(
            f"lambda args: ({''.join(f'{text},' for text in texts)})"
        )
        return made

    def slow(args: Sequence[Any]) -> Shape:
        known = {**constants, **{n: args[place] for n, place in places.items() if n in used}}
        return tuple(int(computed(extent, known)) for extent in extents)

    return slow


def _text(root: Expr, constants: Mapping[int, int], places: Mapping[int, int]) -> str | None:
    found: dict[Expr, str] = {}
    for node in postorder([root]):
        if node.dtype is not INT64:
            return None
        inner = [found[arg] for arg in node.args]
        if node.name == "const":
            found[node] = repr(node.attr)
        elif node.name == "param":
            known = constants.get(node.attr)
            found[node] = f"args[{places[node.attr]}]" if known is None else repr(known)
        elif node.name in _SPELLED and len(inner) == 2:
            if node.name in ("floor_divide", "remainder") and node.args[1].name != "const":
                return None
            found[node] = f"({inner[0]} {_SPELLED[node.name]} {inner[1]})"
        else:
            return None
    return found[root]
