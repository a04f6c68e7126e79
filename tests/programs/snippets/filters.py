"""image filters"""

import numpy as np

R = []
rng = np.random.default_rng(0)
img = rng.random((64, 48, 3))
g = img @ np.array([0.299, 0.587, 0.114])
gx = np.zeros_like(g)
gx[:, 1:-1] = g[:, 2:] - g[:, :-2]
gy = np.gradient(g, axis=0)
mag = np.hypot(gx, gy)
edges = mag > mag.mean() + mag.std()
k = np.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1]) / 256.0
pad = np.pad(g, 2, mode="reflect")
blur = sum(k[i, j] * pad[i : i + 64, j : j + 48] for i in range(5) for j in range(5))
med = np.median(
    np.stack([np.roll(g, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)]), axis=0
)
u8 = (np.clip(g, 0, 1) * 255).astype(np.uint8)
hist, bins = np.histogram(u8, 256, (0, 256))
cdf = hist.cumsum() / hist.sum()
eq = (cdf[u8] * 255).astype("u1")
win = np.lib.stride_tricks.sliding_window_view(g, (3, 3)).mean(axis=(2, 3))
inv = 255 - u8
thr = np.where(u8 > 128, 255, 0).astype(np.uint8)
rot = np.rot90(img)
flip = img[::-1, :, ::-1]
crop = img[10:20, 5:15].copy()
crop[..., 0] = 0
R += [
    gx,
    gy,
    edges,
    blur,
    med,
    hist,
    bins,
    eq,
    win,
    inv,
    thr,
    rot,
    flip,
    crop,
    img.mean((0, 1)),
    u8.sum(),
    u8 + u8,
    u8.astype(int) - 200,
    u8 // 3,
    u8 << 1,
    u8 >> 2,
    u8 ^ 255,
]
