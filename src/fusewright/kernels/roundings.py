"""Pending calls of kernels are rounded as the settings say that held where they were called: where
a block with other ones begins or ends, they are computed.

```
with fw.options(reassociate=True):
    total = sums(x)         # a pending call of a kernel
print(total)                # computed when the block ended: in any order
```
"""

from __future__ import annotations

from fusewright.base.options import Options, context, watchers
from fusewright.frontends.arrays import trace


def _options_changed(old: Options, new: Options) -> None:
    if _roundings(old) == _roundings(new) or not trace.pending:
        return
    token = context.set(old)
    try:
        trace.flush()
    finally:
        context.reset(token)


def _roundings(options: Options) -> tuple[bool, bool]:
    """The settings that decide what bits a result has."""
    return options.reassociate, options.contract


watchers.append(_options_changed)
