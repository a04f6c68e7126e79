"""`_native.pyi` says what the module has: names, base classes, members, numbers of arguments."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import BuiltinFunctionType

import pytest

from fusewright import _core
from fusewright._core import native

pytestmark = pytest.mark.skipif(native is None, reason="the core is not built")

FOLDER = Path(_core.__file__).parent
STUB = ast.parse((FOLDER / "_native.pyi").read_text(encoding="utf-8"))
C = "\n".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.c")))
FUNCTIONS = {each.name: each for each in STUB.body if isinstance(each, ast.FunctionDef)}
CLASSES = {each.name: each for each in STUB.body if isinstance(each, ast.ClassDef)}
SPECIAL = {"__call__", "__get__", "__set__", "__iter__", "__next__", "__enter__", "__exit__"}
"""Special methods that a stub names where a class has a slot for them."""
ROW = re.compile(r'\{"(\w+)",\s*(?:\(PyCFunction\)\(void \(\*\)\(void\)\))?(\w+),\s*METH_([A-Z]+)')
TAKES = {"NOARGS": (0, 0), "O": (1, 1)}


def members(cls: ast.ClassDef) -> set[str]:
    named = {each.name for each in cls.body if isinstance(each, ast.FunctionDef)}
    fields = {
        each.target.id
        for each in cls.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }
    return (named | fields) - {"__init__"}


def settable(cls: ast.ClassDef, name: str) -> bool:
    return any(isinstance(e, ast.AnnAssign) and ast.unparse(e.target) == name for e in cls.body)


def arity(function: ast.FunctionDef, bound: int = 0) -> tuple[int, int] | None:
    """The least and the most arguments; None where any number goes."""
    given = function.args
    if given.vararg:
        return None
    most = len(given.posonlyargs) + len(given.args) - bound
    return most - len(given.defaults), most


def of_format(text: str) -> tuple[int, int]:
    """What `PyArg_ParseTuple` takes by a format: a letter each, `O!` is one."""
    least, _, more = re.sub(r"[!#*]", "", text.split(":")[0]).partition("|")
    return len(least), len(least) + len(more)


def in_c(function: str, kind: str) -> tuple[int, int] | None:
    if kind in TAKES:
        return TAKES[kind]
    body = re.search(rf"PyObject \*{function}\([^)]*\)\n\{{(.*?)\n\}}", C, re.DOTALL)
    found = body and re.search(r'PyArg_ParseTuple(?:AndKeywords)?\([^"]*"([^"]+)"', body[1])
    return of_format(found[1]) if found else None


def test_names() -> None:
    there = {name for name in vars(native) if not name.startswith("__")}
    assert there == FUNCTIONS.keys() | CLASSES.keys()
    for name in FUNCTIONS:
        assert isinstance(getattr(native, name), BuiltinFunctionType), name


@pytest.mark.parametrize("name", CLASSES)
def test_classes(name: str) -> None:
    cls, stub = getattr(native, name), CLASSES[name]
    bases = [base.__name__ for base in cls.__bases__ if base is not object]
    assert bases == [ast.unparse(base) for base in stub.bases]
    there = {each for each in vars(cls) if not each.startswith("__") or each in SPECIAL}
    told = members(stub)
    if issubclass(cls, native.Operators):
        there = {each for each in there if not each.startswith("__")}
    # what is inherited may be told once, in the base class
    assert there - {each for base in cls.__mro__[1:] for each in vars(base)} <= told
    assert all(hasattr(cls, each) for each in told)
    for each in told:
        is_field = type(vars(cls)[each]).__name__ in ("member_descriptor", "getset_descriptor")
        assert is_field or not settable(stub, each), each


def test_numbers_of_arguments() -> None:
    """Of functions and methods alike; where C takes a vector of arguments the stub says so."""
    methods = {
        (cls.name, each.name): arity(each, 1)
        for cls in CLASSES.values()
        for each in cls.body
        if isinstance(each, ast.FunctionDef)
    }
    checked = 0
    for name, function, kind in ROW.findall(C):
        wanted = in_c(function, kind)
        told = [arity(FUNCTIONS[name])] if name in FUNCTIONS else []
        told += [takes for (_, method), takes in methods.items() if method == name]
        if wanted is None or not told:
            continue
        assert wanted in told, (name, wanted, told)
        checked += 1
    assert checked > 80
