"""Mistakes that a type checker finds: each line with a comment `error:` must be reported there.

No test runs this file; `tests/unit/test_types.py` has it checked.
"""

import fusewright as fw
import fusewright.numpy as np

y = np.linspace(0.0, 1.0, 1000)
print(y.shpe)  # error: shpe
print(np.sqrt(y).maen())  # error: maen
print(np.linalg.slove(y, y))  # error: slove
print(np.fft.ftt(y))  # error: ftt
print(np.randn(3))  # error: randn

with fw.options(thread=1):  # error: thread
    pass
with fw.options(threads="two"):  # error: threads
    pass
with fw.options(fuse_level="near"):  # error: fuse_level
    pass

ours: fw.Array = fw.asarray([1.0, 2.0])
print(ours.sise)  # error: sise
one, two, three = fw.evaluate(y, ours)  # error: unpack
print(fw.evaluate(y).shap)  # error: shap


@fw.jit
def scaled(x: fw.Array, factor: float) -> fw.Array:
    """A function of an array and a number."""
    return x * factor


@fw.kernel
def largest(x: fw.Array) -> tuple[float, int]:
    """Two results."""
    return x[0], 0


print(scaled(y))  # error: factor
print(scaled(y, "2"))  # error: str
print(scaled(y, 2.0).shpe)  # error: shpe
print(largest(y, 1))  # error: largest
first: str = largest(y)[0]  # error: str
print(fw.evalute(y))  # error: evalute
print(fw.explain(y).kernel)  # error: kernel
print(fw.numpy.zeros(3).shpe)  # error: shpe
print(scaled.calls)  # error: calls
print(scaled.__name__)
print(fw.show(y, "ptx"))  # error: show
for k in fw.ndrange("n"):  # error: ndrange
    print(k.shpe)  # error: shpe
fw.atomic_add(y, 0)  # error: atomic_add


@fw.kernel(integers="rust")  # error: integers
def first_of(x: fw.Array) -> float:
    """A setting that is none."""
    return x[0]


@fw.kernel(fuse="near")  # error: fuse
def last_of(x: fw.Array) -> float:
    """Another."""
    return x[-1]


held = fw.evaluate({"y": y})
print(held["y"].shpe)  # error: shpe
print(fw.evaluate((y, ours))[2])  # error: range
