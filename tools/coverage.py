"""What becomes of a call of each public name of the drop-in: measured, not read off the sources.

A row is a name and a call of it on large arrays of ours.  The call is run while a profile listens,
and what the profile holds is the row's class (`CLASSES`).  Under `strict="all"` and `strict=True`
it must then end with an error or not, as the class says.  `tools/coverage_page.py` writes the rows
to `docs/reference/numpy.md`; `tests/unit/tools/test_coverage.py` measures every row of that page.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from tools import name_calls

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.ir import library_steps
from fusewright.runtime import profile
from fusewright.runtime.profile import KernelRecord, OpaqueRecord, Profile
from fusewright.targets.cpu import compiler

COMPILED, VIEW, SHARED, LIBRARY, MIXED, FALLBACK, MADE, NUMPYS, NOTHING, ABSENT = (
    "compiled", "view", "shared", "library step", "compiled, library step", "fallback",
    "made by NumPy", "NumPy's", "no array", "absent",
)  # fmt: skip
CLASSES = {
    COMPILED: "kernels run, and nothing else",
    VIEW: "the result is a view of the operand's memory; nothing runs",
    SHARED: "nothing runs: the result has the operand's values until either is written to",
    LIBRARY: "NumPy's code runs, on purpose: a step of the table below",
    MIXED: "kernels and such steps",
    FALLBACK: "NumPy's code runs, as Fusewright has no form of its own",
    MADE: "no operand is an array of ours: NumPy makes the result, which is then ours",
    NUMPYS: "the same, and the result stays NumPy's: it is small, or not NumPy's to give away",
    NOTHING: "no array is computed: types, shapes, text, settings",
    ABSENT: "arrays of ours lack it",
}
SIZE, SMALLER = 40_000, 1_600
"""Elements of the operands: of most, and where a matrix is factorised."""
DTYPES = ("bool", "uint8", "int64", "float16", "float32", "complex128")
"""Element types for which a call is looked at once more; a row's class is that of its own call."""

