"""A printer of loop trees as C: the proof that a C-like target is small (`c_runs.py` runs it;
`c_arrays.py` has what only kernels of arrays need).

It prints scalars only.  Loops on threads or in lanes run one iteration after the other: whatever
they collect in copies may be collected in place, a mask is a branch.  Every operation rounds as
the contracts say: no contraction, no wider registers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from fusewright.codegen.pairs import updated
from fusewright.ir.dtypes import BOOL, FLOAT16, FLOAT32, INT32, INT64, UINT64, DType
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.loops.statements import Check, Leave, Let, Print, Store, expressions
from fusewright.ir.tree.nodes import (
    Allocate,
    Branch,
    Labelled,
    MappedLoop,
    MaskedBlock,
    Node,
    PairedStore,
    Tree,
    WhileLoop,
)
from fusewright.rules.decompose import decompose_all

PRELUDE = """\
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define FITS(x, bits) (fabs(x) < (double)(1ULL << ((bits) - 1)))
static int32_t to_int32(double x) { return FITS(x, 32) ? (int32_t)x : INT32_MIN; }
static int64_t to_int64(double x) { return FITS(x, 64) ? (int64_t)x : INT64_MIN; }
static uint64_t to_uint64(double x) {
  return x >= 0x1p63 ? (uint64_t)to_int64(x - 0x1p63) ^ (1ULL << 63) : (uint64_t)to_int64(x); }
static double fraction(double x) {
  int e; double m = frexp(x, &e); return m < 0.75 ? 2 * m : m; }
static double exponent(double x) {
  int e; double m = frexp(x, &e); return e - (m < 0.75); }
