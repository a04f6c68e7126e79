"""h5py: data sets written and read, by parts."""

import os
import tempfile

import h5py
import numpy as np

a = np.arange(900.0).reshape(30, 30)
path = os.path.join(tempfile.mkdtemp(), "file.h5")
with h5py.File(path, "w") as file:
    file.create_dataset("a", data=a)
    file["b"] = a * 2
    part = file.create_dataset("c", (30, 30), "f4", compression="gzip")
    part[:10] = a[:10]
    part[10:, 3] = a[10:, 3]
    file.attrs["scale"] = a[0]
    file["c"].write_direct(a.astype("f4"))
with h5py.File(path) as file:
    print(
        file["a"][:].sum(),
        file["b"][5, a[0] > 20].sum(),
        file["c"][...].mean(),
        file.attrs["scale"].sum(),
    )
    target = np.zeros((30, 30))
    file["a"].read_direct(target)
    print(
        target.sum(),
        np.asarray(file["a"]).sum(),
        (file["a"][:] + a).sum(),
        file["a"][[1, 4, 6]].sum(),
    )
