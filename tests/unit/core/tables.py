"""What the programs of `forms` are made from."""

from __future__ import annotations

from typing import Any

import numpy as np

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift",
    "rshift", "lt", "le", "eq", "ne", "gt", "ge",
)  # fmt: skip
INPLACE = (
    "iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor",
    "ilshift", "irshift",
)  # fmt: skip
UNARY = ("neg", "pos", "abs", "invert")
NUMBERS: dict[str, Any] = {
    "True": True, "0": 0, "2": 2, "3": 3, "-3": -3, "300": 300, "2**40": 2**40, "2**80": 2**80,
    "0.5": 0.5, "2.0": 2.0, "-0.0": -0.0, "nan": float("nan"), "1e300": 1e300, "2j": 2j,
    "float64": np.float64(1.5), "float32": np.float32(1.5), "int8": np.int8(3),
    "bool_": np.True_, "uint64": np.uint64(2**63), "0-d": np.array(2.5), "None": None,
    "text": "ab", "list": [1, 2, 3],
}  # fmt: skip
SHAPES = ((), (1,), (3,), (2, 3), (2, 1), (0,), (2, 0), (1, 1, 3), (4,))
KEYS: dict[str, Any] = {
    "1": 1, "-1": -1, "9": 9, "2**70": 2**70, "True": True, "1.0": 1.0, "None": None, "...": ...,
    "1:": slice(1, None), "::-1": slice(None, None, -1), "5:1:-2": slice(5, 1, -2),
    "::0": slice(None, None, 0), "2:2": slice(2, 2), "-9:9": slice(-9, 9), "a:": slice("a", None),
    "1, 2": (1, 2), ":, 1": (slice(None), 1), "..., 1": (..., 1), "1, ...": (1, ...),
    "..., ...": (..., ...), "None, 1:": (None, slice(1, None)), "1, 1, 1, 1": (1,) * 4,
    "[0, 1]": [0, 1], "int8": np.int8(1), "()": (), "(1,)": (1,), "text": "a",
    "many": (None,) * 20, "-1, ::2": (-1, slice(None, None, 2)),
}  # fmt: skip
UFUNCS = ("add", "maximum", "sqrt", "exp", "arctan2", "isnan", "logical_and", "power", "negative",
          "divide", "square", "left_shift", "equal", "conjugate", "hypot", "floor")  # fmt: skip
