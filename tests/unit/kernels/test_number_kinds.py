"""Whether what a function makes of a number is Python's number or NumPy's decides in which type it
meets float32 and complex64: kernels keep them apart as CPython does.
"""

from __future__ import annotations

import math
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusewright as fw

CALLS = (
    "np.imag(0.5j)", "np.real(0.5j)", "np.imag(z)", "np.real(z)", "np.real(x)", "np.real(k)",
    "np.imag(k)", "z.imag", "abs(z)", "np.abs(z)", "np.abs(x)", "abs(x)", "np.sqrt(x)",
    "math.sqrt(x)", "np.maximum(x, 1.5)", "max(x, 1.5)", "np.minimum(k, 3)", "min(k, 3)",
    "np.floor(x)", "math.floor(x)", "np.round(x)", "round(x)", "np.power(x, 2)", "pow(x, 2)",
    "np.float64(x)", "float(x)", "np.float32(x)", "np.int64(k)", "int(x)", "np.mod(x, 2)", "x % 2",
    "np.clip(x, 0, 1)", "np.where(x > 1, x, 2.0)", "np.hypot(x, 1.0)", "math.hypot(x, 1.0)",
    "np.angle(z)", "np.pi", "math.pi",
)  # fmt: skip
PROGRAM = """
import math
import numpy as np
def program(c, d, x, k, z):
    c[0] = c[1] * ({call}) + c[2]
    d[0] = d[1] / (3 + ({call}))
"""


@pytest.mark.parametrize("call", CALLS)
def test_numbers_keep_whose_they_are(call: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(call=call))
    function: Any = runpy.run_path(str(path))["program"]
    kernel = fw.kernel(function)
    rng = np.random.default_rng(1)
    for _ in range(4):
        c = rng.random(3).astype(np.float32)
        d = (rng.random(3) + 1j * rng.random(3)).astype(np.complex64)
        given = float(rng.random() * math.e), int(rng.integers(5)), complex(*rng.random(2))
        ours = c.copy(), d.copy()
        function(c, d, *given)
        kernel(*ours, *given)
        assert (ours[0].tobytes(), ours[1].tobytes()) == (c.tobytes(), d.tobytes())
