"""Programs whose meaning must not depend on which form of the core runs them.

Run as a script it prints one line for each case: its name and everything that can be seen of its
outcome (class, element type, shape, bytes; or the error's class, words and place).
"""

from __future__ import annotations

import copy
import inspect
import itertools
import operator
import pickle
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from foreign import FOREIGN
from outcomes import outcome
from tables import BINARY, DTYPES, INPLACE, KEYS, NUMBERS, SHAPES, UFUNCS, UNARY

import fusewright as fw
import fusewright.numpy as fnp

Case = tuple[str, Callable[[], Any]]
Names = tuple[str, ...]


def array(dtype: str, shape: tuple[int, ...] = (3,)) -> Any:
    values = np.arange(1, 1 + int(np.prod(shape))).reshape(shape) % 5
    return fw.asarray(values.astype(dtype))


# ---- operators ---------------------------------------------------------------------------------


def operators(names: Names = BINARY) -> Iterator[Case]:
    for name, left, right in itertools.product(names, DTYPES, DTYPES):
        call = getattr(operator, name)
        yield f"{left} {name} {right}", lambda c=call, a=left, b=right: twice(c, array(a), array(b))
    for name, dtype in itertools.product(UNARY, DTYPES):
        call = getattr(operator, name)
        yield f"{name} {dtype}", lambda c=call, d=dtype: [c(array(d)), c(array(d))]


def twice(call: Callable[..., Any], *operands: Any) -> Any:
    """The first time is the general way, the second the quick one."""
    return [call(*operands), call(*operands)]


def with_numbers(names: Names = BINARY) -> Iterator[Case]:
    for name, dtype, (spelled, number) in itertools.product(names, DTYPES, NUMBERS.items()):
        call = getattr(operator, name)
        yield (
            f"{dtype} {name} {spelled}",
            lambda c=call, d=dtype, n=number: twice(c, array(d), n),
        )
        yield (
            f"{spelled} {name} {dtype}",
            lambda c=call, d=dtype, n=number: twice(c, n, array(d)),
        )


def in_place() -> Iterator[Case]:
    for name, left, right in itertools.product(INPLACE, DTYPES, ("int8", "float64", "bool")):
        call = getattr(operator, name)
        yield f"{left} {name} {right}", lambda c=call, a=left, b=right: c(array(a), array(b))
    for name, dtype, number in itertools.product(INPLACE, DTYPES, ("2", "300", "0.5", "2j")):
        call = getattr(operator, name)
        yield f"{dtype} {name} {number}", lambda c=call, d=dtype, n=NUMBERS[number]: c(array(d), n)
    for name in INPLACE:
        call = getattr(operator, name)
        yield f"{name} of a view", lambda c=call: written(c, lambda x: x[1:])
        yield f"{name} of a column", lambda c=call: written(c, lambda x: x.reshape(2, 4)[:, 1])
        yield f"{name} of a reversed view", lambda c=call: written(c, lambda x: x[::-2])
        yield f"{name} of what is read-only", lambda c=call: written(c, locked)
        yield f"{name} of what NumPy sees", lambda c=call: shared(c)
        yield f"{name} of a number", lambda c=call: c(array("int64")[None].sum(), 2)
        yield f"{name} under a mask", lambda c=call: masked(c)
        yield f"{name} with another shape", lambda c=call: c(array("int64"), array("int64", (2, 3)))


def written(call: Callable[..., Any], view: Callable[[Any], Any]) -> Any:
    whole = array("int64", (8,)) + 1
    part = view(whole)
    call(part, 2)
    call(part, part)
    return [whole, part]


def locked(whole: Any) -> Any:
    whole.flags.writeable = False
    return whole


def shared(call: Callable[..., Any]) -> Any:
    host = np.arange(1, 6)
    mine = fw.asarray(host, copy=False)
    call(mine, 2)
    return [host, mine]


def masked(call: Callable[..., Any]) -> Any:
    whole = array("int64", (8,)) + 1
    whole[whole > 2] = call(whole[whole > 2], 2)
    return whole


# ---- shapes, functions -------------------------------------------------------------------------


def shapes() -> Iterator[Case]:
    for left, right in itertools.product(SHAPES, SHAPES):
        yield f"{left} + {right}", lambda a=left, b=right: array("float64", a) + array("int32", b)
        yield (
            f"{left} < {right}",
            lambda a=left, b=right: twice(operator.lt, array("float32", a), array("float32", b)),
        )
        yield (
            f"where {left} {right}",
            lambda a=left, b=right: fnp.where(
                array("bool", a), array("float64", b), array("float64", a)
            ),
        )


