"""Random calls of NumPy's names, right and wrong ones, compared with NumPy: results to the bit,
what `out=` holds afterwards, which operands changed, and what a program may catch.

    python -m tests.properties.random_calls --seed 1 --count 100000

draws as many calls and prints one example of each kind of difference.  A call is reached through
every door: the drop-in's function, NumPy's own function on our arrays, the method, the operator.
"""

from __future__ import annotations

import argparse
import inspect
import operator
import random
import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.properties.arguments import (
    DOMAINS,
    REQUIRED_FIRST,
    WRONGS,
    draw,
    number,
    operand,
    second,
)
from tests.properties.operands import (
    DTYPES,
    Full,
    Operand,
    attempt,
    classes,
    difference,
    made,
    ours,
    plain,
)  # fmt: skip

import fusewright.numpy as fnp
from fusewright.base.options import set_defaults

Chance = random.Random
WRONG = 0.06
"""How often an argument is drawn from what it should not be."""
MEMORY = 4 << 30
"""Bytes the command may use: some calls ask for more."""
UFUNCS = sorted(
    name for name in dir(np)
    if isinstance(getattr(np, name), np.ufunc) and getattr(np, name).__name__ == name
)  # fmt: skip
OPERATORS: dict[str, Callable[..., Any]] = {
    name: getattr(operator, name)
    for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift",
        "rshift", "lt", "le", "eq", "ne", "gt", "ge", "matmul", "iadd", "isub", "imul", "itruediv",
        "ifloordiv", "imod", "ipow", "iand", "ior", "ixor", "ilshift", "irshift", "imatmul", "neg",
        "pos", "abs", "invert",
    )
} | {"divmod": divmod, "bool": bool, "int": int, "float": float, "complex": complex,
     "index": operator.index, "len": len, "round": round}  # fmt: skip
UNARY = frozenset(
    ("neg", "pos", "abs", "invert", "bool", "int", "float", "complex", "index", "len", "round")
)
SKIPPED = """
save savez savez_compressed savetxt load loadtxt fromfile genfromtxt fromregex test info
einsum_path nested_iters seterr geterr seterrcall geterrcall set_printoptions get_printoptions
printoptions errstate getbufsize setbufsize show_config show_runtime get_include busday_count
busday_offset is_busday datetime_as_string datetime_data frompyfunc from_dlpack fromstring
frombuffer fromiter fromfunction array_repr array_str array2string format_float_positional
format_float_scientific bmat asmatrix matrix empty empty_like may_share_memory shares_memory
typename mintypecode base_repr binary_repr issubdtype promote_types broadcast_shapes iterable
isfortran ndenumerate apply_along_axis apply_over_axes piecewise vectorize put putmask place
copyto fill_diagonal random einsum block require asfortranarray c_ r_ typing unravel_index
ravel_multi_index ix_ can_cast result_type min_scalar_type common_type isdtype copy array asarray
asanyarray ascontiguousarray trim_zeros get_array_wrap astype histogramdd
"""
LEFT_OUT = frozenset(SKIPPED.split())
"""What reads files and settings, has numbers by chance, or takes functions: tested elsewhere."""
INEXACT = {
    "exp": 4, "log": 4, "sin": 4, "cos": 4, "tan": 4, "sinh": 8, "cosh": 8, "tanh": 4, "exp2": 4,
    "expm1": 8, "log1p": 4, "log2": 4, "log10": 4, "arcsin": 4, "arccos": 4, "arctan": 4,
    "arcsinh": 8, "arccosh": 8, "arctanh": 8, "arctan2": 4, "hypot": 4, "cbrt": 4, "power": 4,
    "float_power": 4, "logaddexp": 8, "logaddexp2": 8, "pow": 4, "ipow": 4, "absolute": 2, "abs": 2,
    "sqrt": 4, "divide": 4, "reciprocal": 4, "truediv": 4, "multiply": 4, "matmul": 64,
    "imatmul": 64, "dot": 64, "square": 2, "angle": 4, "sinc": 16, "var": 64, "std": 64,
    "nanvar": 64, "nanstd": 64, "nanmean": 8, "mean": 8, "average": 16, "prod": 64, "cumprod": 64,
    "nanprod": 64, "nancumprod": 64, "vecdot": 64, "vecmat": 64, "matvec": 64, "cov": 64,
    "corrcoef": 256, "gradient": 16, "trapezoid": 16, "i0": 16, "kaiser": 16, "hamming": 4,
    "hanning": 4, "blackman": 8, "bartlett": 2, "geomspace": 16, "logspace": 16, "linspace": 2,
    "interp": 2, "vander": 64, "polyval": 64, "roots": 256, "poly": 256, "polyfit": 1e6,
    "linalg": 1e5, "fft": 64, "cross": 2, "inner": 64, "outer": 4, "tensordot": 64, "vdot": 64,
    "kron": 4, "correlate": 64, "convolve": 64, "unwrap": 8, "cumulative_prod": 64,
    "round": 2, "around": 2, "diff": 0, "reduce": 64, "accumulate": 64, "percentile": 4,
    "quantile": 4, "nanpercentile": 4, "nanquantile": 4, "polymul": 64, "polydiv": 256,
    "degrees": 1, "radians": 1, "rad2deg": 1, "deg2rad": 1, "at": 4, "reduceat": 64, "select": 0,
    "real_if_close": 0, "itruediv": 4, "imul": 4, "mul": 4, "true_divide": 4,
}  # fmt: skip
"""Units in the last place by which results may differ from NumPy's; all others must be equal."""


