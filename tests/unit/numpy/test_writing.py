"""Every public function of NumPy's that can write into an argument writes into ours what it writes
into NumPy's; the list of them is NumPy's own documentation.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import fusewright as fw
import fusewright.numpy as ours

N = 30
REDUCTIONS = """
    sum prod mean std var min max amin amax all any
    nansum nanprod nanmean nanstd nanvar nanmin nanmax
"""
CASES = {
    "nan_to_num": ["np.nan_to_num(h, copy=False)", "np.nan_to_num(h, False, 5.0)"],
    "put": [
        "np.put(a, [1, 2, 3], [7, 8, 9])",
        "a.put([1, 2], 7)",
        "np.put(a, [-1, 950], 3, 'wrap')",
    ],
    "place": ["np.place(a, a > 0.5, [1.0, 2.0])"],
    "putmask": ["np.putmask(a, a > 0.5, 3)", "np.putmask(a[3], a[3] > 0, a[4])"],
    "copyto": ["np.copyto(a, 3.0, where=a > 0.5)", "np.copyto(a[::2], a[1::2])"],
    "fill_diagonal": [
        "np.fill_diagonal(a, 3.0)",
        "np.fill_diagonal(a[:, ::-1], [1, 2, 3], wrap=True)",
    ],
    "put_along_axis": ["np.put_along_axis(a, np.argmax(a, axis=1)[:, None], 99, 1)"],
    "median": ["np.median(a, overwrite_input=True)", "np.median(a, 0, o, True)"],
    "nanmedian": ["np.nanmedian(h, overwrite_input=True)", "np.nanmedian(a, axis=1, out=o)"],
    "percentile": [
        "np.percentile(a, 30, overwrite_input=True)",
        "np.percentile(a, 3, axis=0, out=o)",
    ],
    "nanpercentile": [
        "np.nanpercentile(h, 30, overwrite_input=True)",
        "np.nanpercentile(a, 3, axis=0, out=o)",
    ],
    "quantile": ["np.quantile(a, 0.3, overwrite_input=True)", "np.quantile(a, 0.3, axis=0, out=o)"],
    "nanquantile": [
        "np.nanquantile(a, 0.3, overwrite_input=True)",
        "np.nanquantile(a, 0.3, axis=0, out=o)",
    ],
    "apply_along_axis": [
        "np.apply_along_axis(lambda r: r.__setitem__(0, 5.0) or r.sum(), 1, a)",
        "np.apply_along_axis(lambda r: r.sort() or r[0], 0, a)",
        "np.apply_along_axis(lambda r: r[0], 0, a)",
    ],
    "apply_over_axes": [
        "np.apply_over_axes(lambda r, k: r.__setitem__(0, 5.0) or r.sum(k, keepdims=True), a, [0])"
    ],
    "nditer": [
        "[x.__setitem__(..., 2.0) for x in np.nditer(a, op_flags=['readwrite'])]",
        "[x.fill(y) for x, y in np.nditer([a, b], op_flags=[['readwrite'], ['readonly']])]",
        "[x.fill(4.0) for x in np.nditer(a, flags=['external_loop'], op_flags=['writeonly'])]",
    ],
    "piecewise": ["np.piecewise(a, [a < 0], [lambda v: v.__setitem__(0, 9.0) or v, 1.0])"],
    "random.shuffle": [
        "np.random.seed(0); np.random.shuffle(a)",
        "np.random.seed(0); np.random.shuffle(a[::2])",
    ],
    "random.Generator.shuffle": ["g.shuffle(a)", "g.shuffle(a, axis=1)", "g.shuffle(a[3])"],
    "random.Generator.permuted": ["g.permuted(a, axis=0, out=a)", "g.permuted(b, out=a)"],
    "random.Generator.random": ["g.random(out=a)", "g.random(out=a[0])"],
    "random.Generator.standard_normal": ["g.standard_normal(out=a)"],
    "random.Generator.standard_exponential": ["g.standard_exponential(out=a)"],
    "random.Generator.standard_gamma": ["g.standard_gamma(2.0, out=a)"],
    "ctypeslib.as_ctypes": ["np.ctypeslib.as_ctypes(a)[0].__setitem__(0, 42.0)"],
    "ctypeslib.ndpointer": ["memset(np.ctypeslib.ndpointer('f8', 2, flags='C,W'))(a, 0, 80)"],
    "ndarray.sort": ["a.sort()", "a.sort(axis=0)", "a[:, 3].sort()", "a.ravel().sort()"],
    "ndarray.partition": ["a.partition(3, axis=0)"],
    "ndarray.byteswap": ["a.byteswap(True)"],
    "ndarray.fill": ["a.fill(3)", "a[2].fill(4)"],
    "ndarray.flat": ["a.flat.__setitem__(slice(0, 9), 3)"],
    "ndarray.data": ["memoryview(a.data).cast('B').__setitem__(slice(0, 8), bytes(8))"],
    "ndarray.ctypes": ["ctypes.memset(a.ctypes.data, 0, 80)"],
    "ndarray.view": ["a.view(numpy.ndarray).__setitem__(3, 1.0)", "a.view('i8').__setitem__(3, 1)"],
    "from_dlpack": ["numpy.from_dlpack(a).__setitem__(3, 1.0)"],
    "at": ["np.add.at(a, ([0, 0], [1, 1]), 1.0)", "np.frompyfunc(max, 2, 1)(a, 0)"],
    "dot": ["np.dot(b, c, out=a)", "b.dot(c, out=a)"],
    "matmul": ["np.matmul(b, c, out=a)"],
    "vecdot": ["np.vecdot(b, c, out=o)"],
    "matvec": ["np.matvec(b, o.copy(), out=o)"],
    "vecmat": ["np.vecmat(o.copy(), b, out=o)"],
    "take": ["np.take(a, [[0] * N] * N, out=b, mode='clip')"],
    "choose": ["np.choose(k, [b, c], out=a)"],
    "compress": ["np.compress([True] * N, b, axis=0, out=a)"],
    "einsum": ["np.einsum('ij,jk', b, c, out=a)"],
    "concatenate": ["np.concatenate([b[:15], c[15:]], out=a)"],
    "concat": ["np.concat([b[:15], c[15:]], out=a)"],
    "stack": ["np.stack(list(b), out=a)"],
    "outer": ["np.outer(b[0], c[1], out=a)"],
    "clip": ["np.clip(b, 0, 0.5, out=a)", "a.clip(0, 0.5, out=a)"],
    "ptp": ["np.ptp(a, axis=0, out=o)"],
    "round": ["np.round(b, 1, out=a)", "a.round(1, out=a)"],
    "around": ["np.around(b, 1, out=a)"],
    "fix": ["np.fix(b, out=a)"],
    "isposinf": ["np.isposinf(h, out=a)"],
    "isneginf": ["np.isneginf(h, out=a)"],
    "linalg.multi_dot": ["np.linalg.multi_dot([b, c, b], out=a)"],
    "fft.fft": ["np.fft.fft(b, out=z)"],
    "fft.ifft": ["np.fft.ifft(b, out=z)"],
    "fft.fft2": ["np.fft.fft2(b, out=z)"],
    "fft.fftn": ["np.fft.fftn(b, out=z)"],
    "fft.ifftn": ["np.fft.ifftn(b, out=z)"],
    "fft.rfft": ["np.fft.rfft(b, out=z[:, :16])"],
    "fft.irfft": ["np.fft.irfft(z, out=np.empty((N, 58)))"],
    "fft.rfft2": ["np.fft.rfft2(b, out=z[:, :16])"],
    "fft.irfft2": ["np.fft.irfft2(z, out=np.empty((N, 58)))"],
    "fft.rfftn": ["np.fft.rfftn(b, out=z[:, :16])"],
    "fft.irfftn": ["np.fft.irfftn(z, out=np.empty((N, 58)))"],
    "fft.hfft": ["np.fft.hfft(z, out=np.empty((N, 58)))"],
    "fft.ihfft": ["np.fft.ihfft(b, out=z[:, :16])"],
    **{name: [f"np.{name}(a, axis=0, out=o)"] for name in REDUCTIONS.split()},
    **{
        name: [f"np.{name}(a, axis=0, out=k[0])"]
        for name in ["argmin", "argmax", "nanargmin", "nanargmax"]
    },
    **{
        name: [f"np.{name}(b, axis=0, out=a)"]
        for name in ["cumsum", "cumprod", "nancumsum", "nancumprod"]
    },
    "cumulative_sum": ["np.cumulative_sum(b, axis=0, out=a)"],
    "cumulative_prod": ["np.cumulative_prod(b, axis=0, out=a)"],
    "linalg.matmul": ["np.linalg.matmul(b, c)"],
    "linalg.trace": ["np.linalg.trace(b)"],
    "linalg.outer": ["np.linalg.outer(b[0], c[0])"],
    "linalg.vecdot": ["np.linalg.vecdot(b, c)"],
    "trace": ["np.trace(a[None].repeat(N, 0), out=o)"],
}
"""By the function: calls that write. `a` and `o` (a row), `z` (complex) and `h` (with NaN) are
written, `b`, `c` and `k` read, `g` is a generator of random numbers.
"""
APART = {
    "shares_memory": "writes nothing", "may_share_memory": "writes nothing",
    "isnat": "dates", "bitwise_count": "integers", "busday_offset": "dates", "is_busday": "dates",
    "busday_count": "dates", "frompyfunc": "makes a ufunc of objects", "nested_iters": "see nditer",
    "fft.ifft2": "NumPy's own does not write there", "memmap": "NumPy's own class",
    "info": "writes text", "savetxt": "a file", "save": "a file",
}  # fmt: skip
INTEGRAL = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "invert",
    "left_shift",
    "right_shift",
    "gcd",
    "lcm",
    "ldexp",
]


def values(np: Any, make: Any) -> dict[str, Any]:
    """The operands: NumPy's, or ours."""
    grid = numpy.sin(numpy.arange(900.0) * 3).reshape(N, N)
    holes = grid.copy()
    holes[3, 4], holes[5, 6], holes[7, 8] = numpy.nan, numpy.inf, -numpy.inf
    rows = {
        "a": grid, "b": grid * 2 + 1, "c": numpy.cos(grid), "h": holes, "o": grid[3],
        "z": grid * 1j,
        "k": (grid > 0).astype(int), "i": (grid * 9).astype(int), "j": abs(grid * 5).astype(int),
        "p": abs(grid) + 1.5,
    }  # fmt: skip
    return {name: make(value.copy()) for name, value in rows.items()} | {
        "np": np, "g": np.random.default_rng(5), "N": N, "memset": memset, "ctypes": ctypes,
        "numpy": numpy,
    }  # fmt: skip


