"""Every element-wise op in terms of primitives: the table of decompositions and the pass that
applies it.
"""

from fusewright.rules.decompose.table import OPAQUE_OPS, decompose, decompose_all

__all__ = ["OPAQUE_OPS", "decompose", "decompose_all"]
