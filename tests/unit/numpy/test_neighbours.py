"""The drop-in among other people's objects: subclasses, object arrays, array-likes, star
imports.
"""

from __future__ import annotations

import inspect
import pickle
import re
import subprocess
import sys
from abc import ABC
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy
import numpy.typing
import pytest
from tests.evaluators import compiles

import fusewright.numpy as np
from fusewright._core import native
from fusewright.frontends.arrays import Array, sharing, trace
from fusewright.ir.graph import LEAF


def test_masked_arrays_and_object_arrays_stay_numpys() -> None:
    masked = numpy.ma.masked_less(numpy.arange(4.0), 2)
    assert isinstance(np.sqrt(masked), numpy.ma.MaskedArray)
    assert isinstance(np.asanyarray(masked), numpy.ma.MaskedArray)
    assert isinstance(np.asarray(masked), Array)
    names = np.array(["b", "a"])
    assert type(names) is numpy.ndarray and list(np.sort(names)) == ["a", "b"]
    objects = np.array([1, None], dtype=object)
    assert (
        type(objects) is numpy.ndarray and type(np.concatenate([objects, objects])) is numpy.ndarray
    )
    dates = np.array(["2026-01-01", "2026-01-03"], dtype="M8[D]")
    assert np.diff(dates)[0] == numpy.timedelta64(2, "D")
    mixed = np.where(np.arange(2) > 0, names, "none")
    assert list(mixed) == ["none", "a"]


