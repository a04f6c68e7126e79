"""Python's own library, and functions that choose by type."""

import array
import bisect
import ctypes
import functools
import hashlib
import io
import json
import math
import statistics
import struct
import wave
import zlib

import numpy as np


@functools.singledispatch
def kind(x):
    return "something"


@kind.register(np.ndarray)
def _(x):
    return "array"


x = np.arange(900.0)
small = (x % 251).astype(np.uint8)
print(
    kind(x),
    kind(3),
    isinstance(x, np.ndarray),
    hashlib.md5(x).hexdigest(),
    zlib.crc32(x),
    len(bytes(x)),
)
print(
    array.array("d", x)[5],
    bisect.bisect(x, 5.5),
    math.fsum(x),
    statistics.mean(x[:5]),
    struct.unpack_from("d", x, 8),
)
print(
    memoryview(x).shape,
    json.dumps(x[:3].tolist()),
    x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[7],
    sum(x[:4]),
    max(x),
    sorted(x)[3],
)
file = io.BytesIO()
with wave.open(file, "wb") as sound:
    sound.setparams((1, 1, 8000, 0, "NONE", ""))
    sound.writeframes(small)
print(len(file.getvalue()), io.BytesIO(bytes(small)).readinto(small), small[3])
ctypes.memset(x.ctypes.data, 0, 80)
print(x[:12].tolist(), ctypes.c_double.from_buffer_copy(x, 88).value)