@dataclass(frozen=True, slots=True)
class Call:
    """`door` is how it is reached; `path` names the function inside NumPy."""

    door: str
    path: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __str__(self) -> str:
        given = [*map(str, self.args), *(f"{key}={value}" for key, value in self.kwargs.items())]
        return f"[{self.door}] {self.path}({', '.join(given)})"


# ---------------------------------------------------------------------------------------- calls


def _functions() -> dict[str, inspect.Signature]:
    found = {}
    for prefix, module in (("", np), ("linalg.", np.linalg), ("fft.", np.fft)):
        for name in dir(module):
            value = getattr(module, name)
            skipped = name.startswith("_") or name in LEFT_OUT or isinstance(value, np.ufunc)
            if skipped or isinstance(value, type) or not callable(value):
                continue
            found[prefix + name] = inspect.signature(value)
    return found


FUNCTIONS = _functions()
METHODS = sorted(
    name for name in dir(np.ndarray)
    if not name.startswith("_") and callable(getattr(np.ndarray, name))
    and name not in ("dump", "dumps", "tofile", "tobytes", "resize", "setflags", "getfield",
                     "setfield", "to_device", "newbyteorder", "view", "tolist", "byteswap")
)  # fmt: skip
METHOD_KEYS: dict[str, tuple[str, ...]] = {
    "all": ("axis", "out", "keepdims", "where"), "any": ("axis", "out", "keepdims", "where"),
    "argmax": ("axis", "out", "keepdims"), "argmin": ("axis", "out", "keepdims"),
    "argpartition": ("kth", "axis"), "argsort": ("axis", "kind"),
    "astype": ("dtype", "order", "casting", "subok", "copy"), "choose": ("choices",),
    "clip": ("min", "max", "out"), "compress": ("condition", "axis", "out"), "conj": (),
    "conjugate": (), "copy": ("order",), "cumprod": ("axis", "dtype", "out"),
    "cumsum": ("axis", "dtype", "out"), "diagonal": ("offset", "axis1", "axis2"),
    "dot": ("b", "out"), "fill": ("fill_value",), "flatten": ("order",), "item": ("n",),
    "max": ("axis", "out", "keepdims", "initial", "where"),
    "mean": ("axis", "dtype", "out", "keepdims", "where"),
    "min": ("axis", "out", "keepdims", "initial", "where"), "nonzero": (),
    "partition": ("kth", "axis"), "prod": ("axis", "dtype", "out", "keepdims", "initial", "where"),
    "put": ("indices", "v", "mode"), "ravel": ("order",), "repeat": ("repeats", "axis"),
    "reshape": ("shape", "order"), "round": ("decimals", "out"),
    "searchsorted": ("v", "side"), "sort": ("axis", "kind"), "squeeze": ("axis",),
    "std": ("axis", "dtype", "out", "ddof", "keepdims", "where"),
    "sum": ("axis", "dtype", "out", "keepdims", "initial", "where"),
    "swapaxes": ("axis1", "axis2"), "take": ("indices", "axis", "out", "mode"),
    "trace": ("offset", "axis1", "axis2", "dtype", "out"), "transpose": ("axes",),
    "var": ("axis", "dtype", "out", "ddof", "keepdims", "where"),
}  # fmt: skip