def subscripts() -> Iterator[Case]:
    for (spelled, key), shape in itertools.product(KEYS.items(), SHAPES):
        yield f"{shape}[{spelled}]", lambda k=key, s=shape: array("int64", s)[k]
        yield f"{shape} + 1 [{spelled}]", lambda k=key, s=shape: (array("int64", s) + 1)[k] * 2
        yield f"{shape}[{spelled}] = 7", lambda k=key, s=shape: assigned(array("int64", s), k, 7)
        yield f"{shape}[{spelled}] += 1", lambda k=key, s=shape: stepped(array("int64", s), k)
        yield (
            f"del {shape}[{spelled}]",
            lambda k=key, s=shape: operator.delitem(array("int8", s), k),
        )
    cube = array("int64", (4, 5, 6))
    for (one, first), (two, second) in itertools.product(KEYS.items(), KEYS.items()):
        yield f"[{one}][{two}]", lambda a=first, b=second: cube[a][b]


def assigned(x: Any, key: Any, value: Any) -> Any:
    x[key] = value
    return x


def stepped(x: Any, key: Any) -> Any:
    part = x[key]
    x += 1
    part += x[key]
    return [x, part]


def functions() -> Iterator[Case]:
    for name, dtype in itertools.product(UFUNCS, DTYPES):
        call, count = getattr(fnp, name), getattr(np, name).nin
        yield f"fnp.{name} {dtype}", lambda c=call, d=dtype, n=count: twice(c, *[array(d)] * n)
    for name in UFUNCS:
        call, count = getattr(fnp, name), getattr(np, name).nin
        yield from keywords(name, call, count)


def keywords(name: str, call: Any, count: int) -> Iterator[Case]:
    def given(dtype: str = "float64") -> list[Any]:
        return [array(dtype)] * count

    def out(dtype: str) -> Any:
        return fnp.zeros(3, dtype)

    for dtype in ("float64", "float32", "int64", "bool"):
        yield f"{name} out={dtype}", lambda d=dtype: [call(*given(), out=out(d))]
        yield f"{name} dtype={dtype}", lambda d=dtype: call(*given(), dtype=d)
    chosen = fw.asarray(np.array([True, False, True]))
    yield f"{name} where", lambda: call(*given(), where=chosen, out=out("float64"))
    yield f"{name} casting", lambda: call(*given(), casting="no")
    yield f"{name} out in a tuple", lambda: call(*given(), out=(out("float64"),))
    yield f"{name} out by position", lambda: call(*given(), out("float64"))
    yield f"{name} with nothing", lambda: call()
    yield f"{name} with too much", lambda: call(*given(), *given(), *given())
    yield f"{name} unknown keyword", lambda: call(*given(), colour=1)
    yield f"{name} of a list", lambda: call(*[[1.0, 2.0]] * count)
    yield f"{name} of a number", lambda: call(*[2.0] * count)
    yield f"{name} of NumPy's", lambda: call(*[np.ones(3)] * count)
    yield f"{name} of text", lambda: call(*["a"] * count)
    yield f"{name} signature", lambda: str(inspect.signature(call))
    yield f"{name} pickled", lambda: pickle.loads(pickle.dumps(call)) is call
    yield f"{name} copied", lambda: copy.deepcopy(call) is call
    yield f"{name} facts", lambda: [call.__name__, call.nin, call.nout, repr(call), callable(call)]
    yield f"{name} reduce", lambda: call.reduce(array("int64")) if count == 2 else None
    yield f"{name} weak", lambda: weakref.ref(call)() is call
    yield f"{name} in NumPy", lambda: getattr(np, name)(*given())


def where() -> Iterator[Case]:
    three = (array("bool"), array("float64"), array("float64"))
    yield "where three", lambda: fnp.where(*three)
    yield "where one", lambda: fnp.where(three[0])
    yield "where none", lambda: fnp.where()
    yield "where two", lambda: fnp.where(three[0], three[1])
    yield "where four", lambda: fnp.where(*three, 1)
    yield "where by name", lambda: fnp.where(three[0], x=three[1], y=three[2])
    yield "where number", lambda: fnp.where(three[0], 1, three[2])
    yield "where lists", lambda: fnp.where([True, False, True], [1, 2, 3], three[2])
    yield "where int condition", lambda: fnp.where(array("int64"), three[1], three[2])
    yield "where mixed", lambda: fnp.where(three[0], array("float32"), three[2])
    yield "where 0-d", lambda: fnp.where(fw.asarray(True), fw.asarray(1.0), fw.asarray(2.0))
    yield "where signature", lambda: str(inspect.signature(fnp.where))
    yield "where pickled", lambda: pickle.loads(pickle.dumps(fnp.where)) is fnp.where
    yield "where copied", lambda: copy.copy(fnp.where) is fnp.where
    yield "where facts", lambda: [fnp.where.__name__, fnp.where.__doc__, fnp.where.__module__]


