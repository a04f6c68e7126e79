"""Where PyKokkos programs say their work runs and their memory lies; here everything is the CPU.

`OpenMP`, `Threads`, `Serial` and `Default` compile for the CPU, `Debug` runs plain Python.  `Cuda`
and `HIP` are names a program may have: asked for as the default they mean the CPU too, with a
warning, because such programs run the same code anywhere.
"""

from __future__ import annotations

import warnings
from enum import Enum
from typing import Any

from fusewright.base.errors import UnsupportedError


class ExecutionSpace(Enum):
    """Where kernels run."""

    Cuda = "Cuda"
    HIP = "HIP"
    OpenMP = "OpenMP"
    Threads = "Threads"
    Serial = "Serial"
    Debug = "Debug"
    Default = "Default"


class MemorySpace(Enum):
    """Where views lie."""

    HostSpace = "HostSpace"
    CudaSpace = "CudaSpace"
    CudaUVMSpace = "CudaUVMSpace"
    HIPSpace = "HIPSpace"
    HIPManagedSpace = "HIPManagedSpace"
    MemorySpaceDefault = "MemorySpaceDefault"


class Layout(Enum):
    """Which index runs fastest in memory: the last (right) or the first (left)."""

    LayoutRight = "LayoutRight"
    LayoutLeft = "LayoutLeft"
    LayoutDefault = "LayoutDefault"


class Trait(Enum):
    """What a view is used for; only `Atomic` changes what is compiled."""

    Atomic = "Atomic"
    TraitDefault = "TraitDefault"
    RandomAccess = "RandomAccess"
    Restrict = "Restrict"
    Unmanaged = "Unmanaged"


GPU = frozenset({ExecutionSpace.Cuda, ExecutionSpace.HIP})
_default: list[ExecutionSpace] = [ExecutionSpace.OpenMP]


def get_default_space() -> ExecutionSpace:
    """The space that `ExecutionSpace.Default` stands for."""
    return _default[0]


def set_default_space(space: ExecutionSpace) -> None:
    """Choose what `ExecutionSpace.Default` stands for."""
    if not isinstance(space, ExecutionSpace):
        raise TypeError(f"{space!r} is not an execution space")
    if space in GPU:
        warnings.warn(
            f"pykokkos.{space.name} runs on the CPU here: Fusewright's bridge has no GPU",
            stacklevel=2,
        )
    if space is not ExecutionSpace.Default:
        _default[0] = space


def on_cpu(space: Any) -> ExecutionSpace:
    """The space a policy names; a GPU that is named expressly is refused."""
    if isinstance(space, ExecutionSpaceInstance):
        space = space.space
    if space is ExecutionSpace.Default:
        return _default[0]
    if not isinstance(space, ExecutionSpace):
        raise TypeError(f"{space!r} is not an execution space")
    if space in GPU and space is not _default[0]:
        raise UnsupportedError(
            f"execution space {space.name}",
            why="this bridge runs PyKokkos programs on the CPU",
            help="use pk.ExecutionSpace.Default, or pk.set_default_space once at the start",
        )
    return space


class ExecutionSpaceInstance:
    """An instance of a space; on the CPU there is one queue, in program order."""

    def __init__(self, space: ExecutionSpace, stream: Any = None) -> None:
        self.space = on_cpu(space)
        if stream is not None:
            raise ValueError(f"Stream argument unsupported for space {space}")


def is_host_execution_space(space: ExecutionSpace) -> bool:
    """Whether a space is one of the CPU's."""
    return on_cpu(space) not in GPU


def get_default_memory_space(space: ExecutionSpace) -> MemorySpace:
    """The memory of a space."""
    del space
    return MemorySpace.HostSpace


def get_default_layout(space: MemorySpace) -> Layout:
    """The layout views have there."""
    del space
    return Layout.LayoutRight


def set_device_id(device: int) -> None:
    """Choose a GPU; there is none to choose."""
    if device != 0:
        raise UnsupportedError(f"device {device}", why="this bridge runs on the CPU")


_uvm = [False]


def enable_uvm() -> None:
    """Memory is always shared on the CPU; noted only."""
    _uvm[0] = True


def disable_uvm() -> None:
    """See `enable_uvm`."""
    _uvm[0] = False


def is_uvm_enabled() -> bool:
    """What was noted."""
    return _uvm[0]


def initialize() -> None:
    """Nothing needs to be started."""


def finalize() -> None:
    """Nothing needs to be ended."""
