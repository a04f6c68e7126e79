"""The functions outside that compiled code may call: one explicit table, so that nothing is bound
by accident.
"""

from __future__ import annotations

import ctypes

from fusewright.base.errors import InternalError

_C = (
    "memcpy", "memmove", "memset", "bzero", "memcmp", "strlen",
    "syscall", "__errno_location", "malloc", "free",
    "pthread_create", "pthread_detach", "pthread_sigmask",
)  # fmt: skip
_MATH = tuple(
    stem + suffix
    for stem in ("fma", "fmod", "floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven")
    for suffix in ("", "f")
)
_PYTHON = (
    "PyLong_AsVoidPtr", "PyLong_AsLongLong", "PyLong_FromLongLong",
    "PyErr_Occurred", "PyErr_BadArgument", "PyEval_SaveThread", "PyEval_RestoreThread",
)  # fmt: skip
_COMPILER_RT = ("__extendhfsf2", "__truncsfhf2", "__truncdfhf2")

LIBRARY = {
    **dict.fromkeys(_C, "c"),
    **dict.fromkeys(_MATH, "m"),
    **dict.fromkeys(_COMPILER_RT, "gcc"),
    **dict.fromkeys(_PYTHON, "python"),
}
"""Which library each name comes from."""

_FILES = {"c": None, "m": "libm.so.6", "gcc": "libgcc_s.so.1"}
_libraries: dict[str, ctypes.CDLL] = {}
addresses: dict[str, int] = {}


def address(name: str) -> int:
    """Where a function lies in this process."""
    known = addresses.get(name)
    if known is not None:
        return known
    library = LIBRARY.get(name)
    if library is None:
        raise InternalError(f"compiled code calls {name!r}, which is not in the table of externals")
    try:
        function = getattr(_open(library), name)
    except (OSError, AttributeError) as error:
        raise InternalError(f"this system has no {name!r}: {error}") from error
    found = ctypes.cast(function, ctypes.c_void_p).value
    assert found is not None
    addresses[name] = found
    return found


def _open(library: str) -> ctypes.CDLL:
    if library == "python":
        return ctypes.pythonapi
    if library not in _libraries:
        _libraries[library] = ctypes.CDLL(_FILES[library])
    return _libraries[library]
