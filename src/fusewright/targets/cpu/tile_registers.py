"""Permission to use tile registers (AMX): Linux grants it to a process that asks, once for all its
threads; only then does it save that much state for them.
"""

from __future__ import annotations

import ctypes
from functools import cache

from fusewright.targets.cpu.features import FeatureSet

ARCH_PRCTL = 158
"""The system call's number on x86-64 Linux."""
ARCH_REQ_XCOMP_PERM = 0x1023
XTILEDATA = 18
"""The number of the state component."""
SPELLED = ",+amx-tile,+amx-bf16"
"""What LLVM calls them."""


@cache
def are_granted() -> bool:
    """Whether this process may use them.  Linux may refuse: it is older than 5.16, or some thread's
    alternate stack for signals is too small for the state.
    """
    system_call = ctypes.CDLL(None, use_errno=True).syscall
    return int(system_call(ARCH_PRCTL, ARCH_REQ_XCOMP_PERM, XTILEDATA)) == 0


def usable(features: FeatureSet) -> FeatureSet:
    """The same for code that uses tile registers, spelt so; without them where that is refused.
    Only asked for products of bfloat16: who has the permission saves more state at each signal.
    """
    if not features.has_tiles:
        return features
    if not are_granted():
        return features._replace(has_tiles=False)
    return features._replace(llvm_features=features.llvm_features + SPELLED)
