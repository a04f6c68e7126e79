"""imageio and tifffile: pictures written and read."""

import os
import tempfile

import imageio
import imageio.v3 as iio
import numpy as np
import tifffile

folder = tempfile.mkdtemp()
pixels = (np.arange(40 * 50 * 3).reshape(40, 50, 3) % 251).astype(np.uint8)
iio.imwrite(os.path.join(folder, "a.png"), pixels)
print(iio.imread(os.path.join(folder, "a.png")).sum() == pixels.sum(), imageio.__name__)
imageio.mimsave(os.path.join(folder, "a.gif"), [pixels, pixels[::-1]])
with iio.imopen(os.path.join(folder, "b.png"), "w") as file:
    file.write(pixels)
tifffile.imwrite(os.path.join(folder, "a.tif"), pixels.astype(np.float32))
print(
    tifffile.imread(os.path.join(folder, "a.tif")).sum(),
    iio.imread(os.path.join(folder, "b.png")).shape,
)
