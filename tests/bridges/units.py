"""Work units of every style, as programs write them; the tests run them."""

import math
from typing import List  # noqa: UP035 - as existing programs write it

import fusewright.bridges.pykokkos as pk


@pk.workunit
def conversions(i: int, out: pk.View1D[pk.double], whole: pk.View1D[pk.int32], x: float):
    half: int = x
    out[i] = half / 2
    whole[i] = -7 // 2 + (-7 % 3) * 100 + i
    k: int = 0
    k += 2.75
    out[i] += k


@pk.workunit
def unsigned(i, out, a, b):
    out[i] = a[i] - b[i]


@pk.workunit
def small(i, out, a):
    out[i] = a[i] * a[i]


@pk.workunit
def functions(i, out, x):
    out[i] = sqrt(x[i]) + pow(x[i], 2) + math.fabs(-x[i]) + fmax(x[i], 1.5) + abs(-i) + min(i, 2)  # noqa: F821


@pk.workunit
def special_functions(i, out, x):
    out[0][i] = tgamma(x[i])  # noqa: F821
    out[1][i] = lgamma(x[i])  # noqa: F821
    out[2][i] = cyl_bessel_j0(x[i])  # noqa: F821
    out[3][i] = pk.cyl_bessel_j1(x[i])


@pk.workunit
def special_functions_of_python(i, out, x):
    out[0][i] = math.gamma(x[i])
    out[1][i] = math.lgamma(x[i])
    out[2][i] = pk.cyl_bessel_j0(x[i])
    out[3][i] = pk.cyl_bessel_j1(x[i])


@pk.workunit
def powers(i, out):
    out[i] = 2**i + (i + 1) ** 3


@pk.workunit
def listed(i, out):
    x: List[int] = [i, 2 * i, 3]  # noqa: UP006
    out[i] = x[0] + x[1] + x[2]


@pk.workunit
def chained(i, out, count):
    k: int = 0
    k = count[0] = i + 1
    out[i] = k


@pk.workunit
def loops(i, out, n):
    total: int = 0
    for j in range(0, n, 2):
        if j == 4:
            continue
        if j > 8:
            break
        total += j
    k: int = 0
    while k < i:
        total += 100
        k += 1
    out[i] = total


@pk.workunit
def rows(i, out, a):
    row = a[i, :]
    inner = a[1:, i]
    out[i] = row[0] + 10 * row[a.extent(1) - 1] + 100 * inner[0]


@pk.classtype
class Pair:
    def __init__(self, x: float, k: int):
        self.x: float = x
        self.k: int = k

    def total(self) -> float:
        if self.k > 2:
            return self.x + self.k
        return self.x


@pk.classtype
class Nested:
    def __init__(self, pair: Pair):
        self.pair: Pair = Pair(pair.x, pair.k)

    def total(self) -> float:
        return 2 * self.pair.total()


@pk.function
def shift(pair: Pair, by: int) -> None:
    pair.k = by


@pk.function
def truncated(x: float) -> int:
    return x * 1.5


@pk.workunit
def objects(i, out):
    pair: Pair = Pair(i, i)
    nested: Nested = Nested(pair)
    shift(pair, 7)
    out[i] = pair.total() + 1000 * nested.total() + 0.5 * truncated(i)


@pk.functor
class Scaled:
    def __init__(self, n: int):
        self.n: int = n
        self.scale: float = 3
        self.limit: int = 2
        self.a: pk.View1D[pk.double] = pk.View([n], pk.double)
        self.b: pk.View2D[pk.int32] = pk.View([n, 3], pk.int32)

    @pk.function
    def value(self, i: int) -> float:
        return self.scale * i / self.limit

    @pk.workunit
    def fill(self, i: int):
        self.a[i] = self.value(i)
        for j in range(3):
            self.b[i][j] = self.value(i) + j

    @pk.workunit
    def bare(self, i: int):
        a[i] = scale + i  # noqa: F821

    @pk.workunit
    def total(self, i: int, acc: pk.Acc[pk.double]) -> None:
        acc += self.a[i] + self.b[i][2]

    @pk.workunit
    def running(self, i: int, acc: pk.Acc[pk.double], last_pass: bool) -> None:
        acc += self.b[i][0]
        if last_pass:
            self.a[i] = acc


@pk.workload
class Statistics:
    def __init__(self, n: int):
        self.n: int = n
        self.a: pk.View1D[pk.int32] = pk.View([n], pk.int32)
        self.total: int = 0
        self.cells: float = n
        self.squares: float = 0
        self.seconds: float = -1.0
        self.shown: str = ""

    @pk.main
    def run(self):
        timer = pk.Timer()
        pk.parallel_for("fill", self.n, lambda i: i + 1, self.a)
        pk.parallel_for(n, self.double)  # noqa: F821
        self.total = pk.parallel_reduce(self.n, lambda i, acc: acc + self.a[i] / 2)
        self.squares = pk.parallel_reduce("squares", self.n, self.square)
        self.seconds = timer.seconds()

    @pk.workunit
    def double(self, i: int):
        self.a[i] *= 2

    @pk.workunit
    def square(self, i: int, acc: pk.Acc[pk.double]):
        acc += self.a[i] ** 2

    @pk.callback
    def results(self):
        self.shown = f"{self.total} {self.squares}"


@pk.workunit
def own_names(i, total, x, block, size):
    total += x[i] * block + size
