"""Products of matrices and what stands around them: blocks of rows pass through the whole chain.

`maximum(x @ w1 + b, 0) @ w2` has a hidden array of 50 MB.  Computed as a whole it goes to memory
and comes back several times; here a few hundred rows at a time pass through both products, and the
hidden array never leaves the cache.  The bits are the same either way.
"""

import numpy

import fusewright as fw
import fusewright.numpy as np

rng = numpy.random.default_rng(0)
x = fw.asarray(rng.standard_normal((50_000, 64), dtype="float32"))
w1 = fw.asarray(rng.standard_normal((64, 256), dtype="float32"))
w2 = fw.asarray(rng.standard_normal((256, 64), dtype="float32"))
b = fw.asarray(rng.standard_normal(256, dtype="float32"))


def network(x: fw.Array) -> fw.Array:
    return np.maximum(x @ w1 + b, 0) @ w2


explanation = fw.explain(network(x))  # nothing has run yet
print(explanation)
(chain,) = explanation.kernels
assert [decision.fused for decision in chain.decisions] == [True]

with fw.options(fuse=False):
    alone = numpy.asarray(network(x))
assert numpy.asarray(network(x)).tobytes() == alone.tobytes()
print("every bit is the same")

# Where fusing would gain too little, the reason stands there, with the number.
square = fw.asarray(rng.standard_normal((512, 512), dtype="float32"))
declined = fw.explain(np.maximum(square @ square, 0) @ square)
reasons = {decision.why for kernel in declined.kernels for decision in kernel.decisions}
print("not fused:", *sorted(reasons))
