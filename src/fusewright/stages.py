"""The driver's stages, and an unexpected error as one of ours that names its stage."""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.base.errors import InternalError
from fusewright.base.interruptions import is_interruption
from fusewright.base.source import is_inside
from fusewright.ir.graph import Node
from fusewright.ir.text import nodes_text

STAGES = ("slice", "cache", "nests", "plan", "lower", "compile", "run")
"""In order; `record` and `library` stand outside the flow."""
_STAGE_OF = (
    ("runtime/trace.py", "slice"), ("runtime/reuse.py", "slice"), ("runtime/cache.py", "cache"),
    ("cpu/compiled.py", "cache"), ("cpu/disk_keys.py", "cache"),
    ("cpu/stored_programs.py", "cache"), ("plan/explain.py", "record"), ("plan/count.py", "record"),
    ("analysis/traffic.py", "record"),
    ("codegen/listing.py", "record"), ("cpu/record.py", "record"), ("runtime/trigger.py", "record"),
    ("plan/fuse.py", "plan"), ("plan/merge.py", "plan"), ("plan/", "nests"), ("codegen/", "lower"),
    ("rules/", "lower"), ("cpu/compiler.py", "compile"), ("cpu/llvm.py", "compile"),
    ("runtime/elf.py", "compile"), ("runtime/image.py", "compile"), ("cpu/", "run"),
)  # fmt: skip
"""Which stage a file belongs to; the first that fits."""


def internal_error(error: Exception, pending: Sequence[Node]) -> InternalError | None:
    """An unexpected error as ours, with the stage and the program; None for one that a library step
    or a signal's handler raised.
    """
    if is_interruption(error):
        return None
    found = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename.endswith("reference/interpreter.py") and code.co_name == "_opaque":
            return None
        stage = next((name for part, name in _STAGE_OF if part in code.co_filename), "")
        found = stage if is_inside(code) and stage else found
        trace = trace.tb_next
    passed = STAGES[: STAGES.index(found) + 1] if found in STAGES else (found or "driver",)
    what = f"{type(error).__name__} in stage {passed[-1]!r}: {error}"
    return InternalError(f"{what}\nthe slice:\n{nodes_text(pending)}", passed)
