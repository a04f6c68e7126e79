"""What annotations say: `int` is C's int, `float` a double, `pk.Acc[T]` an accumulator of T."""

from __future__ import annotations

import ast
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from fusewright.bridges.pykokkos import scalars
from fusewright.bridges.pykokkos.dialect.rules import INT, Kind
from fusewright.frontends.kernels import source
from fusewright.frontends.kernels.inputs import outside
from fusewright.ir import dtypes
from fusewright.ir.dtypes import BOOL, FLOAT64

_PLAIN: dict[str, Kind] = {"int": INT, "float": FLOAT64, "bool": BOOL}


class _Missing:
    """Nothing has this name."""


MISSING = _Missing()


def resolved(function: FunctionType | None, node: ast.expr) -> Any:
    """The object that a name or dotted name stands for outside the function; else `MISSING`."""
    if isinstance(node, ast.Attribute):
        owner = resolved(function, node.value)
        return MISSING if owner is MISSING else getattr(owner, node.attr, MISSING)
    if not isinstance(node, ast.Name) or function is None:
        return MISSING
    try:
        return outside(function, node.id)
    except LookupError:
        return MISSING


def last_word(node: ast.AST | None) -> str:
    """`pk.View1D[pk.double]` -> `View1D`; quoted annotations count too."""
    if isinstance(node, ast.Subscript):
        return last_word(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.split("[")[0].split(".")[-1]
    return node.id if isinstance(node, ast.Name) else ""


def kind_of(function: FunctionType | None, node: ast.expr | None) -> Kind | None:
    """The C type of a scalar annotation; None for anything else."""
    if node is None or isinstance(node, ast.Subscript):
        return None
    word = last_word(node)
    found = resolved(function, node)
    if isinstance(found, type) and issubclass(found, scalars.DataTypeClass):
        return _of_class(found)
    if isinstance(found, type) and issubclass(found, np.generic):
        return dtypes.from_numpy(found)
    if word in _PLAIN and not isinstance(node, ast.Attribute):
        return _PLAIN[word]
    named = scalars.BY_NAME.get(word)
    return _of_class(named) if named is not None else None


def _of_class(found: type[scalars.DataTypeClass]) -> Kind | None:
    kind = np.dtype(scalars.type_of(found).np_equiv)
    return INT if found is scalars.int32 else dtypes.from_numpy(kind)


def element_of(function: FunctionType | None, node: ast.expr | None) -> Kind | None:
    """T of `Acc[T]`, `List[T]` or `ScratchView1D[T]`."""
    return kind_of(function, node.slice) if isinstance(node, ast.Subscript) else None


def numpy_of(kind: Kind) -> np.dtype[Any]:
    """How values of a C type are stored between loops."""
    return np.dtype(np.int64) if isinstance(kind, str) else kind.numpy


@cache
def fields_of(owner: Any) -> dict[str, Kind]:
    """The scalar attributes that a class's constructors annotate, with their C types."""
    found: dict[str, Kind] = {}
    for base in reversed(owner.__mro__):
        init = vars(base).get("__init__")
        if not isinstance(init, FunctionType):
            continue
        for node in ast.walk(source.read(init).tree):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
                kind = kind_of(init, node.annotation)
                if kind is not None:
                    found[node.target.attr] = kind
    return found


@cache
def assigned_by(owner: Any) -> frozenset[str]:
    """The attributes that a class's constructors assign."""
    found: set[str] = set()
    for base in owner.__mro__:
        init = vars(base).get("__init__")
        if isinstance(init, FunctionType):
            for node in ast.walk(source.read(init).tree):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    found.add(node.attr)
    return frozenset(found)
