"""A call of every public name of NumPy's, generated: the first of a list of argument lists that
NumPy itself takes.

A call is Python text with `np` for the library, so that the same text is run with NumPy and with
the drop-in.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import operator
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

LIBRARIES = ("", "linalg", "fft", "random")
"""Modules of NumPy's whose names are called."""
ARGUMENTS = (
    "a", "a, b", "a, 2", "i", "i, i", "i, 2", "m", "m, a", "s", "s, s", "s, r", "a, b, a",
    "m, a, b",
    "[a, b]", "(a, b)", "a, i", "a, i, a", "z", "s, 0", "s, 0, 1", "s, (1, 0)", "2, 3", "3", "2",
    "a, [(0, 1, 2)]", "np.float64", "np.float64, np.float32", "'f8'", "c3, c3", "f, a", "'a'", "",
)  # fmt: skip
"""Argument lists in the order in which they are tried; the names are those of `operands`."""
CHOSEN = {
    "zeros": "3", "ones": "3", "empty": "3", "full": "3, 2.0", "arange": "3", "eye": "3",
    "identity": "3", "tri": "3", "indices": "(2, 2)", "fromfunction": "f2, (2, 2)",
    "linspace": "0.0, 1.0, 9", "logspace": "0.0, 1.0, 9", "geomspace": "1.0, 2.0, 9",
    "array": "[1.0, 2.0]", "asarray": "[1.0, 2.0]", "outer": "r, r", "kron": "r, r",
    "meshgrid": "r, r", "vander": "r, 3", "ix_": "ir, ir", "where": "m, a, b",
    "clip": "a, 0.2, 0.5",
    "interp": "a, t, b", "searchsorted": "t, a", "digitize": "a, t", "einsum": "'i,i->', a, b",
    "einsum_path": "'i,i->', a, b", "take": "a, i", "put": "w, i, a", "place": "w, m, a",
    "putmask": "w, m, a", "copyto": "w, a", "compress": "m, a", "extract": "m, a",
    "choose": "ones, [a, b]", "select": "[m, m], [a, b]", "piecewise": "a, [m, ~m], [1.0, 2.0]",
    "apply_along_axis": "f, 0, s", "apply_over_axes": "np.sum, s, [0]", "frompyfunc": "f, 1, 1",
    "vectorize": "f", "histogram": "a, 5", "histogram2d": "a, b, 3", "bincount": "i",
    "unravel_index": "2, (3, 3)", "ravel_multi_index": "(1, 1), (3, 3)", "percentile": "a, 50",
    "quantile": "a, 0.5", "nanpercentile": "a, 50", "nanquantile": "a, 0.5", "pad": "a, 1",
    "roll": "a, 1", "rollaxis": "s, 1", "moveaxis": "s, 0, 1", "swapaxes": "s, 0, 1",
    "transpose": "s", "matrix_transpose": "s", "diag": "s", "diagonal": "s", "trace": "s",
    "tril": "s", "triu": "s", "rot90": "s", "fliplr": "s", "flipud": "s", "reshape": "a, (-1,)",
    "resize": "a, (3,)", "broadcast_to": "a, (2, a.size)", "tile": "a, 2", "repeat": "a, 2",
    "split": "a, 1", "array_split": "a, 2", "hsplit": "s, 1", "vsplit": "s, 1",
    "dsplit": "s.reshape(*s.shape, 1), 1", "delete": "a, 1", "insert": "a, 1, 0.5",
    "append": "a, b", "take_along_axis": "a, i, 0", "put_along_axis": "w, i, a, 0",
    "fill_diagonal": "ws, 0.5", "partition": "a, 1", "argpartition": "a, 1", "in1d": "i, i",
    "isin": "i, i", "cross": "c3, c3", "dot": "s, s", "vdot": "a, b", "inner": "a, b",
    "matmul": "s, s", "vecdot": "a, b", "vecmat": "r, s", "matvec": "s, r", "tensordot": "s, s",
    "convolve": "a, r", "correlate": "a, r", "polyfit": "a, b, 1", "polyval": "r, a",
    "roots": "c3", "poly": "c3", "polyadd": "c3, c3", "polysub": "c3, c3", "polymul": "c3, c3",
    "polydiv": "c3, c3", "polyint": "c3", "polyder": "c3", "i0": "a", "kaiser": "5, 2.0",
    "gradient": "a", "trapezoid": "a", "unwrap": "a", "ediff1d": "a", "lexsort": "(a, b)",
    "nan_to_num": "a", "frombuffer": "a.tobytes()", "fromiter": "[1.0, 2.0], float",
    "fromstring": "'1 2', sep=' '", "dstack": "[a, b]", "block": "[a, b]", "tril_indices": "3",
    "triu_indices": "3", "tril_indices_from": "s", "triu_indices_from": "s", "diag_indices": "3",
    "diag_indices_from": "s", "mask_indices": "3, np.triu", "diagflat": "c3", "ndindex": "2, 2",
    "ndenumerate": "c3", "broadcast": "a, b", "nditer": "a", "bmat": "[[s, s]]", "finfo": "float",
    "iinfo": "int", "left_shift": "i, 1", "right_shift": "i, 1", "power": "a, 2", "ldexp": "a, i",
    "bitwise_count": "i", "gcd": "i, i", "lcm": "i, i", "isnat": "np.array('2000', 'M8[D]')",
    "invert": "m", "logical_not": "m", "angle": "z", "real": "z", "imag": "z",
    "real_if_close": "z", "astype": "a, np.float32", "expand_dims": "a, 0", "squeeze": "a",
    "array2string": "c3", "array_repr": "c3", "array_str": "c3", "average": "a", "cov": "a, b",
    "corrcoef": "a, b", "allclose": "a, b", "isclose": "a, b", "histogram_bin_edges": "a",
    "histogramdd": "[a, b], 3", "packbits": "m", "unpackbits": "i.astype(np.uint8)",
    "linalg.multi_dot": "[s, s, r]", "linalg.solve": "s, r", "linalg.lstsq": "s, r",
    "linalg.norm": "a", "linalg.cholesky": "p", "linalg.matrix_power": "s, 3",
    "linalg.tensorsolve": "s, r", "linalg.tensorinv": "s, 1", "linalg.outer": "r, r",
    "linalg.cross": "c3, c3", "linalg.inv": "p", "linalg.diagonal": "s", "linalg.trace": "s",
    "fft.fftfreq": "9", "fft.rfftfreq": "9", "fft.fftshift": "a", "random.choice": "a",
    "random.shuffle": "w", "random.permutation": "a", "random.uniform": "0.0, 1.0, a.size",
    "random.normal": "0.0, 1.0, a.size", "random.rand": "a.size", "random.randn": "a.size",
    "random.random": "a.size", "random.randint": "0, 9, a.size", "random.seed": "1",
    "random.multivariate_normal": "c3, np.eye(3)", "random.dirichlet": "c3",
    "random.multinomial": "9, [0.5, 0.5]", "random.default_rng": "1",
    "random.hypergeometric": "3, 3, 3",
    "random.triangular": "0.0, 0.5, 1.0", "random.bytes": "3", "random.standard_normal": "a.size",
    "random.binomial": "9, 0.5, a.size", "random.poisson": "3.0, a.size",
    "random.exponential": "1.0, a.size", "random.integers": "0, 9, a.size",
    "acosh": "z", "arccosh": "z", "concatenate": "[a, b]", "concat": "[a, b]", "hstack": "[a, b]",
    "vstack": "[a, b]", "stack": "[a, b]", "column_stack": "[a, b]", "logical_and": "m, m",
    "logical_or": "m, m", "broadcast_arrays": "r, s", "printoptions": "precision=3",
    "random.get_state": "", "random.random_sample": "a.size", "random.sample": "a.size",
    "random.ranf": "a.size",
}  # fmt: skip
"""Names for which the first list that NumPy takes would say little."""
_SKIPPED = """
save savez savez_compressed savetxt load loadtxt fromfile genfromtxt fromregex test info
show_config show_runtime get_include setbufsize seterrcall set_printoptions seterr datetime_data
from_dlpack random.set_state random.set_bit_generator typename busday_count busday_offset
datetime_as_string nested_iters row_stack random.random_integers is_busday require memmap asmatrix
matrix bmat
"""
SKIPPED = frozenset(_SKIPPED.split())
"""What reads files or changes settings; matrices, which NumPy warns of."""
OPERATORS = {
    "+": "a + b", "-": "a - b", "*": "a * b", "/": "a / b", "//": "a // b", "%": "a % b",
    "**": "a ** 2", "@": "a @ b", "neg": "-a", "abs": "abs(a)", "<": "a < b", "==": "a == b",
    "&": "m & m", "|": "m | m", "^": "m ^ m", "~": "~m", "+ number": "a + 1.0",
    "number +": "1.0 + a", "number of NumPy's": "f8 * a", "+=": "w += 0.0", "-=": "w -= a",
    "*=": "w *= 1.0", "len": "len(a)", "float": "float(a[0])", "bool": "bool(m[0])",
    "in": "0.5 in a", "divmod": "divmod(a, b)", "iter": "list(c3)", "unpack": "x, y, _ = c3",
}  # fmt: skip
SUBSCRIPTS = {
    "a[i]": "a[1]", "a[-1]": "a[-1]", "a[i:j]": "a[1:]", "a[::2]": "a[::2]", "a[::-1]": "a[::-1]",
    "a[mask]": "a[m]", "a[integers]": "a[i]", "a[list]": "a[[0, 1]]", "a[None]": "a[None]",
    "a[...]": "a[...]", "s[i, j]": "s[0, 1]", "s[i]": "s[0]", "s[:, j]": "s[:, 0]",
    "s[i:j, k:l]": "s[1:, :-1]", "s[:, None]": "r[:, None]", "where(m)[0]": "np.where(m)[0]",
    "nonzero()[0]": "m.nonzero()[0]", "a[a > x]": "a[a > 0.5]", "w[i] =": "w[1] = 0.5",
    "w[i:j] =": "w[1:] = 0.5", "w[i:j] = array": "w[1:] = a[:-1]", "w[mask] =": "w[m] = 0.5",
    "w[integers] =": "w[i] = a", "w[:] =": "w[:] = a", "w[i:j] +=": "w[1:] += a[:-1]",
    "ws[i, j] =": "ws[0, 1] = 0.5", "ws[:, j] =": "ws[:, 0] = r", "w[i] += 1": "w[1] += 1.0",
    "np.c_": "np.c_[a, b]", "np.r_": "np.r_[a, b]", "np.s_": "np.s_[1:]",
    "np.mgrid": "np.mgrid[0:2, 0:2]", "np.ogrid": "np.ogrid[0:2, 0:2]",
}  # fmt: skip
METHODS = {
    "astype": "np.float32", "clip": "0.2, 0.5", "choose": "", "compress": "", "dot": "b",
    "fill": "0.5", "item": "1", "itemset": "", "partition": "1", "argpartition": "1", "put": "i, a",
    "repeat": "2", "reshape": "-1", "resize": "", "searchsorted": "0.5", "swapaxes": "0, 0",
    "take": "i", "trace": "", "diagonal": "", "view": "np.int64", "setflags": "",
    "newbyteorder": "", "tofile": "", "dump": "", "setfield": "0.5, float", "getfield": "float",
    "sort": "", "round": "1", "byteswap": "", "to_device": "'cpu'",
}  # fmt: skip
"""Arguments of methods of an array that need some, or are left out."""
WRITING = ("fill", "put", "sort", "partition", "setfield", "byteswap")
ON = {"choose": "ones.choose([a, b])", "compress": "a.compress(m)", "trace": "s.trace()",
      "diagonal": "s.diagonal()", "swapaxes": "s.swapaxes(0, 1)", "T": "s.T", "mT": "s.mT",
      "axis=0": "s.sum(axis=0)", "axis=1, keepdims": "s.max(axis=1, keepdims=True)"}  # fmt: skip