static double scaled(double x, double n) { return isfinite(n) ? ldexp(x, (int)n) : x; }
static float scaledf(float x, float n) { return isfinite(n) ? ldexpf(x, (int)n) : x; }
typedef void (*Show)(int64_t, int64_t *);
"""
TYPES = {
    "bool": "uint8_t", "float16": "_Float16", "float32": "float", "float64": "double",
    **{f"{u}int{bits}": f"{u}int{bits}_t" for u in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "tdiv": "/", "trem": "%",
    "equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "bitwise_and": "&",
    "bitwise_or": "|", "bitwise_xor": "^", "shl": "<<", "shr": ">>",
}  # fmt: skip
CALLED = {
    "fma": "fma", "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
    "rint": "rint", "copysign": "copysign", "absolute": "fabs", "ldexp": "scaled",
}  # fmt: skip
"""Functions of floats; those of single precision end in f."""


class Unprintable(Exception):
    """An operation that has no C here."""


class CPrinter:
    """One kernel; `checks` and `prints` are what numbers in reports mean, `printed` says how each
    kind of node is.
    """

    printed: ClassVar[dict[type, Callable[..., None]]]

    def __init__(self, tree: Tree) -> None:
        self.tree, self.kernel = tree, tree.declared
        self.checks: list[Check] = []
        self.prints: list[Print] = []
        self.primitives: dict[Expr, Expr] = {}
        self.numbers = itertools.count()
        self.lines: list[str] = []

    def text(self) -> str:
        """The module."""
        kernel, line = self.kernel, self.lines.append
        line("int64_t kernel(char **given, char *params, int64_t *report, Show show) {")
        rooms = [
            f"*room{buffer.slot} = 0" for buffer in kernel.buffers if self._is_own(buffer.slot)
        ]
        line(f"char *none = 0{''.join(f', {room}' for room in rooms)};")
        for place, number in enumerate(kernel.given):
            line(f"char *b{number} = given[{place}];")
        for number in kernel.scratch:
            line(f"char *b{number};")
        for number, local in enumerate(kernel.locals):
            line(f"{TYPES[local.dtype.name]} v{number} = 0;")
        self.block(self.tree.body)
        line("end:;")
        for number in kernel.scratch:
            line(f"free(room{number});")
        return PRELUDE + "\n".join([*self.lines, "return report[0];", "}"]) + "\n"

    def _is_own(self, number: int) -> bool:
        return number in self.kernel.scratch

    # -- nodes --------------------------------------------------------------------------------

    def block(self, body: Sequence[Node]) -> None:
        self.lines.append("{")
        for node in body:
            self.lines.append("{")
            self.printed[type(node)](self, node)
            self.lines.append("}")
        self.lines.append("}")

    def let(self, node: Let) -> None:
        self.lines.append(f"v{node.local} = {self.value(node.value)};")

    def store(self, node: Store) -> None:
        kind = TYPES[node.value.dtype.name]
        value = self.value(updated(node))
        self.lines.append(f"*({kind} *)({self.address(node.buffer, node.indices)}) = {value};")

    def paired(self, node: PairedStore) -> None:
        first, second = (self.value(updated(store)) for store in (node.first, node.second))
        for store, value in ((node.first, first), (node.second, second)):
            kind = TYPES[store.value.dtype.name]
            self.lines.append(
                f"*({kind} *)({self.address(store.buffer, store.indices)}) = {value};"
            )

    def allocate(self, node: Allocate) -> None:
        if node.scope != "register":
            buffer = self.kernel.buffers[node.number]
            size = "*".join([*map(self.value, buffer.extents), str(buffer.dtype.itemsize)])
            self.lines.append(f"free(b{node.number});")
            self.lines.append(f"b{node.number} = malloc({size} + 1);")

    def loop(self, node: MappedLoop) -> None:
        low, high, name = self.value(node.low), self.value(node.high), f"i{node.index}"
        for room in () if node.threads is None else node.threads.own:
            self.allocate(room)
        self.lines.append(f"for (int64_t {name} = {low}; {name} < {high}; {name}++)")
        self.block(node.body)

    def branch(self, node: Branch) -> None:
        self.lines.append(f"if ({self.value(node.condition)})")
        self.block(node.body)
        self.lines.append("else")
        self.block(node.orelse)

    def masked(self, node: MaskedBlock) -> None:
        self.lines.append(f"if ({self.value(node.mask)})")
        self.block(node.body)

    def repeated(self, node: WhileLoop) -> None:
        self.lines.append("while (1) {")
        self.block(node.head)
        self.lines.append(f"if (!{self.value(node.condition)}) break;")
        self.block(node.body)
        self.lines.append("}")

    def labelled(self, node: Labelled) -> None:
        self.block(node.body)
        self.lines.append(f"end{node.label}:;")

    def leave(self, node: Leave) -> None:
        self.lines.append(f"goto end{node.label};")

    def check(self, node: Check) -> None:
        self.checks.append(node)
        self.lines.append(f"if (!{self.value(node.condition)}) {{ report[0] = {len(self.checks)};")
        self._put("report", 1, (*node.values, *(value for _, value in node.loops)))
        self.lines.append("goto end; }")

    def print(self, node: Print) -> None:
        self.prints.append(node)
        values = expressions(node)
        self.lines.append(f"int64_t cells[{len(values) + 1}];")
        self._put("cells", 0, values)
        self.lines.append(f"show({len(self.prints) - 1}, cells);")

    def _put(self, words: str, first: int, values: Sequence[Expr]) -> None:
        for place, value in enumerate(values, first):
            register = self.value(value)
            self.lines.append(f"memcpy(&{words}[{place}], &{register}, sizeof {register});")

    # -- expressions --------------------------------------------------------------------------

    def address(self, number: int, indices: Sequence[Expr]) -> str:
        buffer, places = self.kernel.buffers[number], list(map(self.value, indices))
        if buffer.strides is not None:
            terms = [f"{p} * {self.value(s)}" for p, s in zip(places, buffer.strides, strict=True)]
            return f"b{number} + {' + '.join(terms) or '0'}"
        total = "0"
        for place, extent in zip(places, buffer.extents, strict=True):
            total = f"({total} * {self.value(extent)} + {place})"
        return f"b{number} + {total} * {buffer.dtype.itemsize}"

    def value(self, root: Expr) -> str:
        """A variable that holds the expression's value, computed here."""
        (root,) = decompose_all([root], self.primitives)
        names: dict[Expr, str] = {}
        for node in postorder([root]):
            text = self._one(node, [names[arg] for arg in node.args])
            names[node] = f"t{next(self.numbers)}"
            self.lines.append(f"{TYPES[node.dtype.name]} {names[node]} = {text};")
        return names[root]

    def _one(self, node: Expr, inner: list[str]) -> str:
        name, dtype = node.name, node.dtype
        kind = TYPES[dtype.name]
        if name == "const":
            return literal(node.attr, dtype)
        if name in ("index", "local"):
            return f"{name[0] if name == 'index' else 'v'}{node.attr}"
        if name == "param":
            number, part = node.attr if isinstance(node.attr, tuple) else (node.attr, 0)
            return f"*({kind} *)(params + {16 * number + part * dtype.itemsize})"
        if name == "load":
            return f"*({kind} *)({self.address(node.attr, node.args)})"
        if name in INFIX:
            return f"({kind})({inner[0]} {INFIX[name]} {inner[1]})"
        return _operation(node, kind, inner)