def function_call(chance: Chance, path: str, wrong: float = WRONG) -> Call:
    """A call of a function by its signature."""
    first = operand(chance)
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for count, parameter in enumerate(FUNCTIONS[path].parameters.values()):
        name, kind = parameter.name, parameter.kind
        needed = parameter.default is parameter.empty
        if kind is parameter.VAR_POSITIONAL:
            args += [draw(chance, "a_", first, wrong) for _ in range(chance.choice((0, 1, 2)))]
        elif kind is parameter.VAR_KEYWORD:
            continue
        elif count == 0 and name not in REQUIRED_FIRST:
            lone = [1, 2, 3] if chance.random() < 0.5 else number(chance)
            args.append(first if chance.random() < 0.93 else lone)
        elif not needed and (name not in DOMAINS or chance.random() < 0.6):
            continue
        elif kind is parameter.KEYWORD_ONLY or (
            not needed and (len(args) < count or chance.random() < 0.7)
        ):
            kwargs[name] = draw(chance, name, first, wrong)
        else:
            args.append(draw(chance, name if name in DOMAINS else "a_", first, wrong))
    _spoil(chance, args, kwargs, wrong)
    return Call(chance.choice(("drop-in", "drop-in", "dispatch")), path, tuple(args), kwargs)


def _spoil(chance: Chance, args: list[Any], kwargs: dict[str, Any], wrong: float) -> None:
    """Too many arguments, too few, or one nobody knows."""
    if chance.random() < wrong / 4:
        args.append(chance.choice(WRONGS))
    if chance.random() < wrong / 6 and args:
        args.pop()
    if chance.random() < wrong / 6:
        kwargs["nobody_knows"] = 1


def ufunc_call(chance: Chance, path: str, wrong: float = WRONG) -> Call:
    """A call of a ufunc, with some of its keywords."""
    ufunc = getattr(np, path)
    first = operand(chance) if chance.random() < 0.9 else number(chance)
    args = [first, *(second(chance, first) for _ in range(ufunc.nin - 1))]
    if chance.random() < 0.15:
        args.reverse()
    like = first if isinstance(first, Operand) else operand(chance, ())
    kwargs: dict[str, Any] = {}
    for name, often in (("out", 0.3), ("where", 0.2), ("dtype", 0.15), ("casting", 0.1),
                        ("order", 0.05), ("subok", 0.03)):  # fmt: skip
        if chance.random() < often:
            kwargs[name] = draw(chance, name, like, wrong)
    if kwargs.get("out") is None and "where" in kwargs:
        del kwargs["where"]  # what is not selected would be whatever was in memory
    if ufunc.nout > 1 and "out" in kwargs and chance.random() < 0.9:
        kwargs["out"] = tuple(draw(chance, "out", like, 0) for _ in range(ufunc.nout))
        kwargs["out"] = tuple(o[0] if isinstance(o, tuple) else o for o in kwargs["out"])
    if "out" in kwargs and ufunc.nout == 1 and chance.random() < 0.1:
        args.append(kwargs.pop("out"))
    _spoil(chance, args, kwargs, wrong)
    if None in args[ufunc.nin :]:
        kwargs.pop("where", None)
    return Call(chance.choice(("drop-in", "drop-in", "dispatch")), path, tuple(args), kwargs)


