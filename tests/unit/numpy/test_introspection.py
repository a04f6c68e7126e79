"""What programs ask functions and modules about: names, signatures, what there is."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any

import numpy
import pytest
from tests.unit.cli.conftest import fresh

import fusewright.numpy as ours
from fusewright._core import native
from fusewright.numpy import standard

MODULES = (
    "", "linalg", "fft", "random", "ma", "char", "polynomial", "testing", "lib", "strings", "rec",
    "lib.stride_tricks", "ctypeslib", "dtypes", "exceptions",
)  # fmt: skip
MORE = {
    "argsort": {"descending"},
    "sort": {"descending"},
    "fftfreq": {"dtype"},
    "rfftfreq": {"dtype"},
}
"""Arguments of the array API standard that NumPy lacks."""
OTHERS = {"clip", "iinfo", "ndarray", "ndpointer", "test"}
"""`clip` names the standard's arguments first; classes of ours."""


def both(name: str) -> tuple[ModuleType, Any]:
    found: Any = ours
    for part in filter(None, name.split(".")):
        found = getattr(found, part)
    return importlib.import_module("numpy" + "." * bool(name) + name), found


def public(module: ModuleType) -> list[str]:
    return [name for name in dir(module) if not name.startswith("_")]


def parameters(function: Any) -> Any:
    """Names, kinds and defaults; None where Python does not know them."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return {each.name: (each.kind, repr(each.default)) for each in found}


@pytest.mark.parametrize("module", MODULES)
def test_every_name_is_listed(module: str) -> None:
    theirs, found = both(module)
    listed = set(dir(found))
    wanted = getattr(theirs, "__all__", []) if "__all__" in listed else public(theirs)
    assert set(wanted) <= listed


@pytest.mark.skipif(native is None, reason="the forms in Python have signatures of their own")
@pytest.mark.parametrize("module", MODULES)
def test_signatures_are_numpys(module: str) -> None:
    """`{k: v for k, v in given.items() if k in inspect.signature(np.genfromtxt).parameters}`"""
    theirs, found = both(module)
    for name in set(public(theirs)) - OTHERS:
        original, function = getattr(theirs, name), getattr(found, name)
        if callable(original) and parameters(original) is not None:
            more = MORE.get(name, set()) - parameters(original).keys()  # NumPy 2.5 has some
            said = parameters(function)
            assert said.keys() - parameters(original).keys() <= more, name
            assert {k: v for k, v in said.items() if k not in more} == parameters(original), name


@pytest.mark.parametrize("module", MODULES)
def test_functions_have_numpys_names(module: str) -> None:
    theirs, found = both(module)
    for name in set(public(theirs)) - {"test"}:
        of = getattr(getattr(theirs, name), "__name__", "").rpartition(".")[2]
        assert getattr(getattr(found, name), "__name__", "").rpartition(".")[2] == of, name


PROGRAM = """
import numpy as np
import numpy.linalg
from numpy import fft
x = np.ones(3000)
def f():
    return vars(np.linalg)["norm"](x) ** 2
print(eval("sin(x).sum() * pi", np.__dict__, {"x": x}) == np.sin(x).sum() * np.pi, round(f()))
print({"pi", "hypot", "sum", "float32"} <= vars(np).keys(), set(fft.__all__) <= fft.__dict__.keys())
class A:
    def __init__(self): self.a = 1
print(vars(A()), A().__dict__, vars().keys() == globals().keys(), numpy.ma.__dict__["masked_array"])
"""


def test_the_dictionary_of_a_module_has_all_names(tmp_path: Any) -> None:
    (tmp_path / "p.py").write_text(PROGRAM)
    plain = fresh("p.py", cwd=tmp_path).stdout
    assert plain == fresh("-m", "fusewright", "run", "p.py", cwd=tmp_path).stdout
    assert plain.startswith("True 3000\nTrue True\n{'a': 1} {'a': 1} True ")


def test_around_and_other_aliases() -> None:
    assert ours.around.__name__ == numpy.around.__name__ == "around"


def test_a_keyword_that_numpy_has_by_now_is_not_added() -> None:
    """NumPy 2.5 has `descending`, and the drop-in could not be imported."""

    def newer(a: object, axis: int = -1, *, descending: bool = False) -> None: ...

    signature = standard.with_keyword(newer, "descending")
    assert list(signature.parameters) == ["a", "axis", "descending"]
    assert list(standard.with_keyword(numpy.fft.fftfreq, "dtype").parameters)[-1] == "dtype"