CALLS = {
    "zeros": "n", "ones": "n", "empty": "n", "full": "n, 2.0", "arange": "n", "eye": "200",
    "identity": "200", "tri": "200", "indices": "(200, 200)", "linspace": "0.0, 1.0, n",
    "logspace": "0.0, 1.0, n", "geomspace": "1.0, 2.0, n", "array": "a", "asarray": "a",
    "cross": "v3, v3", "linalg.cross": "v3, v3", "polyadd": "a, b", "polysub": "a, b",
    "polymul": "r, r", "polydiv": "r, r", "polyint": "r", "polyder": "a", "poly": "r",
    "roots": "r", "bartlett": "n", "blackman": "n", "hamming": "n", "hanning": "n",
    "kaiser": "n, 2.0", "fromfunction": "f2, (200, 200)", "unstack": "s", "array2string": "r",
    "array_repr": "r", "array_str": "r", "diagflat": "r", "diag_indices": "200",
    "tril_indices": "200", "triu_indices": "200", "mask_indices": "200, np.triu",
    "unravel_index": "i, (200, 200)", "ravel_multi_index": "(ir, ir), (200, 200)",
    "resize": "a, (2, n)", "fft.fftfreq": "n", "fft.rfftfreq": "n", "acosh": "a + 1.0",
    "arccosh": "a + 1.0", "mintypecode": "'fd'", "permute_dims": "s", "meshgrid": "a[:200], r",
    "random.dirichlet": "r", "random.multinomial": "9, r / r.sum()", "require": "a",
    "row_stack": "[a, b]", "iterable": "a", "squeeze": "s[None]", "einsum": "'i,i->i', a, b",
    "erf": "a", "erfc": "a", "isnat": "np.array('2000', 'M8')",
}  # fmt: skip
"""Calls that say more on large arrays than those of `name_calls`."""
MODULES = ("", "linalg", "fft", "special", "random")
UNCALLED = name_calls.SKIPPED - {"row_stack", "require"}
"""Names that read or write files, or change settings."""
METHODS = ("reduce", "accumulate", "outer", "reduceat", "at")
METHOD_CALLS = {
    "reduce": "{0}.reduce({1})", "accumulate": "{0}.accumulate({1})",
    "outer": "{0}.outer({1}[:200], {1}[:200])", "reduceat": "{0}.reduceat({1}, [0, 9])",
    "at": "{0}.at({2}, i, {1})",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A public name and a call of it; `group` is its module, `ndarray` or `ufunc`."""

    group: str
    name: str
    call: str


@dataclass(frozen=True, slots=True)
class Measured:
    """What became of a call: its class, and where that differs for other element types."""

    kind: str
    exceptions: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def exceptions_text(self) -> str:
        """`fallback: bool, complex128; ...`"""
        return "; ".join(f"{kind}: {', '.join(dtypes)}" for kind, dtypes in self.exceptions)


# ------------------------------------------------------------------------------------- the rows


def rows() -> list[Row]:
    """Every public name that is called; the first call of a list that NumPy takes."""
    names = operands_of(SIZE, "float64", np.asarray) | {"np": np}
    return [*_functions(names), *_methods(names), *_ufunc_methods(names)]


def public(module: str) -> list[str]:
    """The public names of a module of the drop-in."""
    home = getattr(fnp, module) if module else fnp
    return sorted(name for name in home.__all__ if not name.startswith("_"))


def _functions(names: dict[str, Any]) -> Iterator[Row]:
    for module in MODULES:
        for name in public(module):
            path = f"{module}.{name}" if module else name
            if path not in UNCALLED and not is_object(module, name):
                theirs = "a" if module == "special" else name_calls._arguments(path, names)
                given = CALLS.get(path) or theirs
                if given is not None:
                    yield Row(module or "numpy", path, f"np.{path}({given})")


def is_object(module: str, name: str) -> bool:
    """Whether a name is a class, a constant or a module: nothing that is called on arrays."""
    home = getattr(fnp, module) if module else fnp
    value = getattr(home, name)
    theirs = (
        getattr(getattr(np, module) if module else np, name, None) if module != "special" else 0
    )
    return isinstance(theirs, type) or not callable(value)


def _methods(names: dict[str, Any]) -> Iterator[Row]:
    for call in name_calls._methods():
        if "=" not in call.name and name_calls.runs(call.text, names):
            yield Row("ndarray", call.name, call.text)


def _ufunc_methods(names: dict[str, Any]) -> Iterator[Row]:
    for name in sorted(fnp.__all__):
        function = getattr(np, name, None)
        if not isinstance(function, np.ufunc) or (function.nin, function.nout) != (2, 1):
            continue
        for method in METHODS if name == function.__name__ and function.signature is None else ():
            given = next((g for g in (("a", "w"), ("i", "wi")) if _takes(function, g[0])), None)
            if given is not None:
                call = "np." + METHOD_CALLS[method].format(name, *given)
                if name_calls.runs(call, names):
                    yield Row("ufunc", f"{name}.{method}", call)


def _takes(function: np.ufunc, operand: str) -> bool:
    of = float if operand == "a" else int
    try:
        function.resolve_dtypes((np.dtype(of), np.dtype(of), None))
    except TypeError:
        return False
    return True


# -------------------------------------------------------------------------------- what they do


def operands_of(size: int, dtype: str, of: Any = fw.asarray) -> dict[str, Any]:
    """The operands of the calls by name, of this size and dtype."""
    made = name_calls.operands(size, np.asarray)
    made["v3"] = np.random.default_rng(2).random((size // 8, 3))
    made["wi"] = made["i"].copy()
    kept = ("m", "i", "ir", "wi", "z", "ones")
    arrays = {
        name: value if name in kept or dtype == "float64" else _converted(value, dtype)
        for name, value in made.items()
        if isinstance(value, np.ndarray)
    }
    return made | {name: of(value) for name, value in arrays.items()} | {"n": size}


def _converted(value: Any, dtype: str) -> Any:
    return (value * (100 if dtype in ("uint8", "int64") else 1)).astype(dtype)


USERS: Any = {"interpret": True, "small": 512, "background": False}
"""Settings that programs have and that decide what is ours and what runs when."""


@cache
def _prototypes(size: int, dtype: str) -> dict[str, Any]:
    """Operands of ours, computed; a call gets copies of those that are written to."""
    made = operands_of(size, dtype)
    fw.evaluate(*(value for value in made.values() if isinstance(value, fw.Array)))
    return made | {"np": fnp}


def names_of(row: Row, dtype: str = "float64") -> dict[str, Any]:
    """The names that a row's call is evaluated with."""
    heavy = row.group == "linalg" or row.name in ("roots", "poly")
    found = dict(_prototypes(SMALLER if heavy else SIZE, dtype))
    for name in ("w", "ws", "wi"):
        found[name] = found[name].copy()
    return found


def _run(row: Row, names: dict[str, Any]) -> Any:
    """The call's result, computed, and what it has written."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = eval(row.call, names)
        _compute((result, names["w"], names["ws"], names["wi"]))
    return result


def _compute(value: Any) -> None:
    if isinstance(value, fw.Array):
        fw.evaluate(value)
    elif isinstance(value, tuple | list):
        for each in value[:8]:
            _compute(each)


def measure(row: Row, exceptions: bool = True) -> Measured:
    """The class of a row, by what a profile says of its call."""
    names = names_of(row)
    before = dict(names)
    if row.group == "ndarray" and not hasattr(fw.Array, row.name):
        return Measured(ABSENT)
    with fw.options(**USERS), profile.listen() as heard:
        result = _run(row, names)
    kind = _kind(heard, result, before, row)
    return Measured(kind, _exceptions(row, kind) if exceptions else ())


def _kind(heard: Profile, result: Any, names: dict[str, Any], row: Row) -> str:
    steps = [step for flush in heard.flushes for step in flush.steps]
    opaque = [s for s in steps if isinstance(s, OpaqueRecord) and s.library != "fusewright"]
    if any(library_steps.family_of(step.name) is None for step in opaque):
        return FALLBACK
    if opaque:
        return MIXED if any(isinstance(step, KernelRecord) for step in steps) else LIBRARY
    if steps:
        return COMPILED
    return _quiet_kind(result, names, row)


def _quiet_kind(result: Any, names: dict[str, Any], row: Row) -> str:
    """The class of a call that ran no step."""
    used = [v for k, v in names.items() if isinstance(v, fw.Array) and k in _words(row.call)]
    parts = list(result) if isinstance(result, tuple | list) else [result]
    ours = [part for part in parts if isinstance(part, fw.Array)]
    if not ours:
        if any(isinstance(part, np.ndarray) for part in parts):
            return NUMPYS
        written = result is None and _words(row.call) & {"w", "ws", "wi"}
        return SHARED if written else NOTHING
    if any(fnp.shares_memory(part, each) for part in ours for each in used):
        return VIEW
    return SHARED if used and row.group != "random" else MADE


def _words(call: str) -> set[str]:
    return {word.lstrip("*") for word in "".join(c if c.isalnum() else " " for c in call).split()}


def under_strict(row: Row, strict: bool | Literal["all"], dtype: str = "float64") -> str:
    """The same as `strict` sees it: `""` where it passes, else the class of what it refuses."""
    names = names_of(row, dtype)
    with fw.options(**USERS, strict=strict):
        try:
            _run(row, names)
        except fw.FusewrightError as error:
            if error.code != "FW111":
                raise
            step = str(error).partition(" would run")[0]
            return LIBRARY if library_steps.family_of(step) else FALLBACK
    return ""


def _exceptions(row: Row, kind: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Element types for which the call of a compiled or library row ends otherwise."""
    if kind not in (COMPILED, LIBRARY, MIXED) or not _words(row.call) & set("abswrtp") | {"v3"}:
        return ()
    own = "" if kind == COMPILED else LIBRARY
    found: dict[str, list[str]] = {}
    for dtype in DTYPES:
        try:
            seen = under_strict(row, "all", dtype)
        except Exception:  # noqa: BLE001  NumPy does not define it for this type
            continue
        if seen != own:
            found.setdefault(seen or COMPILED, []).append(dtype)
    return tuple((kind, tuple(dtypes)) for kind, dtypes in found.items())


@contextmanager
def counted_compilations() -> Iterator[list[str]]:
    """The texts that are compiled in the block, with nothing in memory and an empty disk cache."""
    texts: list[str] = []
    real = compiler.job

    def counting(text: str, *rest: Any, **named: Any) -> Any:
        texts.append(text)
        return real(text, *rest, **named)

    with tempfile.TemporaryDirectory() as folder, fw.options(**USERS, cache_dir=folder):
        compiler.job = counting
        try:
            yield texts
        finally:
            compiler.job = real


AHEAD, WHEN_MET = "ahead", "when met"
TIERS = {
    AHEAD: "the first call waits for no compiler: NumPy's functions give the same bits, or the "
    "operation was compiled when the package was installed",
    WHEN_MET: "the operation is compiled at its first call, and kept on disk",
}


def tier(row: Row, texts: list[str]) -> str:
    """Whether the first call of a row compiles anything; `texts` count it."""
    fw.cache_clear(disk=True)
    compiler.forget()
    names = names_of(row)
    fw.evaluate(names["w"], names["ws"], names["wi"])
    texts.clear()
    _run(row, names)
    return WHEN_MET if texts else AHEAD
