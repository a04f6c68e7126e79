"""scikit-image: filters, segmentation, geometry, measures."""

import numpy as np
from skimage import (
    color,
    draw,
    exposure,
    feature,
    filters,
    measure,
    morphology,
    segmentation,
    transform,
    util,
)

grid = np.add.outer(np.sin(np.arange(60) / 5), np.cos(np.arange(60) / 7))
print(
    filters.gaussian(grid, 2).sum().round(6),
    filters.sobel(grid).sum().round(6),
    round(float(filters.threshold_otsu(grid)), 6),
)
mask = grid > 0.5
print(
    measure.label(mask).max(),
    len(measure.regionprops(measure.label(mask))),
    morphology.dilation(mask).sum(),
)
print(
    transform.resize(grid, (30, 30)).shape,
    transform.rotate(grid, 30).shape,
    transform.warp(grid, transform.AffineTransform(scale=(2, 2))).sum().round(4),
)
rr, cc = draw.disk((30, 30), 10)
grid[rr, cc] = 3.0
print(grid.sum().round(6), feature.canny(grid).sum(), len(measure.find_contours(grid, 0.8)))
print(
    exposure.rescale_intensity(grid).sum().round(5),
    color.gray2rgb(grid).shape,
    util.img_as_ubyte(grid / 4).sum(),
)
print(
    segmentation.watershed(-grid).max() > 0,
    segmentation.slic(np.stack([np.clip(grid, 0, 1)] * 3, -1), 10).max() > 1,
)
