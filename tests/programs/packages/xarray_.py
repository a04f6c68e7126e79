"""xarray: labelled arrays, selection, arithmetic."""

import numpy as np
import xarray as xr

values = np.arange(900.0).reshape(30, 30)
array = xr.DataArray(
    values, dims=("x", "y"), coords={"x": np.arange(30), "y": np.linspace(0, 1, 30)}
)
print(
    array.mean("x").sum().item(),
    array.sel(x=np.arange(5)).shape,
    array.isel(x=slice(3, 9)).sum().item(),
)
print(
    (array + values).sum().item(),
    (values * array).sum().item(),
    array.where(array > 5).sum().item(),
    np.sin(array).sum().item().__round__(6),
)
dataset = xr.Dataset({"a": array, "b": (("x", "y"), values * 2)})
print(
    dataset["b"].values.sum(),
    dataset.interp(y=np.linspace(0, 1, 7))["a"].shape,
    array.groupby("x").sum().shape,
)
array[:, 3] = values[:, 2]
print(
    array.to_pandas().values.sum(),
    array.rolling(x=3).mean().sum().item(),
    type(array.values).__name__,
)
