"""Scalar expressions: a hash-consed DAG over loads, loop indices, run-time parameters and ops.

Two equal expressions are one object, so common sub-expressions are shared by construction and `is`
compares.

>>> from fusewright.ir.dtypes import FLOAT64
>>> x = param(0, FLOAT64)
>>> op("add", x, x) is op("add", x, x)
True
>>> op("multiply", op("add", x, const(1.0, FLOAT64)), x)
multiply(add(p0, 1.0), p0)
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any
from weakref import WeakValueDictionary

from fusewright.base.forks import ForkedLock
from fusewright.ir.dtypes import BOOL, INT64, UINT64, DType

MOST_TEXT = 10_000
"""Characters of an operand that are shown: shared operands are written out once for each use."""
COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})


class Expr:
    """One scalar operation.

    `name` is `const` (`attr` the value), `param` (`attr` the number), `index` (`attr` the loop
    dim), `local` (`attr` the number of a variable of a kernel of loops), `load` (`attr` the
    buffer's number; `args` one int64 index for each of its dims), or an op of `ir.ops` (`args` its
    operands; `attr` unused). Build expressions with the functions below, never with the class.
    `order` is where it stands in a sum, `terms` what it is the sum of (kept by `ir.linear`).
    """

    __slots__ = ("name", "args", "dtype", "attr", "order", "terms", "__weakref__")

    def __init__(self, name: str, args: tuple[Expr, ...], dtype: DType, attr: Any) -> None:
        self.name = name
        self.args = args
        self.dtype = dtype
        self.attr = attr
        self.order: Any = None
        self.terms: Any = None

    def __reduce__(self) -> Any:
        return (rebuilt, (self.name, self.args, self.dtype, self.attr))

    def __repr__(self) -> str:
        spelled: dict[Expr, str] = {}
        for node in postorder([self]):
            text = node.spelled([spelled[arg] for arg in node.args])
            spelled[node] = text if len(text) <= MOST_TEXT or node is self else "..."
        return spelled[self]

    def spelled(self, args: list[str]) -> str:
        """How it is written, given how its operands are."""
        inner = ", ".join(args)
        match self.name:
            case "const":
                return repr(self.attr)
            case "param":
                return f"p{self.attr}"
            case "index":
                return f"i{self.attr}"
            case "local":
                return f"v{self.attr}"
            case "load":
                return f"b{self.attr}[{inner}]"
        suffix = f".{self.dtype}" if self.name in ("cast", "bitcast") else ""
        return f"{self.name}{suffix}({inner})"


_interned: WeakValueDictionary[Any, Expr] = WeakValueDictionary()
_alone = ForkedLock()


def _make(
    name: str, args: tuple[Expr, ...], dtype: DType, attr: Any = None, key: Any = None
) -> Expr:
    """The one expression of a key: two threads that want it at once get the same."""
    key = key or (name, args, dtype, attr)
    found = _interned.get(key)
    if found is None:
        with _alone.lock:
            found = _interned.get(key)
            if found is None:
                found = _interned[key] = Expr(name, args, dtype, attr)
    return found


def const(value: Any, dtype: DType) -> Expr:
    """A literal.  Signed zeros and NaN payloads are distinct literals."""
    if type(value) is not int or dtype is not INT64 or abs(value) >> 62:
        value = dtype.number(value)
    bits = struct.pack("<d", value) if isinstance(value, float) else value
    if isinstance(value, complex):
        bits = struct.pack("<2d", value.real, value.imag)
    return _make("const", (), dtype, value, ("const", bits, dtype))


def param(number: Any, dtype: DType) -> Expr:
    """A run-time scalar (`number` is a pair for a part of a complex one)."""
    return _make("param", (), dtype, number)


def index(dim: int, dtype: DType = INT64) -> Expr:
    """The loop index of a dim (int64); code generation also numbers other values it has read."""
    return _make("index", (), dtype, dim)


def local(number: int, dtype: DType) -> Expr:
    """What a variable of a kernel of loops holds where the expression is evaluated."""
    return _make("local", (), dtype, number)


def load(buffer: Any, indices: tuple[Expr, ...], dtype: DType) -> Expr:
    """An element of a buffer (its number, or a name within one rewrite)."""
    return _make("load", indices, dtype, buffer)


def cast(value: Expr, dtype: DType) -> Expr:
    """A conversion with C semantics; nothing where the type is right already."""
    return value if value.dtype is dtype else _make("cast", (value,), dtype)


def bitcast(value: Expr, dtype: DType) -> Expr:
    """The same bits read as another type of the same size."""
    return value if value.dtype is dtype else _make("bitcast", (value,), dtype)


def op(name: str, *args: Expr) -> Expr:
    """An op whose result has its last operand's dtype, or bool for a comparison and a test."""
    dtype = BOOL if name in COMPARISONS else args[-1].dtype
    return _make(name, args, dtype)


