"""Every element-wise op in terms of primitives: the table of decompositions and the pass that
applies it.
"""

from fusewright.rules.decompose.table import decompose, decompose_all

__all__ = ["decompose", "decompose_all"]