def ufunc_method_call(chance: Chance, path: str, wrong: float = WRONG) -> Call:
    """`reduce`, `accumulate`, `reduceat`, `outer`, `at`."""
    method = chance.choice(("reduce", "reduce", "accumulate", "reduceat", "outer", "at", "at"))
    first = operand(chance)
    args: list[Any] = [first]
    kwargs: dict[str, Any] = {}
    keys = {"reduce": ("axis", "dtype", "out", "keepdims", "initial", "where"),
            "accumulate": ("axis", "dtype", "out"), "reduceat": ("axis", "dtype", "out"),
            "outer": ("out", "where", "dtype", "casting"), "at": ()}[method]  # fmt: skip
    if method in ("reduceat", "at"):
        args.append(draw(chance, "indices", first, wrong))
    if method == "outer" or (method == "at" and getattr(np, path).nin == 2):
        args.append(second(chance, first))
    for name in keys:
        if chance.random() < 0.25:
            kwargs[name] = draw(chance, name, first, wrong)
    if method == "outer" and "where" in kwargs:
        del kwargs["where"]
    _spoil(chance, args, kwargs, wrong)
    return Call(chance.choice(("drop-in", "dispatch")), f"{path}.{method}", tuple(args), kwargs)


def method_call(chance: Chance, path: str, wrong: float = WRONG) -> Call:
    """A method of an array or of a number."""
    first = operand(chance, foreign=False)
    receiver: Any = first
    if chance.random() < 0.1:
        receiver = Full(chance.choice(DTYPES), 1)
    args: list[Any] = [receiver]
    kwargs: dict[str, Any] = {}
    for count, name in enumerate(METHOD_KEYS[path]):
        if len(args) == count + 1 and chance.random() < 0.5:
            args.append(draw(chance, name, first, wrong))
        elif chance.random() < 0.35:
            kwargs[name] = draw(chance, name, first, wrong)
    _spoil(chance, args, kwargs, wrong)
    return Call("method", path, tuple(args), kwargs)


def operator_call(chance: Chance, path: str, wrong: float = WRONG) -> Call:
    """An operator of Python's."""
    first = operand(chance, foreign=False) if chance.random() < 0.9 else Full(
        chance.choice(DTYPES), 1)  # fmt: skip
    if path in UNARY:
        return Call("operator", path, (first,), {})
    other = chance.choice(WRONGS) if chance.random() < wrong else second(chance, first)
    turned = chance.random() < 0.35 and not path.startswith("i")
    args = (other, first) if turned else (first, other)
    return Call("operator", path, args, {})


def calls(chance: Chance, wrong: float = WRONG, only: str = "") -> Iterator[Call]:
    """Random calls without end; `only` with this in their name."""
    combining = [name for name in UFUNCS if not getattr(np, name).signature]
    families: list[tuple[Callable[..., Call], list[str], int]] = [
        (function_call, sorted(FUNCTIONS), 5), (ufunc_call, UFUNCS, 4),
        (ufunc_method_call, combining, 2), (method_call, sorted(METHOD_KEYS), 3),
        (operator_call, sorted(OPERATORS), 4),
    ]  # fmt: skip
    families = [(f, [n for n in names if only in n], w) for f, names, w in families]
    families = [family for family in families if family[1]]
    weights = [family[2] for family in families]
    while True:
        make, names, _ = chance.choices(families, weights)[0]
        call = make(chance, chance.choice(names), wrong)
        if not _crashes_numpy(call):
            yield call