def memset(pointer: Any) -> Any:
    function = ctypes.CDLL(None).memset
    function.argtypes = [pointer, ctypes.c_int, ctypes.c_size_t]
    return function


def outcome(text: str, np: Any, make: Any) -> tuple[dict[str, Any], type | None]:
    names = values(np, make)
    error = None
    try:
        exec(text, names)
    except Exception as raised:  # noqa: BLE001  (compared)
        error = type(raised)
    return {name: numpy.array(names[name]) for name in "abchozkij"}, error


def check(text: str) -> None:
    want, theirs = outcome(text, numpy, lambda value: value)
    got, mine = outcome(text, ours, fw.asarray)
    assert (mine is None) == (theirs is None), (text, mine, theirs)
    for name, value in want.items():
        numpy.testing.assert_allclose(
            got[name], value, rtol=1e-12, atol=1e-12, err_msg=f"{text}: {name}"
        )


@pytest.mark.parametrize("function", CASES)
def test_what_is_written(function: str) -> None:
    for text in CASES[function]:
        check(text)


def ufuncs() -> Iterator[numpy.ufunc]:
    for name in dir(numpy):
        found = getattr(numpy, name)
        if isinstance(found, numpy.ufunc) and found.__name__ == name and found.signature is None:
            yield found


@pytest.mark.parametrize("ufunc", [*ufuncs()], ids=lambda ufunc: ufunc.__name__)
def test_targets_of_ufuncs(ufunc: numpy.ufunc) -> None:
    name = ufunc.__name__
    operands = "i, j" if name in INTEGRAL else "p, p" if name in ("arccosh", "log") else "b, c"
    operands = ", ".join(operands.split(", ")[: ufunc.nin])
    target = "i" if name in INTEGRAL and name != "ldexp" else "a"
    targets = ", ".join([target, "None"][: ufunc.nout])
    for text in (
        f"np.{name}({operands}, out=({targets}{',' * (ufunc.nout == 1)}))",
        f"np.{name}({operands}, {targets if name not in ('maximum', 'minimum') else 'out=a'})",
    ):
        with numpy.errstate(all="ignore"):
            check(text)


def documented() -> set[str]:
    """Public functions whose documentation names an argument that is written into."""
    found = set()
    homes = {"": numpy, "linalg.": numpy.linalg, "fft.": numpy.fft}
    homes["random.Generator."] = numpy.random.Generator
    for prefix, home in homes.items():
        for name in getattr(home, "__all__", None) or dir(home):
            value = getattr(home, name, None)
            if name.startswith("_") or isinstance(value, type | numpy.ufunc) or not callable(value):
                continue
            head = (value.__doc__ or "")[:400].partition("\n\n")[0]
            if re.search(r"\b(out|overwrite_input)\b\s*[=,)]", head) or name in CASES:
                found.add(prefix + name)
    return found


def test_every_function_that_can_write_is_listed() -> None:
    assert documented() - CASES.keys() - APART.keys() == set()
    assert len(documented()) > 60
