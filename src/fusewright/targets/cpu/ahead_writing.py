"""Single operations, compiled for an installation: the file that `ahead` reads."""

from __future__ import annotations

import os
import pickle
import zlib
from collections.abc import Iterable

from fusewright.base.options import Options
from fusewright.ir.dtypes import BFLOAT16, FLOAT32
from fusewright.ir.products import DTYPES
from fusewright.runtime.trace import Slice
from fusewright.targets.cpu import generator, products, threads
from fusewright.targets.cpu.ahead import FILE, MAGIC, OTHERS, name_of
from fusewright.targets.cpu.build import build
from fusewright.targets.cpu.native import form
from fusewright.targets.cpu.obtaining import kernels_of
from fusewright.targets.cpu.runner import assemble
from fusewright.targets.cpu.stored_programs import encoded


def write(slices: Iterable[Slice], options: Options, path: str = FILE) -> int:
    """Compile these for this processor, and the code of threads and products, for a package as
    installed at the path's; how many operations there are.
    """
    images = {threads.image_name(): threads.compiled_image()}
    for dtype in DTYPES:
        chosen = products.features_for(dtype, options.features)
        for result in (BFLOAT16, FLOAT32) if dtype is BFLOAT16 else (dtype,):
            parts = dtype, result, chosen
            images[products.image_name(*parts)] = products.compiled_image(*parts)
    assert len(images) == OTHERS
    entries = {name: zlib.compress(image.to_bytes()) for name, image in images.items()}
    for slice_ in slices:
        name = name_of(slice_.code_key(options), options)
        if name not in entries:
            compiled = build(slice_, options)
            program = form(assemble(compiled))
            if program is not None:
                entries[name] = zlib.compress(encoded(program, kernels_of(compiled), 0.0))
    places, at = {}, 0
    for name, data in entries.items():
        places[name] = (at, len(data))
        at += len(data)
    beside = f"{path}.{os.getpid()}"
    with open(beside, "wb") as file:
        file.write(MAGIC + pickle.dumps((generator.version("arrays"), places), protocol=5))
        file.writelines(entries.values())
    os.replace(beside, path)  # another process may be reading it
    return len(entries) - OTHERS