def _crashes_numpy(call: Call) -> bool:
    """Running values into an array without dims, and comparisons with integers that the array's
    type cannot hold into `out=`, end NumPy's process.
    """
    running = "cum" in call.path or call.path.endswith("accumulate")
    given = [*call.args[1:], *call.kwargs.values()]
    given += [item for each in given if type(each) is tuple for item in each]
    if running:
        return any(isinstance(each, Operand) and not each.shape for each in given)
    far = any(type(each) is int and not -(2**7) <= each < 2**7 for each in call.args)
    return far and call.path in COMPARED and ("out" in call.kwargs or len(call.args) > 2)


COMPARED = frozenset(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"))


# ------------------------------------------------------------------------------------ comparing


def _target(call: Call, ours_too: bool) -> Callable[..., Any]:
    if call.door == "operator":
        return OPERATORS[call.path]
    if call.door == "method":
        return lambda first, *args, **kwargs: getattr(first, call.path)(*args, **kwargs)
    found: Any = fnp if ours_too and call.door == "drop-in" else np
    for name in call.path.split("."):
        found = getattr(found, name)
    return found  # type: ignore[no-any-return]


def tolerance(call: Call) -> float:
    """Units in the last place that are free in a call's results."""
    if call.path.startswith(("linalg.", "fft.")):
        return INEXACT[call.path.split(".")[0]]
    return max((INEXACT.get(name, 0) for name in call.path.split(".")), default=0)


def compare(call: Call) -> str:
    """How the call differs from NumPy's; nothing where it does not."""
    theirs_in = made((call.args, call.kwargs), plain)
    ours_in = made((call.args, call.kwargs), ours)
    want, refused = attempt(lambda: _target(call, False)(*theirs_in[0], **theirs_in[1]))

    def run() -> Any:
        result = _target(call, True)(*ours_in[0], **ours_in[1])
        _computed(result)
        return result

    got, error = attempt(run)
    if classes(refused) != classes(error):
        return f"error {_name(error)} for {_name(refused)}"
    ulps = tolerance(call)
    found = "" if refused is not None else difference(got, want, ulps)
    if found:
        return found
    inputs = difference(_leaves(ours_in), _leaves(theirs_in), ulps)
    if inputs and refused is None:
        return f"operands after the call: {inputs}"
    out = theirs_in[1].get("out")
    single = refused is None and out is not None and not isinstance(out, tuple)
    if single and (want is out) != (got is ours_in[1]["out"]):
        return "the result is not `out`"
    return ""


def _name(error: Exception | None) -> str:
    if error is None:
        return "nothing"
    kinds = sorted(kind.__name__ for kind in classes(error)) or [type(error).__name__]
    return "/".join(kinds)


def _computed(value: Any) -> None:
    if isinstance(value, list | tuple):
        for item in value:
            _computed(item)
    elif type(value).__module__.startswith("fusewright"):
        np.asarray(value)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in _leaves(item)]
    return [np.array(value)] if hasattr(value, "dtype") and hasattr(value, "shape") else []


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--only", default="", help="functions with this in their name")
    parser.add_argument("--wrong", type=float, default=WRONG)
    parser.add_argument("--compiled", action="store_true", help="compile small work, too")
    parser.add_argument("--small", type=int, default=0, help="elements of arrays left to NumPy")
    chosen = parser.parse_args()
    set_defaults(interpret=not chosen.compiled, small=chosen.small)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    found: dict[tuple[str, str], list[Call]] = {}
    stream = calls(random.Random(chosen.seed), chosen.wrong, chosen.only)
    for _, call in zip(range(chosen.count), stream, strict=False):
        how = compare(call)
        if how:
            found.setdefault((call.path, how.split(" (")[0]), []).append(call)
    for (path, how), examples in sorted(found.items(), key=lambda item: item[0][0]):
        shortest = min(examples, key=lambda call: len(str(call)))
        print(f"{len(examples):5}  {path}: {how}\n       {shortest}")
    print(f"{sum(map(len, found.values()))} of {chosen.count} calls differ")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