"""Methods of other operands than `a`."""
LEFT = frozenset(("resize", "tofile", "dump", "setflags", "newbyteorder", "itemset", "ctypes"))
UFUNC_METHODS = {
    "add.reduce": "np.add.reduce(a)", "maximum.reduce": "np.maximum.reduce(a)",
    "multiply.reduce": "np.multiply.reduce(s, axis=1)",
    "logical_and.reduce": "np.logical_and.reduce(m)",
    "add.accumulate": "np.add.accumulate(a)", "maximum.accumulate": "np.maximum.accumulate(a)",
    "add.outer": "np.add.outer(r, r)", "multiply.outer": "np.multiply.outer(r, r)",
    "add.reduceat": "np.add.reduceat(a, [0, 1])",
    "minimum.reduceat": "np.minimum.reduceat(a, [0, 2])",
    "add.at": "np.add.at(w, i, a)", "subtract.at": "np.subtract.at(w, i, 1.0)",
    "sin(out=)": "np.sin(a, out=w)", "add(out)": "np.add(a, b, w)", "sin(number)": "np.sin(0.5)",
    "sqrt(NumPy's number)": "np.sqrt(f8)", "maximum(numbers)": "np.maximum(1.0, 2.0)",
    "add(where=)": "np.add(a, b, out=w, where=m)", "sqrt(dtype=)": "np.sqrt(a, dtype=np.float32)",
    "sin(list)": "np.sin([0.1, 0.2])",
}  # fmt: skip
GENERATOR = {
    "random": "a.size", "normal": "0.0, 1.0, a.size", "standard_normal": "a.size",
    "integers": "0, 9, a.size", "uniform": "0.0, 1.0, a.size", "choice": "a", "permutation": "a",
    "exponential": "1.0, a.size",
}  # fmt: skip
"""Methods of `np.random.default_rng()`."""


