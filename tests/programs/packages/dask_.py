"""Dask: arrays in blocks made of arrays."""

import dask
import dask.array as da
import numpy as np

values = np.arange(9000.0).reshape(90, 100)
blocks = da.from_array(values, chunks=(30, 50))
print(
    blocks.sum().compute(),
    (blocks + values).mean(axis=0).compute().sum(),
    (blocks @ blocks.T).compute().shape,
)
print(
    blocks[values > 8000].sum().compute(),
    da.map_blocks(np.sqrt, blocks).sum().compute().round(6),
    np.sin(blocks).compute().sum().round(6),
)
print(
    dask.delayed(np.sum)(values).compute(),
    da.where(blocks > 5, blocks, 0).max().compute(),
    da.concatenate([blocks, values]).shape,
)
