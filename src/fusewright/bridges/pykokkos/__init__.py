"""PyKokkos' interface on this package: existing programs run on the CPU, unmodified.

`import fusewright.bridges.pykokkos as pk`, or `fusewright run --as pykokkos program.py`.
"""

from __future__ import annotations

from typing import Any

from fusewright.base.errors import FusewrightError as Error
from fusewright.base.errors import UnsupportedError
from fusewright.bridges.pykokkos import elementwise, functions
from fusewright.bridges.pykokkos.annotated import (
    Acc,
    ScratchView,
    ScratchView1D,
    ScratchView2D,
    ScratchView3D,
    ScratchView4D,
    ScratchView5D,
    ScratchView6D,
    ScratchView7D,
    ScratchView8D,
    View1D,
    View2D,
    View3D,
    View4D,
    View5D,
    View6D,
    View7D,
    View8D,
)
from fusewright.bridges.pykokkos.atomics import (
    atomic_add,
    atomic_compare_exchange,
    atomic_fetch_add,
    atomic_fetch_and,
    atomic_fetch_div,
    atomic_fetch_lshift,
    atomic_fetch_max,
    atomic_fetch_min,
    atomic_fetch_mod,
    atomic_fetch_mul,
    atomic_fetch_or,
    atomic_fetch_rshift,
    atomic_fetch_sub,
    atomic_fetch_xor,
    atomic_increment,
)
from fusewright.bridges.pykokkos.debug import TeamMember
from fusewright.bridges.pykokkos.decorators import (
    Decorator,
    ViewTypeInfo,
    callback,
    classtype,
    function,
    functor,
    main,
    workload,
    workunit,
)
from fusewright.bridges.pykokkos.dialect.mathematics import C_FUNCTIONS
from fusewright.bridges.pykokkos.dispatch import (
    fence,
    flush,
    parallel_for,
    parallel_reduce,
    parallel_scan,
    single,
)
from fusewright.bridges.pykokkos.policies import (
    AUTO,
    ExecutionPolicy,
    Iterate,
    MDRangePolicy,
    PerTeam,
    PerThread,
    RangePolicy,
    Rank,
    TeamPolicy,
    TeamThreadMDRange,
    TeamThreadRange,
    TeamVectorRange,
    ThreadVectorRange,
)
from fusewright.bridges.pykokkos.printing import printf
from fusewright.bridges.pykokkos.randoms import (
    Random_XorShift64_Pool,
    Random_XorShift1024_Pool,
    RandomPool,
    rand,
)
from fusewright.bridges.pykokkos.reducers import (
    BAnd,
    BOr,
    LAnd,
    LOr,
    Max,
    MaxLoc,
    Min,
    MinLoc,
    MinMax,
    MinMaxLoc,
    Prod,
    Sum,
)
from fusewright.bridges.pykokkos.scalars import (
    DataType,
    DataTypeClass,
    complex64,
    complex128,
    double,
    finfo,
    float32,
    float64,
    get_default_precision,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    real,
    result_type,
    set_default_precision,
    uint8,
    uint16,
    uint32,
    uint64,
)
from fusewright.bridges.pykokkos.scalars import bool_ as bool
from fusewright.bridges.pykokkos.scalars import float_ as float
from fusewright.bridges.pykokkos.sorting import BinOp, BinOp1D, BinOp3D, BinSort
from fusewright.bridges.pykokkos.spaces import (
    ExecutionSpace,
    ExecutionSpaceInstance,
    Layout,
    MemorySpace,
    Trait,
    disable_uvm,
    enable_uvm,
    finalize,
    get_default_layout,
    get_default_memory_space,
    get_default_space,
    initialize,
    is_host_execution_space,
    is_uvm_enabled,
    set_default_space,
    set_device_id,
)
from fusewright.bridges.pykokkos.timer import Timer
from fusewright.bridges.pykokkos.views import (
    Subview,
    View,
    ViewType,
    array,
    asarray,
    astype,
    from_numpy,
)
from fusewright.bridges.pykokkos.workloads import execute

__array_api_version__ = "2021.12"

_enumerations: tuple[Any, ...] = (ExecutionSpace, Layout, MemorySpace, Trait)
_functions = ("cyl_bessel_j0", "cyl_bessel_j1")
_members = {member.name: member for each in _enumerations for member in each}
_more: dict[str, Any] = {
    **_members,
    **elementwise.FUNCTIONS,
    **{name: C_FUNCTIONS[name] for name in _functions},
    **{name: getattr(functions, name) for name in functions.PUBLIC},
}
globals().update(_more)
_MISSING = {
    "compile_into_module": "it compiles C++, and there is no compiler here",
}


def __getattr__(name: str) -> Any:
    why = _MISSING.get(name)
    if why is not None:
        raise UnsupportedError(f"pykokkos.{name}", why=why)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    *sorted(_more),
    "AUTO", "Acc", "BAnd", "BOr", "BinOp", "BinOp1D", "BinOp3D", "BinSort", "DataType",
    "DataTypeClass", "Decorator", "Error", "ExecutionPolicy", "ExecutionSpace",
    "ExecutionSpaceInstance", "Iterate", "LAnd",
    "LOr", "Layout", "MDRangePolicy", "Max", "MaxLoc", "MemorySpace", "Min", "MinLoc", "MinMax",
    "MinMaxLoc", "PerTeam", "PerThread", "Prod", "RandomPool", "Random_XorShift1024_Pool",
    "Random_XorShift64_Pool", "RangePolicy", "Rank", "ScratchView", "ScratchView1D",
    "ScratchView2D", "ScratchView3D", "ScratchView4D", "ScratchView5D", "ScratchView6D",
    "ScratchView7D", "ScratchView8D", "Subview", "Sum", "TeamMember", "TeamPolicy",
    "TeamThreadMDRange", "TeamThreadRange", "TeamVectorRange", "ThreadVectorRange", "Timer",
    "Trait", "View", "View1D", "View2D", "View3D", "View4D", "View5D", "View6D", "View7D",
    "View8D", "ViewType", "ViewTypeInfo", "array", "asarray", "astype", "atomic_add",
    "atomic_compare_exchange", "atomic_fetch_add", "atomic_fetch_and", "atomic_fetch_div",
    "atomic_fetch_lshift", "atomic_fetch_max", "atomic_fetch_min", "atomic_fetch_mod",
    "atomic_fetch_mul", "atomic_fetch_or", "atomic_fetch_rshift", "atomic_fetch_sub",
    "atomic_fetch_xor", "atomic_increment", "bool", "callback", "classtype", "complex64",
    "complex128", "disable_uvm", "double", "enable_uvm", "execute", "fence", "finalize", "finfo",
    "float", "float32", "float64", "flush", "from_numpy", "function", "functor",
    "get_default_layout", "get_default_memory_space", "get_default_precision",
    "get_default_space", "iinfo", "initialize", "int8", "int16", "int32", "int64",
    "is_host_execution_space", "is_uvm_enabled", "main", "parallel_for", "parallel_reduce",
    "parallel_scan", "printf", "rand", "real", "result_type", "set_default_precision",
    "set_default_space", "set_device_id", "single", "uint8", "uint16", "uint32", "uint64",
    "workload", "workunit",
]  # fmt: skip