CLASSES = {
    "isinstance": "isinstance(a, np.ndarray)", "isinstance number": "isinstance(f8, np.floating)",
    "float64": "np.float64(0.5)", "int32": "np.int32(3)", "dtype": "np.dtype('f8')",
    "dtype ==": "a.dtype == np.float64", "number + number": "f8 + 1.0", "pi": "np.pi",
    "newaxis": "np.newaxis", "ndarray": "np.ndarray((3,))", "poly1d": "np.poly1d(c3)(0.5)",
    "vectorize()": "np.vectorize(f)(a)", "RandomState": "np.random.RandomState(1)",
    "ndindex": "list(np.ndindex(2, 2))", "ndenumerate": "list(np.ndenumerate(c3))",
    "broadcast": "np.broadcast(a, b)", "flatiter": "a.flat[1]", "finfo": "np.finfo(float).eps",
    "Polynomial": "np.polynomial.Polynomial(c3)(0.5)", "asarray(array)": "np.asarray(a)",
    "polynomial.polyval": "np.polynomial.polynomial.polyval(0.5, c3)",
    "array(array)": "np.array(a)",
    "asarray(dtype=)": "np.asarray(a, dtype=float)", "zeros(dtype=)": "np.zeros(3, dtype=int)",
    "array(nested)": "np.array([[1, 2], [3, 4]])", "sum(axis=)": "np.sum(s, axis=1)",
    "sum(list)": "np.sum([1.0, 2.0])", "mean(list)": "np.mean([1.0, 2.0])",
    "max(numbers)": "np.max([1, 2])", "arange(float)": "np.arange(0.0, 1.0, 0.25)",
    "zeros_like(dtype=)": "np.zeros_like(a, dtype=int)", "any(axis=)": "np.any(s > 0.5, axis=1)",
    "round(number)": "np.round(f8, 2)", "where(numbers)": "np.where(a > 0.5, 1.0, 0.0)",
    "where(mask)": "np.where(m)", "sort(axis=)": "np.sort(s, axis=0)",
    "isnan(number)": "np.isnan(0.5)",
    "errstate": "np.errstate(all='ignore')",
    "errstate()": "(lambda s: (s.__enter__(), s.__exit__(0, 0, 0)))(np.errstate(all='ignore'))",
    "norm(axis=)": "np.linalg.norm(s, axis=1)", "norm(ord=)": "np.linalg.norm(a, 1)",
    "ma.array": "np.ma.array(c3)", "char.upper": "np.char.upper('a')", "copy": "a.copy()",
    "testing": "np.testing.assert_array_equal(c3, c3)", "str": "str(c3)", "repr": "repr(c3)",
    "tolist": "a.tolist()", "format": "format(f8, '.3f')",
    "full(dtype=)": "np.full((2, 2), 0, int)",
}  # fmt: skip
"""Classes, constants, and further ways to call functions."""