def compared(name: str, a: Expr, b: Expr) -> Expr:
    """A comparison, by value as NumPy's: of uint64 with a signed integer, what is below 0 is below
    every other.
    """
    if a.dtype is b.dtype:
        return op(name, a, b)
    signed, is_left = (a, True) if b.dtype is UINT64 else (b, False)
    below = op("less", cast(signed, INT64), const(0, INT64))
    answers = {"less": is_left, "less_equal": is_left,
               "greater": not is_left, "greater_equal": not is_left}  # fmt: skip
    known = const(answers.get(name, name == "not_equal"), BOOL)
    return op("where", below, known, op(name, cast(a, UINT64), cast(b, UINT64)))


def typed_op(name: str, dtype: DType, *args: Expr) -> Expr:
    """An op with a result dtype of its own (`isnan`, `absolute` of a complex number, ...)."""
    return _make(name, args, dtype)


def rebuild(node: Expr, args: tuple[Expr, ...]) -> Expr:
    """The same operation on other operands."""
    return node if args == node.args else _make(node.name, args, node.dtype, node.attr)


def postorder(roots: Iterable[Expr], known: Container[Expr] = ()) -> Iterator[Expr]:
    """Every expression once, operands first; nothing that is `known`, nor what only that holds."""
    seen: set[int] = set()
    stack: list[tuple[Expr, bool]] = [(root, False) for root in reversed(list(roots))]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif id(node) not in seen and node not in known:
            seen.add(id(node))
            args = node.args
            if args:
                stack.append((node, True))
                stack += [(arg, False) for arg in args[::-1] if id(arg) not in seen]
            else:
                yield node


def free_indices(root: Expr) -> set[int]:
    """The dims whose loop index is used as a number, not only to load."""
    stack, seen, found = [root], set(), set()
    while stack:
        node = stack.pop()
        if node.name == "index":
            found.add(node.attr)
        if node not in seen and node.name != "load":
            seen.add(node)
            stack.extend(node.args)
    return found


def is_small(root: Expr, most: int) -> bool:
    """Whether an expression has at most so many parts; larger ones are not looked at to the end."""
    seen, stack = {root}, [root]
    while stack and len(seen) <= most:
        fresh = {arg for arg in stack.pop().args if arg not in seen}
        seen |= fresh
        stack += fresh
    return len(seen) <= most


def rebuilt(name: str, args: tuple[Expr, ...], dtype: DType, attr: Any) -> Expr:
    """The expression of these parts, as they were stored."""
    return const(attr, dtype) if name == "const" else _make(name, args, dtype, attr)


def rewrite(root: Expr, rule: Callable[[Expr], Expr | None], memo: dict[Expr, Expr]) -> Expr:
    """Replace bottom-up: `rule` sees each expression with its operands already replaced."""
    for node in postorder([root], memo):
        fresh = rebuild(node, tuple(memo[arg] for arg in node.args))
        memo[node] = rule(fresh) or fresh
    return memo[root]
