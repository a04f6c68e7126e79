"""NumPy's names over Fusewright's arrays: `import fusewright.numpy as np` runs a NumPy program.

Arrays of up to 512 elements, and calls without an array of ours, are NumPy's own (decision 0016).
Calls on larger arrays are recorded and computed when a value is asked for. What has no recorded
form runs in NumPy as a named step (`fw.explain` shows it, `strict=True` refuses it).

Where a program can see a difference from NumPy:

* Compiled code raises no warnings for floating-point errors (nor for the mean of nothing); where
  `errstate` or `seterr` of this module let errors raise or call, nothing is compiled.
* `empty` gives zeros.
* A step NumPy runs returns a new array, also where NumPy would return a view (`as_strided`).
* What converts an array (`memoryview(x)`, C code, NumPy's own `asarray`) sees it and cannot write
  to it: `x.data` and `x.view(np.ndarray)` can be written to.
"""

from __future__ import annotations

import sys

import numpy as _numpy

from fusewright.frontends.arrays import methods, protocols
from fusewright.numpy import (
    arranging,
    calculus,
    choosing,
    dispatch,
    elementwise,
    files,
    filling,
    float_errors,
    instant,
    joining,
    kinds,
    laying,
    lending,
    linalg,
    missing,
    modules,
    ordering,
    padding,
    products,
    standard,
    statistics,
    types,
    ufuncs,
)

TABLES = (
    ufuncs.ALIASES, elementwise.EXPORTS, statistics.EXPORTS, missing.EXPORTS, calculus.EXPORTS,
    filling.EXPORTS, arranging.EXPORTS, joining.EXPORTS, choosing.EXPORTS, ordering.EXPORTS,
    products.EXPORTS, kinds.EXPORTS, files.EXPORTS, padding.EXPORTS, types.EXPORTS,
    standard.EXPORTS, modules.EXPORTS, float_errors.EXPORTS,
)  # fmt: skip
MADE = laying.in_order({name: value for table in TABLES for name, value in table.items()})
RECORDED = instant.quick("", MADE)
RECORDED |= lending.in_front_of(RECORDED)
RECORDED |= standard.extended(RECORDED)
EXPORTS = dispatch.in_front_of(_numpy, RECORDED)
dispatch.annotate("", EXPORTS, _numpy)
__all__ = [*_numpy.__all__, "erf", "erfc"]
__getattr__ = modules.lookup("", EXPORTS)

# Plain module attributes, because a call of `np.sin` must not pay for a look-up function.
globals().update(EXPORTS)
methods.functions.update(
    {name: value for name, value in RECORDED.items() if not isinstance(value, type)}
    | {f"linalg.{name}": value for name, value in linalg.RECORDED.items()}
)
protocols.namespace[:] = [sys.modules[__name__]]
sys.modules["fusewright"].settle(drop_in=True)
