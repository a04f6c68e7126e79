"""The peers, each set up at its best: two threads, 64-bit JAX, warnings of no interest off."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

THREADS = min(2, len(os.sched_getaffinity(0)))
os.environ.setdefault("OMP_NUM_THREADS", str(THREADS))
os.environ.setdefault("NUMBA_NUM_THREADS", str(THREADS))
os.environ.setdefault("NUMEXPR_MAX_THREADS", str(THREADS))
os.environ.setdefault("JAX_PLATFORMS", "cpu")
warnings.filterwarnings("ignore", message=".*not writable.*")


def numexpr() -> Any:
    import numexpr

    numexpr.set_num_threads(THREADS)
    return numexpr


def numba() -> Any:
    import numba

    numba.set_num_threads(THREADS)
    return numba


def jax() -> Any:
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax


def torch() -> Any:
    import torch

    torch.set_num_threads(THREADS)
    return torch


def jitted(function: Callable[..., Any], *inputs: NDArray[Any]) -> Callable[[], Any]:
    """JAX: inputs are device arrays already, and the call waits for the result."""
    library = jax()
    compiled = library.jit(function)
    arrays = [library.numpy.asarray(values) for values in inputs]
    return lambda: compiled(*arrays).block_until_ready()


def torch_compiled(function: Callable[..., Any], *inputs: Any) -> Callable[[], Any]:
    """torch.compile (inductor, C++): tensors share the inputs' memory."""
    library = torch()
    compiled = library.compile(function, dynamic=False)
    tensors = [library.from_numpy(values) for values in inputs]

    def run() -> Any:
        with library.no_grad():
            return compiled(*tensors)

    return run


ALIGNMENT = 64


def aligned(count: int, dtype: str) -> NDArray[Any]:
    """Memory every peer can take as it is: JAX adopts only what begins at a 64-byte boundary."""
    size = np.dtype(dtype).itemsize
    raw = np.empty(count * size + ALIGNMENT, np.uint8)
    offset = -raw.ctypes.data % ALIGNMENT
    return raw[offset : offset + count * size].view(dtype)


def normal(shape: tuple[int, ...], dtype: str, seed: int) -> NDArray[Any]:
    """Standard normal numbers in aligned memory, made piece by piece (without a second array)."""
    count = int(np.prod(shape))
    values = aligned(count, dtype)
    generator = np.random.default_rng(seed)
    for start in range(0, count, 1 << 22):
        piece = values[start : start + (1 << 22)]
        generator.standard_normal(piece.size, dtype=np.dtype(dtype).type, out=piece)
    return values.reshape(shape)


def freeze(*arrays: NDArray[Any]) -> None:
    """Make them, and the memory they look into, read-only: `asarray` then adopts them as they are,
    so that everybody reads the same memory.
    """
    for array in arrays:
        base: Any = array
        while isinstance(base, np.ndarray):
            base.flags.writeable = False
            base = base.base
