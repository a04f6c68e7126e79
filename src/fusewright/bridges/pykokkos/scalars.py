"""PyKokkos' names of element types: classes such as `pk.double`, and the `DataType` enumeration."""

from __future__ import annotations

import builtins
from enum import Enum
from typing import Any

import numpy as np

from fusewright.base.errors import DTypeError


class DataTypeClass:
    """An element type; `np_equiv` is NumPy's."""

    value: Any = None
    np_equiv: Any = None


class ComplexClass(DataTypeClass):
    """A complex element type; called, it makes a number: `pk.complex64(1.0, 2.0)`."""

    def __new__(cls, real: Any = 0.0, imaginary: Any = 0.0) -> Any:
        """NumPy's number of these parts (or of a complex one)."""
        whole = isinstance(real, complex | np.complexfloating)
        return cls.np_equiv(real if whole else complex(real, imaginary))


def _type(
    name: str, equivalent: Any, value: str = "", base: type[DataTypeClass] = DataTypeClass
) -> type[DataTypeClass]:
    doc = f"Elements of NumPy's {getattr(equivalent, '__name__', equivalent)}."
    return type(
        name,
        (base,),
        {"__doc__": doc, "__module__": __name__, "np_equiv": equivalent, "value": value or name},
    )


int8 = _type("int8", np.int8)
int16 = _type("int16", np.int16)
int32 = _type("int32", np.int32)
int64 = _type("int64", np.int64)
uint8 = _type("uint8", np.uint8)
uint16 = _type("uint16", np.uint16)
uint32 = _type("uint32", np.uint32)
uint64 = _type("uint64", np.uint64)
float32 = _type("float32", np.float32, "float")
float64 = _type("float64", np.float64, "double")
float_ = _type("float", np.float32, "float")
double = _type("double", np.float64, "double")
bool_ = _type("bool", np.bool_, "uint8")
complex64 = _type("complex64", np.complex64, base=ComplexClass)
complex128 = _type("complex128", np.complex128, base=ComplexClass)
real = _type("real", None)


class DataType(Enum):
    """The element types as an enumeration."""

    int8 = "int8"
    int16 = "int16"
    int32 = "int32"
    int64 = "int64"
    uint8 = "uint8"
    uint16 = "uint16"
    uint32 = "uint32"
    uint64 = "uint64"
    float = "float"
    double = "double"
    float32 = float
    float64 = double
    real = "real"
    bool = "bool"
    complex64 = "complex64"
    complex128 = "complex128"


BY_NAME: dict[str, type[DataTypeClass]] = {
    "int8": int8, "int16": int16, "int32": int32, "int64": int64, "uint8": uint8,
    "uint16": uint16, "uint32": uint32, "uint64": uint64, "float32": float32,
    "float64": float64, "float": float_, "double": double, "bool": bool_,
    "complex64": complex64, "complex128": complex128, "real": real,
}  # fmt: skip
_STORED: dict[np.dtype[Any], type[DataTypeClass]] = {
    np.dtype(each.np_equiv): each
    for each in (
        int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, bool_,
        complex64, complex128,
    )
}  # fmt: skip
_PRECISION: list[type[DataTypeClass]] = [double]


def get_default_precision() -> type[DataTypeClass]:
    """What `pk.real` stands for."""
    return _PRECISION[0]


def set_default_precision(dtype: Any) -> None:
    """Choose what `pk.real` stands for."""
    _PRECISION[0] = type_of(dtype)


def type_of(dtype: Any) -> type[DataTypeClass]:
    """The element type a program means: `int` is int32 and `float` double, as in C++."""
    if isinstance(dtype, DataType):
        dtype = BY_NAME[dtype.value]
    if dtype is real:
        return stored(_PRECISION[0])
    if isinstance(dtype, type) and issubclass(dtype, DataTypeClass):
        return stored(dtype)
    plain: dict[Any, type[DataTypeClass]] = {
        builtins.int: int32, builtins.float: float64, builtins.bool: bool_,
    }  # fmt: skip
    if isinstance(dtype, type) and dtype in plain:
        return plain[dtype]
    try:
        return _STORED[np.dtype(dtype)]
    except (TypeError, KeyError):
        raise DTypeError(
            f"{dtype!r} is not an element type of views",
            help="use pk.double, pk.int32, ..., int or float",
        ) from None


def stored(dtype: type[DataTypeClass]) -> type[DataTypeClass]:
    """One class for each type in memory: `double` is float64."""
    return _STORED[np.dtype(dtype.np_equiv)]


def class_of(dtype: np.dtype[Any]) -> type[DataTypeClass]:
    """The class of a NumPy dtype."""
    found = _STORED.get(dtype)
    if found is None:
        raise RuntimeError(f"ERROR: unsupported numpy datatype {dtype}")
    return found


class TypeInfo:
    """What `iinfo` and `finfo` tell of a type."""

    def __init__(self, info: Any) -> None:
        for name in ("bits", "max", "min", "eps", "smallest_normal"):
            if hasattr(info, name):
                setattr(self, name, getattr(info, name))
        self.dtype = class_of(info.dtype)


def iinfo(kind: Any) -> TypeInfo:
    """The limits of an integer type."""
    return TypeInfo(np.iinfo(_numpy(kind)))


def finfo(kind: Any) -> TypeInfo:
    """The limits of a float type."""
    return TypeInfo(np.finfo(_numpy(kind)))


def _numpy(kind: Any) -> np.dtype[Any]:
    found: np.dtype[Any] = np.dtype(type_of(getattr(kind, "dtype", kind)).np_equiv)
    return found


def result_type(*kinds: Any) -> type[DataTypeClass]:
    """The largest of several types of one category."""
    found = [type_of(kind) for kind in kinds if not hasattr(kind, "shape")]
    letters = {np.dtype(each.np_equiv).kind for each in found}
    if len(found) < len(kinds):
        raise NotImplementedError("type promotion not yet implemented for Views")
    if len(set(found)) > 1 and (len(letters) > 1 or not letters <= set("uif")):
        raise NotImplementedError("Casting rules not implemented for the input.")
    return max(found, key=lambda each: np.dtype(each.np_equiv).itemsize)
