"""A program of single operations of every kind that programs use; prints which were compiled in
front of it.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

import fusewright as fw
import fusewright.numpy as fnp
from fusewright import driver

TYPES = ("float64", "float32", "int64", "int32", "uint8", "bool")
ONE = (
    "sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "arctan", "arcsin", "exp2", "log10", "log2",
    "log1p", "expm1", "cbrt", "square", "sign", "sinh", "cosh", "deg2rad", "sinc", "round",
)  # fmt: skip
TWO = (
    "arctan2", "hypot", "power", "float_power", "fmod", "remainder", "floor_divide", "logaddexp",
    "heaviside", "divide", "maximum", "copysign",
)  # fmt: skip
ALONG = ("sum", "mean", "std", "var", "max", "min", "argmax", "any", "nansum", "median", "ptp")
SHAPES = ((1000,), (40, 50), (8, 10, 3, 16))
compiled: list[str] = []
asked = [""]
usual = driver.compile_slice


def noted(*given: Any) -> Any:
    compiled.append(asked[0])
    return usual(*given)


def ask(name: str, *operands: Any, **named: Any) -> None:
    shown = [getattr(each, "dtype", each) for each in operands]
    asked[0] = f"{name} {shown} {named}"
    before = len(compiled)
    try:
        found = np.asarray(getattr(fnp, name)(*operands, **named))
    except (TypeError, ValueError):
        return  # NumPy refuses it, too
    if found.dtype in (np.float16, np.int8):  # of booleans and bytes: rarely wanted
        del compiled[before:]


def main() -> None:
    driver.compile_slice = noted
    given = {
        (dtype, shape): fw.asarray((np.arange(np.prod(shape)).reshape(shape) % 7 + 1).astype(dtype))
        for dtype in TYPES
        for shape in SHAPES
    }
    with fw.options(interpret=True):
        for (_, shape), x in given.items():
            for name in ONE:
                ask(name, x)
            for name in ALONG:
                rank = len(shape)
                for many in range(1, rank + 1):
                    for axes in combinations(range(rank), many):
                        ask(name, x, axis=axes[0] if many == 1 else axes)
            if len(shape) == 2:
                for name in TWO:
                    ask(name, x, 2)
                    ask(name, 2.5, x)
                    for other in TYPES:
                        ask(name, x, given[other, shape])
                        ask(name, given[other, shape][:, :1], x[:1])
    print(len(compiled), *dict.fromkeys(compiled), sep="\n")


if __name__ == "__main__":
    main()
