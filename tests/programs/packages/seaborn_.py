"""seaborn: plots of arrays."""

import matplotlib
import numpy as np

matplotlib.use("Agg")
import seaborn as sns

x = np.linspace(0, 5, 700)
axes = sns.lineplot(x=x, y=np.sin(x))
sns.histplot(np.sin(x), bins=10, ax=axes)
heat = sns.heatmap(np.outer(x[:30], x[:30]))
print(len(axes.lines) > 0, sns.kdeplot(x=np.sin(x)) is not None, len(sns.color_palette("husl", 5)))
