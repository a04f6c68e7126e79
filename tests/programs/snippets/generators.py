"""random"""

import numpy as np

R = []
rng = np.random.default_rng(42)
R += [
    rng.normal(size=5),
    rng.integers(0, 10, (2, 3)),
    rng.random(3, dtype=np.float32),
    rng.choice(10, 4, replace=False),
    rng.permutation(5),
    rng.uniform(1, 2),
    rng.standard_normal(),
    rng.poisson(3.0, 4),
    rng.multivariate_normal([0, 0], np.eye(2), 2),
    rng.shuffle(np.arange(3)),
    rng.exponential(size=2),
    rng.binomial(10, 0.3, 3),
    rng.dirichlet([1, 2, 3]),
    rng.bytes(3),
]
np.random.seed(1)
R += [
    np.random.rand(3),
    np.random.randn(2, 2),
    np.random.randint(0, 5, 4),
    np.random.random(),
    np.random.choice([1, 2, 3]),
    np.random.normal(0, 1, 2),
    np.random.uniform(size=2),
]
rs = np.random.RandomState(3)
R += [rs.rand(2), rs.permutation(4)]
a = np.arange(5)
rs.shuffle(a)
R.append(a)
st = np.random.get_state()
x = np.random.rand()
np.random.set_state(st)
R.append(x == np.random.rand())
out = np.empty(3)
rng.random(out=out)
R.append(out)
ss = np.random.SeedSequence(5).spawn(2)
R.append([np.random.default_rng(s).random() for s in ss])
g = np.random.Generator(np.random.PCG64(1))
R.append(g.random(2))
R.append(rng.normal(np.arange(3.0), np.ones(3)))
R.append(rng.choice(["a", "b"], 3))
R.append(rng.permuted(np.arange(6).reshape(2, 3), axis=1))