@dataclass(frozen=True, slots=True)
class Call:
    """`group` says which kind of name it is; `text` is a statement."""

    group: str
    name: str
    text: str


def operands(size: int, of: Any = np.asarray) -> dict[str, Any]:
    """What stands in the texts: arrays of `size` elements, made `of` NumPy's."""
    draw = np.random.default_rng(1)
    side = max(int(size**0.5), 2)
    square = draw.random((side, side)) + np.eye(side)
    arrays = {
        "a": draw.random(size), "b": draw.random(size), "w": draw.random(size),
        "t": np.sort(draw.random(size)), "i": np.arange(size)[::-1].copy(),
        "m": draw.random(size) > 0.5, "z": draw.random(size) + 1j, "s": square,
        "ws": square.copy(), "p": square @ square.T + np.eye(side), "r": draw.random(side),
        "ir": np.arange(side), "c3": np.array([1.0, 2.0, 3.0]), "ones": np.ones(size, int),
    }  # fmt: skip
    assert isinstance(arrays["m"], np.ndarray)
    arrays["m"][0] = True
    made: dict[str, Any] = {name: of(array) for name, array in arrays.items()}
    return made | {"f": _same, "f2": operator.add, "f8": np.float64(0.5)}


def _same(value: Any) -> Any:
    return value


