"""`np.ndarray.method(x)`: of NumPy's arrays, of classes derived from them, and of ours."""

from __future__ import annotations

import inspect
import operator
import pickle
import warnings
from collections.abc import Container, Iterable, Sized
from types import GetSetDescriptorType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

import numpy
import pytest

import fusewright as fw
import fusewright.numpy as ours
from fusewright._core import native

OPERATORS = """
add sub mul truediv floordiv mod pow and or xor lshift rshift divmod
"""
ARGUMENTS: dict[str, Any] = {
    "__getitem__": (slice(0, 2),), "__setitem__": (0, 5), "astype": ("f4",), "take": ([0],),
    "put": ([0], 3), "repeat": (2,), "fill": (3,), "item": (0,), "reshape": (-1,),
    "searchsorted": (1,), "compress": ([True],), "partition": (1,), "argpartition": (1,),
    "swapaxes": (0, 0), "clip": (0, 1), "getfield": ("u1",), "__format__": ("",), "view": ("i8",),
    "__contains__": (1.0,), "__array_finalize__": (None,), "__deepcopy__": ({},),
    "to_device": ("cpu",), "__reduce_ex__": (2,),
    **dict.fromkeys(("dot", "__matmul__", "__rmatmul__", "__array_wrap__"), ("x",)),
    **{
        f"__{kind}{name}__": (2,)
        for kind in ("", "r", "i")
        for name in OPERATORS.split()
    },
    **dict.fromkeys(("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"), (2,)),
}  # fmt: skip
LEFT = """
__array_function__ __array_ufunc__ __buffer__ __class_getitem__ __delitem__ __dlpack__
__setstate__ __imatmul__ choose diagonal trace dump tofile resize setfield setflags data flat ctypes
base flags __array_interface__ __array_struct__ __array_namespace__ __iter__ device __reduce__
__reduce_ex__ __bool__ __int__ __float__ __complex__ __index__ __array_priority__ __sizeof__
"""
LEFT_OUT = frozenset(LEFT.split())
"""What needs arguments of its own, or gives objects that belong to one kind."""
ROUNDED = frozenset(("mean", "var", "std", "sum", "dot", "__matmul__", "__rmatmul__"))
"""Members that add in another order than NumPy's."""
KINDS = (MethodDescriptorType, WrapperDescriptorType, GetSetDescriptorType)
NAMES = sorted(
    name
    for name, value in vars(numpy.ndarray).items()
    if type(value) in KINDS and name not in LEFT_OUT
)


class Derived(numpy.ndarray):
    """Some program's class."""


def outcome(kind: type, name: str, array: Any) -> Any:
    """What a member says of an array, and what it leaves in it."""
    arguments = tuple(array if each == "x" else each for each in ARGUMENTS.get(name, ()))
    member = getattr(kind, name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reads = inspect.isdatadescriptor(member)
            found = member.__get__(array) if reads else member(array, *arguments)
    except (TypeError, ValueError, AttributeError) as error:
        return next(c for c in (TypeError, ValueError, AttributeError) if isinstance(error, c))
    if name in ROUNDED:
        return [float(f"{number:.9g}") for number in numpy.ravel(found)]
    return [plain(each) for each in (*found, array)] if type(found) is tuple else plain(found)


def plain(value: Any) -> Any:
    if isinstance(value, numpy.ndarray | numpy.generic | fw.Array):
        array = numpy.asarray(value)
        return type(value) is Derived, array.dtype.str, array.shape, array.tobytes()
    return value


@pytest.mark.parametrize("name", NAMES)
def test_members_of_the_class(name: str) -> None:
    for dtype in ("f8", "i8"):
        for extent in (5, 700):
            array = numpy.arange(1, extent + 1).astype(dtype)
            wanted = outcome(numpy.ndarray, name, array.copy())
            assert outcome(ours.ndarray, name, array.copy()) == wanted
            assert outcome(ours.ndarray, name, fw.asarray(array)) == wanted
            derived = [array.copy().view(Derived) for _ in range(2)]
            found = outcome(ours.ndarray, name, derived[0])
            assert found == outcome(numpy.ndarray, name, derived[1])
            assert derived[0].tobytes() == derived[1].tobytes()


def test_the_class_lists_what_numpys_has() -> None:
    assert dir(ours.ndarray) == dir(numpy.ndarray)
    assert ours.ndarray.sum is ours.ndarray.sum
    assert ours.ndarray.sum.__doc__ == numpy.ndarray.sum.__doc__
    assert ours.ndarray.sum.__name__ == "sum" and ours.ndarray.shape.__name__ == "shape"
    loaded = pickle.loads(pickle.dumps(ours.ndarray.sum))
    assert loaded(numpy.ones(3)) == 3


def test_in_a_derived_class() -> None:
    """As programs write it: a method of the base, named by the base."""

    class Table(ours.ndarray):  # type: ignore[name-defined,misc]
        def __getitem__(self, key: Any) -> Any:
            return ours.ndarray.__getitem__(self, key)

        def __setitem__(self, key: Any, value: Any) -> None:
            ours.ndarray.__setitem__(self, key, value)

        def __array_finalize__(self, source: Any) -> None:
            ours.ndarray.__array_finalize__(self, source)

        total = ours.ndarray.sum
        extent = ours.ndarray.size

    table = ours.ndarray.view(numpy.arange(4.0), Table)
    table[0] = 9
    assert type(table) is type(table[1:]) is Table and float(table[0]) == 9
    assert float(table.total()) == 15 and table.extent == 4
    assert operator.methodcaller("total")(table[1:]) == 6


def test_numbers_as_arrays_can_be_written() -> None:
    """`np.asarray(x.sum()).view(kind)`: NumPy makes a new array of a number."""
    total = fw.asarray(numpy.ones(5)).sum()
    made = ours.asarray(total).view(Derived)
    made[...] = 3
    assert type(made) is Derived and made == 3 and float(total) == 5


OF_ARRAYS = (
    "__len__", "__iter__", "__contains__", "__array_function__", "__array_ufunc__", "__dlpack__",
    "__dlpack_device__",
)  # fmt: skip
"""By what programs tell arrays from numbers."""


def test_numbers_have_no_length() -> None:
    """`hasattr(x, "__len__")` and `isinstance(x, Iterable)` tell arrays from numbers."""
    array = fw.asarray(numpy.arange(1000.0))
    for number in (array.sum(), array.max(), (array > 3).any(), array.astype("i8").sum()):
        assert not isinstance(number, Sized | Iterable | Container)
        if native is not None:
            assert not any(hasattr(number, name) for name in OF_ARRAYS)
            assert hasattr(number, "__array_priority__") and hasattr(number, "__array__")
        for refused in (len, iter, list, lambda x: 1 in x, sum):
            with pytest.raises(TypeError):
                refused(number)
    assert all(hasattr(array, name) and hasattr(numpy.ones(3), name) for name in OF_ARRAYS)
    assert not any(hasattr(numpy.float64(3), name) for name in OF_ARRAYS)
    assert isinstance(array, Sized | Iterable) and len(array) == 1000
    assert hasattr(array[:0], "__len__") and hasattr(array.reshape(1000, 1)[3], "__iter__")
