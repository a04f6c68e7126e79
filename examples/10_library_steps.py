"""Library steps: what is not compiled runs as it is, and is named.

Decompositions, sorting and FFTs are done best by their libraries.  They are steps of the recorded
program like any other: what comes before and after still fuses.
"""

import numpy

import fusewright as fw
import fusewright.numpy as np

rng = numpy.random.default_rng(0)
a = fw.asarray(rng.random((200, 200)))
b = fw.asarray(rng.random((200, 200)))


def row_sums(a: fw.Array, b: fw.Array) -> fw.Array:
    return fw.evaluate(np.tanh(np.linalg.solve(a + 200 * np.eye(200), b - 1)).sum(axis=1))


explanation = fw.explain(row_sums, a, b)  # calls it, and tells what ran
result = explanation.result
print(explanation)
assert [step.name for step in explanation.library_steps] == ["linalg.solve"]

sorted_sum = np.sort(result)[::-1].cumsum()
print("the largest three add up to", sorted_sum[2])
assert numpy.isclose(float(sorted_sum[2]), numpy.sort(numpy.asarray(result))[-3:].sum())
