"""pandas: columns, masks, indexing, arithmetic, grouping, and back."""

import numpy as np
import pandas as pd

n = 800
a = np.arange(1.0 * n)
b = np.sin(a)
frame = pd.DataFrame({"a": a, "b": b, "g": np.arange(n) % 4})
print(
    frame[a > 700].shape,
    frame.loc[b > 0.5].shape,
    frame.loc[b > 0.5, "a"].sum(),
    frame.iloc[np.arange(0, n, 7)].shape,
)
frame["c"] = a * 2
frame.loc[a < 10, "c"] = 0.0
frame["d"] = np.where(frame["a"] > 5, a, b)
print(frame.sum().round(6).tolist())
series = pd.Series(a, index=np.arange(n) * 2)
print(
    series[series > 790].sum(),
    (series + a).sum(),
    (a + series).sum(),
    (series * b).round(6).max(),
    series.isin(a[:10]).sum(),
)
print(type(a * series).__name__, type(series.values + a).__name__ in ("ndarray", "Array"))
print(
    frame.groupby("g")["a"].agg([np.mean, "sum"]).values.tolist(),
    frame.groupby(np.arange(n) % 3)["a"].sum().tolist(),
)
print(
    pd.cut(a, 4).value_counts().tolist(),
    pd.DataFrame(b.reshape(-1, 4)).corr().round(4).values.tolist()[0],
)
print(
    pd.Series(a).where(a > 3, b).sum().round(6),
    pd.Series(a).mask(a > 3).count(),
    pd.Series(a).map(np.sqrt).sum().round(6),
)
print(
    pd.Series(b).rolling(5).mean().sum().__round__(6),
    np.mean(frame["a"]),
    np.log1p(frame["a"]).sum().round(6),
)
print(
    pd.Index(a).get_indexer(a[5:9]).tolist(),
    pd.to_datetime(np.arange(n)).shape,
    pd.unique(np.arange(n) % 5).tolist(),
)
frame["a"] = frame["a"].values - frame["a"].values.mean()
print(
    np.asarray(frame["a"]).sum(),
    pd.concat([frame, pd.DataFrame({"a": a})]).shape,
    frame.to_numpy().shape,
)
print(
    pd.merge(frame, pd.DataFrame({"g": np.arange(n) % 8, "z": a}), on="g").shape,
    frame.assign(e=a**2).e.sum(),
)
series[b > 0.9] = -1.0
print(series.sum().round(6), frame.eval("a + c").sum().round(4))


class Own:
    """A class of the program's that names what makes classes of C safe."""

    def __new__(cls) -> object:
        return object.__new__(cls)

    def __reduce__(self) -> object:
        return object.__reduce__(self)


print(type(Own()).__name__, pd.Timedelta(seconds=3), pd.date_range("2020", periods=3, freq="s")[1])
