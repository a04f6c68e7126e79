"""Fusewright: many small steps in, a few large, fast kernels out.

`import fusewright as fw` brings the names below, `import fusewright.numpy as np` (also `fw.numpy`)
NumPy's names: operations on large arrays are recorded, and run when a value is asked for.

Values: `asarray` makes a lazy `Array`; `evaluate` computes several together, `sync` all that are
pending; in a block of `lazy` statements on shared memory wait for its end.

What runs, and why: `explain` (text, HTML in notebooks), `show` (the loops, or machine code), `info`
(for a bug report), `cache_info` and `cache_clear` (compiled code), `__version__`.

Faster calls: `jit` records a function once and replays it; `kernel` compiles one of loops, `func`
one that kernels call.  In kernels there are `ndrange`, `grouped` and `static` for loops, `vector`
and `local` for small arrays, `random`, `min`, `max`, `nofuse`, `assume_unique`, and `atomic_add`,
`atomic_sub`, `atomic_min`, `atomic_max`, `atomic_and`, `atomic_or`, `atomic_xor`.

Settings: `options` changes them in a `with` block; `help(fusewright.options)` lists them.

Recurrence relations: `recurrence` compiles what `Family`, `LinearMap` and `Accumulate` state.

Errors: a `FusewrightError` is the program's to mend, with a line and a code (`fusewright help
FW101`); an `InternalError` is ours.

`help(fusewright.kernel)` and so on say more; the command `fusewright help` does, too.
"""

# ruff: noqa: F403, F405 (the names of `public` are all there are)
from typing import TYPE_CHECKING, Any

import fusewright._core  # noqa: F401  (it refuses an interpreter without the GIL: here, at once)

if TYPE_CHECKING:
    from fusewright import numpy
    from fusewright.public import *

__version__ = "0.1.0"

__all__ = [
    "Accumulate",
    "Array",
    "Family",
    "FusewrightError",
    "InternalError",
    "LinearMap",
    "__version__",
    "asarray",
    "assume_unique",
    "atomic_add",
    "atomic_and",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_sub",
    "atomic_xor",
    "cache_clear",
    "cache_info",
    "evaluate",
    "explain",
    "func",
    "grouped",
    "info",
    "jit",
    "kernel",
    "lazy",
    "local",
    "max",
    "min",
    "ndrange",
    "nofuse",
    "numpy",
    "options",
    "random",
    "recurrence",
    "show",
    "static",
    "sync",
    "vector",
]


if not TYPE_CHECKING:  # to type checkers all names are there, and others are mistakes

    def __getattr__(name: str) -> Any:
        """The drop-in, or all that a program calls: both are loaded when they are first used."""
        from fusewright.base.later import load  # not before a name is wanted

        if name == "numpy":
            return load("fusewright.numpy")
        if name not in __all__:
            raise AttributeError(f"module 'fusewright' has no attribute {name!r}")
        public = load("fusewright.public")
        found = {each: vars(public)[each] for each in __all__ if each in vars(public)}
        globals().update(found)
        if name not in found:
            raise AttributeError(f"{name!r} is not there yet: fusewright is being imported")
        settle()
        return found[name]


def __dir__() -> list[str]:
    return __all__


def settle(drop_in: bool = False) -> None:
    """Take the look-up function away when all names are here: CPython reads the attributes of a
    module that has none at once.
    """
    names = globals()
    if (drop_in or "numpy" in names) and all(each in names for each in __all__ if each != "numpy"):
        names.pop("__getattr__", None)
