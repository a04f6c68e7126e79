"""Functions and methods with the native core in front of them, where there is one (decision 0013):
what is small and in memory is done there at once, what is not goes on to the general function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np

from fusewright._core import native
from fusewright.base.figures import KERNEL_ELEMENTS, MOVED_ELEMENTS, USED_ELEMENTS
from fusewright.frontends.arrays import core, opaque, sharing
from fusewright.frontends.arrays.immediate import KINDS, adopt
from fusewright.ir.dtypes import ALL, from_numpy

FILLS = {
    "zeros": 1, "ones": 1, "empty": 1, "full": 1, "arange": 2, "linspace": 3, "array": 4,
    "asarray": 4, "eye": 5, "identity": 5, "tri": 5, "indices": 1, "meshgrid": 6,
}  # fmt: skip
"""Functions that make arrays of numbers, and how the core tells of how many elements."""
MADE = {name: kind for name, kind in FILLS.items() if kind != 4} | {
    "outer": 6, "kron": 6,
}  # fmt: skip
"""The same of those that make large arrays of small ones, too."""
PAIRED: dict[str, Callable[..., Any]] = {
    "dot": np.dot, "__matmul__": np.matmul,
    "__rmatmul__": lambda right, left: np.matmul(left, right),
    "clip": np.clip, "take": np.take, "searchsorted": np.searchsorted,
}  # fmt: skip
"""Methods of an array with another one, as NumPy's functions."""
COUNTED = ("argwhere", "compress", "extract", "flatnonzero", "nonzero")
"""Functions and methods that cannot wait: values say how many elements they give."""
KNOWN: dict[str, int] = {
    **dict.fromkeys(
        ("append", "column_stack", "concatenate", "delete", "dstack", "hstack", "stack", "vstack"),
        KERNEL_ELEMENTS,
    ),
    **dict.fromkeys(("argmax", "argmin", "array_equal", "count_nonzero", *COUNTED), 1 << 62),
}  # fmt: skip
"""Functions and methods that make no more elements than they are given, and how many may be in
memory already; those that make one number in one pass, or cannot wait, any.
"""
CONVERTED = 512
"""Elements that are converted at once: more are worth waiting for what uses them."""
WRITERS = {
    "fill": KERNEL_ELEMENTS,
    "sort": USED_ELEMENTS,
    "partition": USED_ELEMENTS,
    "put": USED_ELEMENTS,
}
"""Methods that write into their array, and of up to how many elements at once."""
ARRANGEMENTS = ("flip", "reshape", "ravel", "transpose", "swapaxes", "copy", "__iter__", "conj")
ATTRIBUTES = ("shape", "ndim", "size", "dtype", "T", "real", "imag")
"""In the order the core knows them in."""


class Limits(TypedDict):
    """What `at_once` is told of sizes."""

    limit: int
    known: int


def limits(name: str, most: int) -> Limits:
    """Of how many elements a function of NumPy's is called at once: where they are computed first,
    and where they are in memory.
    """
    return {"limit": USED_ELEMENTS if name in COUNTED else most, "known": KNOWN.get(name, 0)}


def at_once(
    function: Callable[..., Any],
    general: Callable[..., Any],
    most: int = 0,
    *vectors: Any,
    limit: int = USED_ELEMENTS,
    makes: str = "",
    converts: bool = False,
    known: int = 0,
) -> Callable[..., Any]:
    """The general function with the native core in front of it, where there is one: of values in
    memory of up to `limit` elements `function` of NumPy's is called there; what is in memory
    already may have up to `known` elements.

    A product of more than `most` multiplications is left; one of two `vectors` is recorded with the
    operation and the reduction given.  What `makes` an array of numbers alone has a limit, too.
    One that `converts` gives the array in another type.
    """
    if native is None:
        return general
    kind = FILLS.get(makes, 0)
    made = native.Step(
        function, general, most, *vectors, limit=limit, makes=kind, converts=converts, known=known,
        reads=function in opaque.READERS,
    )  # fmt: skip
    functools.update_wrapper(made, general)
    return made  # type: ignore[no-any-return]


def in_place(
    function: Callable[..., Any], general: Callable[..., Any], limit: int = USED_ELEMENTS
) -> Callable[..., Any]:
    """The general function with the native core in front of it, where there is one: `function` of
    NumPy's writes into its first operand, of up to `limit` elements, where that is in memory.
    """
    if native is None:
        return general
    made = native.Writer(function, general, limit)
    functools.update_wrapper(made, general)
    return made  # type: ignore[no-any-return]


