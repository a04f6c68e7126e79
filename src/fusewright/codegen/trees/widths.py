"""How many lanes a vector loop over arrays has."""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.base.figures import IN_FLIGHT
from fusewright.ir.expr import Expr, postorder

AVX2 = 32
"""Bytes of a vector."""
LIGHT = 3 * IN_FLIGHT
"""Expressions in a body: below this, two machine vectors at a time hide the latency of one."""


def width_of(bodies: Sequence[Expr], vector_bytes: int, large: bool) -> int:
    """Lanes of a vector loop whose bodies are these primitives: one machine vector of the widest
    type, two where the body is light; a vector of AVX2 where it does little but move, which from
    the second level of cache is quicker (an addition by 8 %).
    """
    nodes = list(postorder(bodies))
    sizes = {n.dtype.itemsize for n in nodes if n.name not in ("const", "index")}
    widest = max(1, *sizes, *(body.dtype.itemsize for body in bodies))
    inner = sum(n.name not in ("const", "index", "load", "param") for n in nodes)
    if not large and inner <= sum(n.name == "load" for n in nodes):
        return min(vector_bytes, AVX2) // widest
    return vector_bytes * (2 if len(nodes) < LIGHT else 1) // widest
