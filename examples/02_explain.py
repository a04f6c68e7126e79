"""Ask what would run, and why: `fw.explain`.

It tells the kernels, where every intermediate lives, what was not fused and why, and how many bytes
move beside what one operation at a time would move.  With `spans=True` it names your lines.
"""

import fusewright as fw
import fusewright.numpy as np

with fw.options(spans=True):
    x = fw.evaluate(np.linspace(0.0, 10.0, 3_000_000).reshape(1000, 3000))
    e = np.exp(x - x.max(axis=1, keepdims=True))
    softmax = e / e.sum(axis=1, keepdims=True)

explanation = fw.explain(softmax)  # nothing runs
print(explanation)

# The numbers are attributes as well.
(kernel,) = explanation.kernels
assert explanation.bytes_unfused > 2 * explanation.bytes_moved
assert {o.name: o.place for o in kernel.operations}["exp"] == "row"  # kept in cache


# A function is run, and everything it ran is told.
def normalise(values: fw.Array) -> float:
    return float((values / values.max()).sum())


print(fw.explain(normalise, x))
