"""PyKokkos programs, unmodified: `fusewright run --as pykokkos program.py`, or this import.

A work unit is compiled for the types it is given, in milliseconds and without a C++ compiler.  Its
iterations are independent because the program says so; its integers are C's.
"""

import numpy

import fusewright.bridges.pykokkos as pk


# A work unit of its own: arguments by keyword, types from what is passed.
@pk.workunit
def axpy(i, y, x, a):
    y[i] += a * x[i]


n = 1000
x, y = pk.View([n], pk.double), pk.View([n], pk.double)
x.fill(2.0)
pk.parallel_for(n, axpy, y=y, x=x, a=1.5)
assert y[0] == 3.0

# NumPy arrays can be passed as they are; they are complete when the call returns.
array = numpy.ones(n)
pk.parallel_for("named", pk.RangePolicy(pk.OpenMP, 0, n), axpy, y=array, x=x, a=0.5)
assert (array == 2.0).all()


# Reductions go by blocks of the range: the same bits on any number of threads.
@pk.workunit
def dot(i, acc, x, y):
    acc += x[i] * y[i]


total = pk.parallel_reduce(n, dot, x=x, y=y)
assert total == 6.0 * n and f"{total:.1f}" == "6000.0"


@pk.workunit
def least(i, acc: pk.Acc[pk.double], a):
    if a[i] < acc.val:
        acc.val = a[i]
        acc.loc = i


array[700] = -1.0
found = pk.parallel_reduce(n, least, reducer=pk.MinLoc, a=array)
assert found == (-1.0, 700)


# Functors: methods of an object whose fields are declared.  `//` of ints rounds towards zero.
@pk.functor
class Rows:
    def __init__(self, rows: int, columns: int):
        self.columns: int = columns
        self.a: pk.View2D[pk.int32] = pk.View([rows, columns], pk.int32)
        self.sums: pk.View1D[pk.double] = pk.View([rows], pk.double)

    @pk.function
    def entry(self, i: int, j: int) -> int:
        return (j - i) // 2

    @pk.workunit
    def fill(self, i: int, j: int):
        self.a[i][j] = self.entry(i, j)

    @pk.workunit
    def add(self, team: pk.TeamMember):
        i: int = team.league_rank()

        def one(j: int, acc: pk.Acc[pk.double]):
            acc += self.a[i][j]

        total: float = pk.parallel_reduce(pk.TeamThreadRange(team, self.columns), one)
        self.sums[i] = total


rows = Rows(4, 6)
pk.parallel_for(pk.MDRangePolicy([0, 0], [4, 6]), rows.fill)
pk.parallel_for(pk.TeamPolicy(4, pk.AUTO), rows.add)
print(rows.a)
print(rows.sums)

# What cannot be compiled is refused at the call, at its line.


@pk.workunit
def wrong(i, a):
    a[i] = undefined + 1  # noqa: F821


try:
    pk.parallel_for(n, wrong, a=array)
except pk.Error as error:
    print(error)