def _operation(node: Expr, kind: str, inner: list[str]) -> str:
    name, dtype = node.name, node.dtype
    end = "f" if dtype is FLOAT32 else ""
    match name:
        case "where":
            return f"{inner[0]} ? {inner[1]} : {inner[2]}"
        case "negative":
            return f"({kind})-{inner[0]}"
        case "invert":
            return f"!{inner[0]}" if dtype is BOOL else f"({kind})~{inner[0]}"
        case "cast":
            return _cast(inner[0], node.args[0].dtype, dtype)
        case "bitcast":
            source = TYPES[node.args[0].dtype.name]
            return f"((union {{ {source} a; {kind} b; }}){{ .a = {inner[0]} }}).b"
        case "popcount":
            return f"__builtin_popcountll((u{kind.removeprefix('u')}){inner[0]})"
        case "absolute" if not dtype.is_float:
            return f"({kind})({inner[0]} < 0 ? -{inner[0]} : {inner[0]})"
        case "exponent" | "fraction":
            return f"{name}({inner[0]})"
        case "fmod_far":
            return f"isnan({inner[2]}) ? fmod{end}({inner[0]}, {inner[1]}) : {inner[2]}"
    if name not in CALLED or not dtype.is_float:
        raise Unprintable(name)
    return f"{CALLED[name]}{end}({', '.join(inner)})"


def _cast(value: str, source: DType, target: DType) -> str:
    kind = TYPES[target.name]
    if target is BOOL:
        return f"{value} != 0"
    if source.is_float and target.is_integer:
        wide = INT64 if target.itemsize == 8 or target.name == "uint32" else INT32
        return f"({kind})to_{'uint64' if target is UINT64 else wide.name}({value})"
    between = "(float)" if target is FLOAT16 and not source.is_float else ""
    return f"({kind}){between}{value}"


def literal(value: Any, dtype: DType) -> str:
    """A constant, bit for bit."""
    if not dtype.is_float:
        return f"({TYPES[dtype.name]})({int(value) & (1 << 64) - 1}ULL)"
    wide = float(dtype.numpy.type(value))
    if wide != wide or wide in (float("inf"), -float("inf")):
        bits = int(np.float64(wide).view(np.uint64))
        return f"((union {{ uint64_t a; double b; }}){{ .a = {bits}ULL }}).b"
    return wide.hex()


CPrinter.printed = {
    Let: CPrinter.let, Store: CPrinter.store, PairedStore: CPrinter.paired,
    Allocate: CPrinter.allocate, MappedLoop: CPrinter.loop, Branch: CPrinter.branch,
    MaskedBlock: CPrinter.masked, WhileLoop: CPrinter.repeated, Labelled: CPrinter.labelled,
    Leave: CPrinter.leave, Check: CPrinter.check, Print: CPrinter.print,
}  # fmt: skip