# ---- values as numbers, as objects -------------------------------------------------------------


def conversions() -> Iterator[Case]:
    for convert, dtype in itertools.product((float, int, bool, complex, operator.index), DTYPES):
        name = f"{convert.__name__} {dtype}"
        yield name, lambda c=convert, d=dtype: c(array(d)[None].sum())
        yield f"{name} [0]", lambda c=convert, d=dtype: c(array(d)[0])
        yield f"{name} of one", lambda c=convert, d=dtype: c(array(d, (1,)))
        yield f"{name} of many", lambda c=convert, d=dtype: c(array(d))
        yield f"{name} of none", lambda c=convert, d=dtype: c(array(d, (0,)))
        yield f"{name} 0-d", lambda c=convert, d=dtype: c(array(d, ()))


def things() -> Iterator[Case]:
    x = array("float64")
    for name, value in {
        "array": x,
        "view": x[1:],
        "pending": x + 1,
        "scalar": x[None].sum(),
    }.items():
        yield f"pickle {name}", lambda v=value: pickle.loads(pickle.dumps(v))
        yield f"copy {name}", lambda v=value: copy.copy(v)
        yield f"deepcopy {name}", lambda v=value: copy.deepcopy(v)
        yield f"weak {name}", lambda v=value: weakref.ref(v)() is v
        yield f"hash {name}", lambda v=value: isinstance(hash(v), int)
        yield f"repr {name}", lambda v=value: repr(v)
        yield f"class {name}", lambda v=value: [type(v).__name__, isinstance(v, fw.Array)]
        yield f"attribute {name}", lambda v=value: setattr(v, "colour", 1)
        yield f"no attribute {name}", lambda v=value: v.colour
        yield f"new {name}", lambda v=value: type(v).__new__(type(v)) + 1
        yield f"made {name}", lambda v=value: type(v)()
        yield f"contains {name}", lambda v=value: 2.0 in v
        yield f"bool {name}", lambda v=value: not v
        yield f"divmod {name}", lambda v=value: [*divmod(v, 2), *divmod(7, v)]
        yield f"pow of three {name}", lambda v=value: pow(v, 2, 5)
        yield f"huge power {name}", lambda v=value: v**10**30
        yield f"matmul {name}", lambda v=value: v @ v
        yield f"with None {name}", lambda v=value: [v == None, v != None]  # noqa: E711
        yield f"with an object {name}", lambda v=value: v + object()
        yield f"less than an object {name}", lambda v=value: v < object()
        yield f"an object and {name}", lambda v=value: object() - v
    yield "evaluate pickled", lambda: pickle.loads(pickle.dumps(fw.evaluate)) is fw.evaluate
    yield "evaluate copied", lambda: copy.deepcopy(fw.evaluate) is fw.evaluate
    yield "evaluate signature", lambda: str(inspect.signature(fw.evaluate))
    yield "evaluate facts", lambda: [fw.evaluate.__name__, fw.evaluate.__doc__]
    yield "evaluate nothing", lambda: fw.evaluate()
    yield "evaluate two", lambda: fw.evaluate(x + 1, x + 2)
    yield "evaluate a number", lambda: fw.evaluate(1.0)
    yield "evaluate by name", lambda: fw.evaluate(x=1)
    yield "set of scalars", lambda: sorted({x[None].sum(), x[None].sum(), x[0]})
    yield "masked", lambda: [x[x > 1] + 1, 2 - x[x > 1], -x[x > 1], x[x > 1] < 2]
    yield "masked and array", lambda: x[x > 1] + x[x > 1]