def arrangement(name: str, general: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives a view, with the core in front of it, where there is one."""
    if native is None:
        return general
    made = native.Arrangement(ARRANGEMENTS.index(name), general)
    functools.update_wrapper(made, general)
    return made  # type: ignore[no-any-return]


def dispatched(
    plain: Callable[..., Any],
    general: Callable[..., Any],
    makes: str = "",
    keeps: bool = False,
    extra: str = "",
    is_method: bool = False,
    gives_same: bool = False,
) -> Callable[..., Any]:
    """NumPy's function where no operand is ours, else the general one (decision 0016).

    `makes` names how the core tells of how many elements the result is: large ones are recorded.
    A function that `keeps` writes into operands or gives views of them.
    NumPy's function has no keyword `extra`.  What is made `like=` another library's array is made
    by that: NumPy calls it.  In a class it `is_method`, or where NumPy's function is one.
    A function that `gives_same` of one array alone gives that array back (`asarray`).
    """
    if native is None:
        return _unless_like_another(plain, general)
    named = {"extra": extra} if extra else {}
    made = native.Dispatch(
        plain,
        general,
        makes=MADE.get(makes, 0),
        keeps=keeps,
        is_method=is_method,
        gives_same=gives_same,
        **named,
    )
    functools.update_wrapper(made, general)
    return made  # type: ignore[no-any-return]


def _unless_like_another(
    plain: Callable[..., Any], general: Callable[..., Any]
) -> Callable[..., Any]:
    """The Python form of what the core does about `like=`."""

    @functools.wraps(general)
    def function(*args: Any, **kwargs: Any) -> Any:
        like = kwargs.get("like")
        own = like is None or type(like) is np.ndarray or isinstance(like, core.Handle)
        return (general if own else plain)(*args, **kwargs)

    return function


def complete(ours: Any, theirs: Any, called: str) -> None:
    """Let `help` of ours go on, after our words, with all that NumPy says of its own."""
    own, words = ours.__doc__, getattr(theirs, "__doc__", None)
    if theirs is None or words is None or own is words or (own and words in own):
        return
    if own:
        margin = margin_of(words)
        paragraphs = [" ".join(each.split()) for each in own.split("\n\n")]
        told = *paragraphs, f"NumPy's `{called}`:", words.strip()
        words = f"\n\n{margin}".join(told) + "\n"
    ours.__doc__ = words


def margin_of(words: str) -> str:
    """What docstrings written in functions begin their lines with, until CPython 3.13."""
    return "    " if "\n    Parameters\n" in words else ""


def take_over(array: np.ndarray[Any, Any]) -> Any:
    """A large array of NumPy's that nobody else holds, as ours; of other types or layouts it stays
    NumPy's.
    """
    if array.dtype.kind not in KINDS or from_numpy(array.dtype) is None:
        return array
    if not sharing.is_adoptable(array):
        return array
    return core.wrap_array(sharing.adopted(array))


def quicken(methods: type) -> None:
    """Let the core answer what it knows of a class's attributes, and do what it can of its
    methods.
    """
    if native is None:
        return
    for number, name in enumerate(ATTRIBUTES):
        general = vars(methods)[name]
        if isinstance(general, property):  # else the import before this one was interrupted
            setattr(methods, name, native.Attribute(number, general))
    if "__len__" in vars(methods):
        methods._length = vars(methods)["__len__"]  # type: ignore[attr-defined]
        del methods.__len__  # type: ignore[attr-defined]
    for name in ARRANGEMENTS[1:]:  # `flip` is no method
        setattr(methods, name, arrangement(name, vars(methods)[name]))
    methods.conjugate = vars(methods)["conj"]  # type: ignore[attr-defined]
    for name in (
        "argmax",
        "argmin",
        "argsort",
        "flatten",
        "item",
        "nonzero",
        "repeat",
        "round",
        "searchsorted",
        "take",
        "tolist",
    ):
        own = getattr(np.ndarray, name)
        setattr(methods, name, at_once(own, vars(methods)[name], **limits(name, MOVED_ELEMENTS)))
    methods.astype = at_once(  # type: ignore[attr-defined]
        np.ndarray.astype, vars(methods)["astype"], limit=CONVERTED, converts=True
    )
    for name, limit in WRITERS.items():
        setattr(methods, name, in_place(getattr(np.ndarray, name), vars(methods)[name], limit))
    for name, plain in PAIRED.items():
        setattr(methods, name, dispatched(plain, vars(methods)[name], is_method=True))


def connect(table: Any) -> None:
    """Give the native core NumPy's table of C functions; who listens hears of library steps."""
    native.set_numpy(table, tuple(row.numpy for row in ALL), adopt, opaque.listeners)
    native.set_take_over(take_over)
