"""Loop nests written briefly: index expressions with Python's operators, reads and writes."""

from dataclasses import replace

from fusewright.analysis.unit import Access, Carried, Dim, Effect, Facts, Unit
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.ir.expr import Expr, cast, const, index, load, op, param, typed_op


def lift(value):
    """An expression of a number or of a wrapped expression."""
    if isinstance(value, X):
        return value.expr
    return value if isinstance(value, Expr) else const(value, INT64)


class X:
    """An int64 expression with operators."""

    def __init__(self, expr):
        self.expr = expr

    def __add__(self, other):
        return X(op("add", self.expr, lift(other)))

    def __radd__(self, other):
        return X(op("add", lift(other), self.expr))

    def __sub__(self, other):
        return X(op("subtract", self.expr, lift(other)))

    def __rsub__(self, other):
        return X(op("subtract", lift(other), self.expr))

    def __mul__(self, other):
        return X(op("multiply", self.expr, lift(other)))

    __rmul__ = __mul__

    def __floordiv__(self, other):
        return X(op("floor_divide", self.expr, lift(other)))

    def __mod__(self, other):
        return X(op("remainder", self.expr, lift(other)))

    def __and__(self, other):
        return X(op("bitwise_and", self.expr, lift(other)))

    def __or__(self, other):
        return X(op("bitwise_or", self.expr, lift(other)))

    def __xor__(self, other):
        return X(op("bitwise_xor", self.expr, lift(other)))

    def __lshift__(self, other):
        return X(op("left_shift", self.expr, lift(other)))

    def __rshift__(self, other):
        return X(op("right_shift", self.expr, lift(other)))

    def __abs__(self):
        return X(op("absolute", self.expr))

    def __lt__(self, other):
        return op("less", self.expr, lift(other))

    def __gt__(self, other):
        return op("greater", self.expr, lift(other))

    def __ge__(self, other):
        return op("greater_equal", self.expr, lift(other))

    def eq(self, other):
        return op("equal", self.expr, lift(other))

    def to(self, dtype):
        return X(cast(self.expr, dtype))


i, j, k = X(index(0)), X(index(1)), X(index(2))
n, m = X(param(0, INT64)), X(param(1, INT64))
NAMED = Facts(names=((0, "n"), (1, "m")))
LETTERS = "ijkl"


def least(a, b):
    return X(typed_op("imin", INT64, lift(a), lift(b)))


def most(a, b):
    return X(typed_op("imax", INT64, lift(a), lift(b)))


def choose(condition, a, b):
    return X(op("where", condition, lift(a), lift(b)))


def table(number, *indices):
    """An element of an index table (root `number`)."""
    return X(load(number, tuple(map(lift, indices)), INT64))


def flag(number, *indices):
    """The same as a condition."""
    return load(number, tuple(map(lift, indices)), BOOL)


def dim(number, high, low=0):
    return Dim(number, lift(low), lift(high), LETTERS[number] if number < 4 else "")


def read(root, *indices, **more):
    return _access(root, "read", indices, more)


def write(root, *indices, **more):
    return _access(root, "write", indices, more)


def update(root, *indices, op="add", **more):
    return _access(root, "update", indices, {"op": op, **more})


def _access(root, mode, indices, more):
    if "when" in more:
        more["guards"] = (more.pop("when"),)
    if "value" in more:
        more["value"] = lift(more["value"])
    more.setdefault("name", root if isinstance(root, str) else f"b{root}")
    return Access(root, mode, tuple(map(lift, indices)), **more)


def nest(dims, *parts, **more):
    """A unit of accesses, effects and carried scalars, in the order written."""
    numbered = [
        part if isinstance(part, Carried) else replace(part, order=k, statement=k)
        for k, part in enumerate(parts)
    ]
    return Unit(
        tuple(dims),
        tuple(part for part in numbered if isinstance(part, Access)),
        tuple(part for part in numbered if isinstance(part, Effect)),
        tuple(part for part in numbered if isinstance(part, Carried)),
        **more,
    )


def loop(high, *parts):
    """A nest of one loop."""
    return nest([dim(0, high)], *parts)