def runs(text: str, names: dict[str, Any]) -> bool:
    """Whether NumPy takes a statement, without a warning."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("error")
        try:
            exec(compile(text, "call", "exec"), dict(names))
        except Exception:  # noqa: BLE001
            return False
    return True


def calls(names: dict[str, Any]) -> list[Call]:
    """One call or more of every name; `names` are operands of NumPy's and NumPy as `np`."""
    found = [
        *(each for library in LIBRARIES for each in _functions(library, names)),
        *_methods(),
        *_table("operator", OPERATORS),
        *_table("subscript", SUBSCRIPTS),
        *_table("further", CLASSES),
        *_table("ufunc method", UFUNC_METHODS),
        *(Call("generator", name, f"g.{name}({given})") for name, given in GENERATOR.items()),
    ]
    return [call for call in found if runs(call.text, names)]


def _table(group: str, texts: dict[str, str]) -> Iterator[Call]:
    for name, text in texts.items():
        yield Call(group, name, text)


def _functions(library: str, names: dict[str, Any]) -> Iterator[Call]:
    home = getattr(np, library) if library else np
    for name in sorted(_public(home)):
        path = f"{library}.{name}" if library else name
        function = getattr(home, name)
        if path in SKIPPED or isinstance(function, type) or not callable(function):
            continue
        given = _arguments(path, names)
        if given is not None:
            yield Call(library or "function", path, f"np.{path}({given})")
            yield from _variants(library or "function", path, function, given)


def _public(home: ModuleType) -> Iterable[str]:
    return [name for name in getattr(home, "__all__", dir(home)) if not name.startswith("_")]


def _arguments(path: str, names: dict[str, Any]) -> str | None:
    if path in CHOSEN:
        return CHOSEN[path]
    return next((given for given in ARGUMENTS if runs(f"np.{path}({given})", names)), None)


def _variants(group: str, path: str, function: Any, given: str) -> Iterator[Call]:
    """Keywords that many programs use."""
    try:
        known = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return
    if "axis" in known and given.startswith(("a", "s")) and not isinstance(function, np.ufunc):
        _, *rest = given.split(",")
        yield Call(group, f"{path}(axis=)", f"np.{path}({','.join(['s', *rest])}, axis=0)")


def _methods() -> Iterator[Call]:
    for name in sorted(_public_of_arrays()):
        target = "w" if name in WRITING else "a"
        value = getattr(np.ndarray, name)
        text = f"{target}.{name}({METHODS.get(name, '')})" if callable(value) else f"a.{name}"
        yield Call("method", name, ON.get(name, text))
    for name in ("axis=0", "axis=1, keepdims"):
        yield Call("method", name, ON[name])


def _public_of_arrays() -> list[str]:
    return [name for name in dir(np.ndarray) if not name.startswith("_") and name not in LEFT]
