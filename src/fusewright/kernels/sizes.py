"""The sizes of a call's new arrays, from its numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fusewright.ir.expr import Expr, postorder
from fusewright.kernels.python_functions import REFUSALS, function_of, text_of
from fusewright.kernels.specialise import computed

Shape = tuple[int, ...]


def shape_of(
    extents: Sequence[Expr], constants: Mapping[int, int], places: Mapping[int, int]
) -> Shape | Callable[[Sequence[Any]], Shape]:
    """The extents, or a function of a call's arguments; parameters are `constants`, or at these
    `places` among the arguments.
    """
    used = {n.attr for n in postorder(extents) if n.name == "param"}
    if used <= constants.keys():
        return tuple(int(computed(extent, constants)) for extent in extents)

    def place(number: int) -> str:
        known = constants.get(number)
        return f"args[{places[number]}]" if known is None else repr(known)

    def slow(args: Sequence[Any]) -> Shape:
        known = {**constants, **{n: args[place] for n, place in places.items() if n in used}}
        return tuple(int(computed(extent, known)) for extent in extents)

    texts = [text_of(extent, place) for extent in extents]
    if None in texts:
        return slow
    quick = function_of(f"({''.join(f'{text},' for text in texts)})")

    def shape(args: Sequence[Any]) -> Shape:
        try:
            return quick(args)  # type: ignore[no-any-return]
        except REFUSALS:
            return slow(args)

    return shape