def foreigners() -> Iterator[Case]:
    for (name, other), operation in itertools.product(
        FOREIGN.items(), ("add", "sub", "pow", "lt", "eq", "iadd", "matmul")
    ):
        call = getattr(operator, operation)
        for dtype, shape in (("float64", (3,)), ("int64", ()), ("bool", (3,))):
            mine = f"{dtype}{shape}"
            yield (
                f"{mine} {operation} {name}",
                lambda c=call, d=dtype, s=shape, o=other: c(array(d, s), copy.copy(o)),
            )
            yield (
                f"{name} {operation} {mine}",
                lambda c=call, d=dtype, s=shape, o=other: c(copy.copy(o), array(d, s)),
            )
    for name, other in FOREIGN.items():
        yield f"fnp.add {name}", lambda o=other: fnp.add(array("float64"), o)
        yield f"np.add {name}", lambda o=other: np.add(array("float64"), o)
        yield f"where {name}", lambda o=other: fnp.where(array("bool"), o, array("float64"))


# ---- whole programs ----------------------------------------------------------------------------


def chain(count: int) -> Any:
    """Never asked for: the whole chain dies at once."""
    x = array("float64")
    y = x
    with fw.lazy():
        for _ in range(count):
            y = y + 1.0
    del y
    return x


def ode(steps: int) -> Any:
    x, v = fw.asarray(np.linspace(0, 1, 16)), fw.asarray(np.zeros(16))
    for _ in range(steps):
        a = -fnp.sin(x) - 0.1 * v
        v = v + 0.01 * a
        x = x + 0.01 * v
    return [x, v]


def branching(steps: int) -> Any:
    x = fw.asarray(np.linspace(0, 1, 16))
    for step in range(steps):
        x = x * 0.5 if step % 7 else x + 1.0
        if step % 100 == 50:
            x = fnp.concatenate((x[1:], x[:1]))
    return x


def jitted(function: Callable[..., Any], *args: Any) -> Any:
    compiled = fw.jit(function)
    return [compiled(*args) for _ in range(4)]


def programs() -> Iterator[Case]:
    yield "a chain dies", lambda: chain(100_000)
    yield "ode", lambda: ode(2000)
    yield "branching", lambda: branching(1000)
    x, y = array("float64"), array("float32")
    yield "jit of two", lambda: jitted(lambda a, b: fnp.sqrt(a) + b * 2, x, y)
    yield "jit with a float", lambda: jitted(lambda a, b: (a * b, a - b), x, 0.5)
    yield "jit of one twice", lambda: jitted(lambda a, b: a + b, x, x)
    yield "jit of too few", lambda: jitted(lambda a, b: a + b, x)
    yield "jit by name", lambda: fw.jit(lambda a, b: a - b)(b=x, a=y)
    yield "jit raises", lambda: jitted(lambda a: a + fnp.ones(7), x)
    yield "jit signature", lambda: str(inspect.signature(fw.jit(chain)))
    yield "jit facts", lambda: [fw.jit(chain).__name__, fw.jit(chain).__doc__]
    yield "jit pickled", lambda: pickle.loads(pickle.dumps(quarter))(x)
    yield "jit copied", lambda: copy.copy(quarter)(x)
    yield "jit as a method", lambda: [Thing().half(x), Thing().half(x)]
    yield "jit weak", lambda: weakref.ref(quarter)() is quarter
    yield "reference target", lambda: under(target="reference")
    yield "unfused", lambda: under(fuse=False)
    yield "one thread", lambda: under(threads=1)
    yield "strict", lambda: under(strict=True)


def under(**settings: Any) -> Any:
    with fw.options(**settings):
        return [ode(20), array("float64").sum(), fnp.sqrt(array("int8"))]


@fw.jit
def quarter(x: Any) -> Any:
    """A quarter."""
    return x * 0.25


class Thing:
    @fw.jit
    def half(self: Any, x: Any) -> Any:
        return x * 0.5


TYPES = (operators, with_numbers, in_place, functions, subscripts)
"""What is recorded; NumPy computes it, node by node."""
COMPILED = (
    lambda: operators(("add", "lt")), lambda: with_numbers(("mul", "pow", "ge")), shapes, where,
    conversions, things, foreigners, programs,
)  # fmt: skip


def run(tables: Iterable[Callable[[], Iterator[Case]]]) -> None:
    for number, table in enumerate(tables):
        for name, case in table():
            print(f"{number} {name} -> {outcome(case)}", flush=True)


def main() -> None:
    np.seterr(all="ignore")
    with fw.options(target="reference"):
        run(TYPES)
    print("compiled")
    run(COMPILED)


if __name__ == "__main__":
    sys.modules["forms"] = sys.modules["__main__"]  # for pickle
    main()
