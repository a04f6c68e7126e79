"""`pk.atomic_fetch_add` and its like: what they do in plain Python, and which operation it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

COMBINE: dict[str, str] = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "min": "minimum",
    "max": "maximum", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "mod": "fmod", "lshift": "left_shift", "rshift": "right_shift", "increment": "add",
}  # fmt: skip
"""The operation of an update in one step, in the element's own type."""
OPERATOR: dict[str, str] = {**COMBINE, "div": "floor_divide", "mod": "remainder"}
"""What it is among C's operators, where that is something else."""
_PLAIN: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b if isinstance(a, float) else int(a / b),
    "min": min,
    "max": max,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "mod": lambda a, b: int(math.fmod(a, b)),
    "lshift": lambda a, b: a << b,
    "rshift": lambda a, b: a >> b,
}


def _atomic(name: str, public: str) -> Callable[[Any, Any, Any], Any]:
    update = _PLAIN[name]

    def function(view: Any, indices: Any, value: Any) -> Any:
        place = tuple(int(index) for index in indices)
        memory = getattr(view, "data", view)
        old = memory[place]
        memory[place] = update(old.item(), value)
        return old

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"Update an element by `{name}` in one step; returns the old value."
    return function


atomic_fetch_add = _atomic("add", "atomic_fetch_add")
atomic_fetch_sub = _atomic("sub", "atomic_fetch_sub")
atomic_fetch_mul = _atomic("mul", "atomic_fetch_mul")
atomic_fetch_div = _atomic("div", "atomic_fetch_div")
atomic_fetch_mod = _atomic("mod", "atomic_fetch_mod")
atomic_fetch_min = _atomic("min", "atomic_fetch_min")
atomic_fetch_max = _atomic("max", "atomic_fetch_max")
atomic_fetch_and = _atomic("and", "atomic_fetch_and")
atomic_fetch_or = _atomic("or", "atomic_fetch_or")
atomic_fetch_xor = _atomic("xor", "atomic_fetch_xor")
atomic_fetch_lshift = _atomic("lshift", "atomic_fetch_lshift")
atomic_fetch_rshift = _atomic("rshift", "atomic_fetch_rshift")
atomic_add = _atomic("add", "atomic_add")


def atomic_increment(view: Any, indices: Any) -> Any:
    """Add 1 to an element in one step."""
    return atomic_add(view, indices, 1)


def atomic_compare_exchange(view: Any, indices: Any, expected: Any, desired: Any) -> Any:
    """Write `desired` where the element is `expected`; returns the old value."""
    place = tuple(int(index) for index in indices)
    memory = getattr(view, "data", view)
    old = memory[place]
    if old == expected:
        memory[place] = desired
    return old


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": atomic_fetch_add, "sub": atomic_fetch_sub, "mul": atomic_fetch_mul,
    "div": atomic_fetch_div, "mod": atomic_fetch_mod, "min": atomic_fetch_min,
    "max": atomic_fetch_max, "and": atomic_fetch_and, "or": atomic_fetch_or,
    "xor": atomic_fetch_xor, "lshift": atomic_fetch_lshift, "rshift": atomic_fetch_rshift,
    "increment": atomic_increment,
}  # fmt: skip
