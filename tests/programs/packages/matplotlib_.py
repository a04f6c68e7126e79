"""matplotlib: lines, images, histograms, collections, without a screen."""

import io

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.animation as animation
import matplotlib.pyplot as plt
from matplotlib import cm, colors

x = np.linspace(0, 10, 900)
y = np.sin(x)
fig, axes = plt.subplots(2, 2)
(line,) = axes[0, 0].plot(x, y, "r-", label="sine")
axes[0, 0].fill_between(x, y, 0 * y, where=y > 0)
axes[0, 0].scatter(x[::9], y[::9], c=y[::9], s=10 * x[::9])
image = axes[0, 1].imshow(np.outer(y[:30], x[:30]))
counts, edges, _ = axes[1, 0].hist(y, bins=np.linspace(-1, 1, 11))
print(counts.tolist(), len(edges))
grid_x, grid_y = np.meshgrid(x[:40], x[:30])
axes[1, 1].contourf(grid_x, grid_y, grid_x * grid_y)
axes[1, 1].quiver(grid_x, grid_y, grid_x, -grid_y)
line.set_data(x, y * 2)
image.set_data(np.outer(x[:30], y[:30]))
print(
    np.asarray(line.get_ydata()).max().round(6),
    cm.viridis(y[:700] * 0.5 + 0.5).shape,
    colors.Normalize(0, 1)(y).shape,
)
plt.figure()
plt.errorbar(x[:600], y[:600], yerr=np.abs(y[:600]))
plt.bar(np.arange(600), y[:600])
plt.pcolormesh(grid_x, grid_y, grid_x[:-1, :-1])
film = animation.FuncAnimation(fig, lambda k: line.set_ydata(y * k), frames=2)
film._init_draw()
target = io.BytesIO()
fig.savefig(target, format="png", dpi=40)
print(len(target.getvalue()) > 1000)
