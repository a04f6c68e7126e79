"""tqdm, joblib, pickle, multiprocessing: arrays that go through other people's loops."""

import os
import pickle
import tempfile

import joblib
import numpy as np
from joblib import Parallel, delayed
from tqdm import tqdm, trange

x = np.arange(900.0)
total = 0.0
for row in tqdm(x.reshape(30, 30), disable=True):
    total += row.sum()
print(total, sum(x[i] for i in trange(5, disable=True)))


def work(part):
    return np.sqrt(part).sum()


print(np.round(Parallel(n_jobs=1)(delayed(work)(x[k:]) for k in range(3)), 6))
print(np.round(Parallel(n_jobs=2, prefer="threads")(delayed(work)(x[k:]) for k in range(3)), 6))
path = os.path.join(tempfile.mkdtemp(), "file")
joblib.dump({"x": x}, path)
print(
    joblib.load(path)["x"].sum(),
    pickle.loads(pickle.dumps(x)).sum(),
    joblib.hash(x) == joblib.hash(x + 0),
)
memory = joblib.Memory(tempfile.mkdtemp(), verbose=0)
kept = memory.cache(work)
print(kept(x).round(6), kept(x).round(6))