class Foreign:
    """An array of another library, with NumPy's protocols."""

    def __init__(self, data: Any) -> None:
        self.data = numpy.asarray(data)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.data.astype(dtype or self.data.dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [i.data if isinstance(i, Foreign) else numpy.asarray(i) for i in inputs]
        return Foreign(getattr(ufunc, method)(*plain, **kwargs))


def test_other_libraries_arrays_answer_for_themselves() -> None:
    other = Foreign([1.0, 4.0])
    assert isinstance(np.sqrt(other), Foreign)
    assert isinstance(np.add(np.arange(2.0), other), Foreign)
    assert isinstance(np.asarray(other), Array)
    np.testing.assert_array_equal(np.asarray(other), [1, 4])


def test_numpys_arrays_are_taken_in() -> None:
    real = numpy.arange(6.0).reshape(2, 3)
    ours = np.asarray(real)
    real[0, 0] = 99
    assert float(ours[0, 0]) == 99  # the same memory, as NumPy's `asarray`
    assert isinstance(np.sin(real), Array)
    assert isinstance(real + ours, Array) and isinstance(ours + real, Array)
    real += ours
    assert type(real) is numpy.ndarray and real[1, 2] == 10


def test_random_results_are_adopted_without_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(array: Any) -> Any:
        raise AssertionError("copied")

    monkeypatch.setattr(sharing, "copied", refuse)
    drawn = np.random.default_rng(0).normal(size=(50, 20))
    inverse = np.linalg.inv(drawn[:20])
    assert drawn._node.kind == LEAF and inverse._node.kind == LEAF


def test_a_border_costs_no_pass_and_no_index_table() -> None:
    """Padding is recorded as pieces, however long the axis."""
    x = np.zeros(10**15)[:5]
    wide = np.pad(np.broadcast_to(x, (10**9, 5)), ((3, 2), (0, 0)), "reflect")
    assert wide.shape == (10**9 + 5, 5)
    assert wide._node.kind != LEAF
    trace.prune()


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
def test_every_border_is_numpys(mode: str) -> None:
    """Every width recorded is a structure of its own: a few are enough for the compiler."""
    widths = (0, 1, 3, 8) if compiles() else range(20)
    for extent in (1, 2, 3, 7):
        for width in widths:
            plain = numpy.arange(extent)
            want = numpy.pad(plain, (width, 2 * width), mode)
            numpy.testing.assert_array_equal(
                np.pad(np.arange(extent), (width, 2 * width), mode), want
            )


def test_no_module_of_ours_hides_a_name_of_numpys() -> None:
    folder = Path(np.__file__).parent
    ours = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
    for name in ours & set(dir(numpy)) - {"__pycache__"}:
        assert type(getattr(numpy, name)) is type(sys), f"{name} is no module in NumPy"


def test_import_forms() -> None:
    """`import *`, submodules, and what importing the drop-in does not load."""
    program = """
import sys
import fusewright.numpy
names = ("random", "testing", "ma", "polynomial")
heavy = [name for name in names if f"numpy.{name}" in sys.modules]
import numpy
plain = numpy.array
from fusewright.numpy import *
from fusewright.numpy.linalg import solve
import fusewright.numpy.random as npr
from fusewright.numpy.fft import fft
assert type(array([1.0]) * 2.0) is numpy.ndarray
assert type(array([1.0] * 1000)).__module__.startswith("fusewright")
assert numpy.array is plain
assert pi == numpy.pi and sin is fusewright.numpy.sin
assert npr.rand(2).shape == (2,)
print(heavy)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(Path(np.__file__).parents[2])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


class Tagged(np.ndarray):
    def __new__(cls, extent: int) -> Any:
        return np.ndarray.__new__(cls, extent)


class Counted(np.ndarray, Generic[TypeVar("T")]):
    pass


class Closed(np.ndarray, ABC):
    pass


VIEWED = {
    "small": lambda: numpy.arange(4.0),
    "subclass": lambda: Tagged(4),
    "matrix": lambda: numpy.matrix([[1.0, 2.0]]),
    "masked": lambda: numpy.ma.masked_less(numpy.arange(4.0), 2),
    "generic": lambda: numpy.arange(4.0).view(Counted),
    "abstract": lambda: numpy.arange(4.0).view(Closed),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("case", VIEWED)
def test_what_ndarray_names_is_a_class_for_numpy(case: str) -> None:
    """`x.view(np.ndarray)` and `np.ndarray.__new__` are NumPy's own code."""
    given = VIEWED[case]()
    for view in (given.view(np.ndarray), given.view(given.dtype, np.ndarray)):
        assert isinstance(view, np.ndarray) and numpy.shares_memory(view, given)
        assert native is None or type(view) is numpy.ndarray
    assert isinstance(np.ndarray.__new__(np.ndarray, (2,)), np.ndarray)
    assert not any(type(kind) is type(np.ndarray) for kind in type(given).__mro__)
    assert pickle.loads(pickle.dumps(np.ndarray)) is np.ndarray


class Maker:
    """An array of another library that says how arrays like it are made."""

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return func.__name__, args


MAKERS = {
    "array": (1,), "asarray": (1,), "asanyarray": (1,), "ascontiguousarray": (1,), "empty": (3,),
    "asfortranarray": (1,), "zeros": (3,), "ones": (3,), "full": (3, 1), "arange": (3,),
    "eye": (3,), "identity": (3,), "tri": (3,), "require": (1,),
    "frombuffer": (b"12345678",), "fromiter": ([1], int),
}  # fmt: skip


@pytest.mark.parametrize("name", MAKERS)
def test_like_lets_another_class_make_the_array(name: str) -> None:
    """`like=`: the class decides; what has no such method is an error; arrays make arrays."""
    function, args = getattr(np, name), MAKERS[name]
    assert function(*args, like=Maker()) == (name, args)
    with pytest.raises(TypeError, match="like"):
        function(*args, like=3)
    made = function(*args, like=np.ones(5000))
    assert isinstance(made, np.ndarray)
    if name != "empty":
        numpy.testing.assert_array_equal(made, getattr(numpy, name)(*args))


def test_an_array_leaves_functions_to_classes_it_does_not_know() -> None:
    assert np.concatenate([np.ones(5000), Maker()])[0] == "concatenate"
    assert numpy.concatenate([np.ones(5000), Maker()])[0] == "concatenate"
    method = np.ones(5000).__array_function__
    assert method(func=len, types=(Array, Maker), args=([],), kwargs={}) is NotImplemented
    assert method(func=len, types=(Array,), args=([1],), kwargs={}) == 1


@pytest.mark.parametrize("function", ["concatenate", "stack"])
@pytest.mark.parametrize("casting", ["no", "safe", "same_kind", "unsafe"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "c16"])
@pytest.mark.parametrize("extent", [1200, 1199])
def test_out_is_of_the_type_and_shape_of_the_result(
    function: str, casting: Any, dtype: str, extent: int
) -> None:
    """Joined arrays are converted to `out`'s type as `casting` allows, or it is an error."""

    def joined(module: Any) -> Any:
        shape = (extent,) if function == "concatenate" else (2, extent // 2)
        out, parts = module.zeros(shape, dtype), [module.arange(600.0), module.ones(600)]
        try:
            assert getattr(module, function)(parts, out=out, casting=casting) is out
        except (TypeError, ValueError) as error:
            return TypeError if isinstance(error, TypeError) else ValueError
        return numpy.asarray(out)

    ours, theirs = joined(np), joined(numpy)
    assert type(ours) is type(theirs)
    assert numpy.array_equal(ours, theirs)
    with pytest.raises(TypeError):
        getattr(np, function)([np.ones(600)] * 2, out=np.ones(1200), dtype="f8")


def test_flags_have_all_names() -> None:
    for ours, theirs in (
        (np.ones((60, 60)), numpy.ones((60, 60))),
        (np.ones((60, 60)).T, numpy.ones((60, 60)).T),
    ):
        for name in ("fortran", "contiguous", "forc", "fnc", "carray", "farray", "behaved"):
            assert getattr(ours.flags, name) == getattr(theirs.flags, name), name
        for name in ("X", "B", "CA", "FA", "FORTRAN", "WRITEBACKIFCOPY"):
            assert ours.flags[name] == theirs.flags[name], name


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
def test_ddof_and_correction_are_one_thing(name: str) -> None:
    x = np.where(np.arange(3000) % 7 == 0, np.nan, np.arange(3000.0))
    with pytest.raises(ValueError, match="correction"):
        getattr(np, name)(x, ddof=1, correction=1)
    assert getattr(np, name)(x, correction=1) == getattr(np, name)(x, ddof=1)


class Holder:
    make, multiply, total = np.array, np.matmul, np.sum
    shape = (2, 3)
    size, ndim = 6, 2

    def sum(self, *args: Any, **kwargs: Any) -> str:
        return "its own"


def test_functions_as_attributes_of_a_class_bind_as_numpys_do() -> None:
    """NumPy's C functions are no methods (`np.array`), its others are."""
    if native is not None:
        assert list(Holder().make([1, 2])) == [1, 2]
        assert Holder().multiply(np.eye(2), np.ones(2), np.zeros(2)).sum() == 2
    assert (np.eye(60) @ np.ones((60, 60))).sum() == 3600
    assert Holder().total() == "its own"


def test_objects_that_are_called_keep_their_methods() -> None:
    masked = np.ma.array([3.0, 1.0, 2.0], mask=[0, 1, 0])
    assert np.ma.minimum.reduce(masked) == 2 and np.ma.maximum(masked, 3).sum() == 6
    assert np.ma.add.outer(masked, masked).shape == (3, 3)


def test_divmod_asks_a_class_without_ufuncs() -> None:
    """`__array_ufunc__ = None`: the other operand's own method answers."""
    line = np.polynomial.Polynomial([1.0, 2.0])
    quotient, rest = divmod(np.ones(2000) * 3, line)
    assert type(quotient) is type(rest) is np.polynomial.Polynomial


def test_assertions_on_masked_arrays_take_ours() -> None:
    from fusewright.numpy.ma import testutils

    testutils.assert_equal(np.arange(3000.0), numpy.arange(3000.0))
    with pytest.raises(AssertionError):
        testutils.assert_equal(np.arange(3000.0), numpy.ones(3000))


def test_iterators_write_into_ours_and_are_of_a_class() -> None:
    x = np.zeros((40, 60))
    for part in np.nditer(x, op_flags=["readwrite"]):
        part[...] = 2
    outer, inner = np.nested_iters(x, [[0], [1]], op_flags=["readwrite"])
    for _ in outer:
        for part in inner:
            part += 1
    assert x.sum() == 3 * 2400
    assert isinstance(outer, np.nditer) and not isinstance(x, np.nditer)
    assert "op_flags" in inspect.signature(np.nditer).parameters


def test_copy_has_names() -> None:
    x = np.ones(2000)
    assert np.shares_memory(np.array(x, copy=numpy._CopyMode.IF_NEEDED), x)
    assert np.shares_memory(np.array(x, copy=numpy._CopyMode.NEVER), x)
    assert not np.shares_memory(np.array(x, copy=numpy._CopyMode.ALWAYS), x)


def test_annotations_are_numpys() -> None:
    """They are used as such when a program runs: in casts, aliases, dataclasses."""
    for name in numpy.typing.__all__:
        assert getattr(np.typing, name) is getattr(numpy.typing, name)
    assert np.typing.NDArray[np.float64] == numpy.typing.NDArray[np.float64]
    assert np.ndarray[Any, np.dtype[np.float64]] is not None
    assert type(np.ndarray | None) is type(numpy.ndarray | None)


@pytest.mark.parametrize(
    "call",
    (
        lambda m, a, b: m.multiply(a, 0.5, out=b, where=a > 0),
        lambda m, a, b: m.add(a, b, where=b > 0, out=a),
        lambda m, a, b: m.matmul(a, b),
        lambda m, a, b: m.concatenate([a, b], axis=1),
        lambda m, a, b: m.add.reduce(a, axis=0, out=b),
        lambda m, a, b: m.linalg.solve(b, a),
    ),
)
def test_errors_name_the_shapes_there_are(call: Any) -> None:
    """Whether NumPy takes a call is asked with small arrays; what it says to a wrong one is not."""
    a, b = numpy.ones((30, 31)), numpy.ones((29, 31))
    with pytest.raises(ValueError) as theirs:
        call(numpy, a, b)
    with pytest.raises(ValueError) as ours:
        call(np, np.asarray(a) * 1.0, np.asarray(b) * 1.0)
    wanted = set(re.findall(r"\d+", str(theirs.value)))
    said = str(ours.value).splitlines()[0].partition(" [FW")[0]
    assert set(re.findall(r"\d+", said)) <= wanted | {"30", "31", "29"}
