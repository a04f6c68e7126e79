"""Reductions with what comes before and after: a row stays in cache.

Layer normalisation reads each row three times.  NumPy reads it from memory three times and writes
four temporaries; here a row is fetched once and the intermediates never leave the cache.
"""

import numpy

import fusewright as fw
import fusewright.numpy as np


def layer_norm(x: fw.Array) -> fw.Array:
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred * centred).mean(axis=1, keepdims=True)
    return centred / np.sqrt(variance + 1e-5)


source = numpy.random.default_rng(0).random((512, 768))
x = fw.asarray(source)
result = layer_norm(x)

explanation = fw.explain(result)
print(explanation)
assert len(explanation.kernels) == 1
assert explanation.bytes_moved == 2 * source.nbytes  # one pass in, one pass out

centred = source - source.mean(axis=1, keepdims=True)
expected = centred / numpy.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-5)
assert numpy.allclose(result, expected)
