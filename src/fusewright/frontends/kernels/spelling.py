"""What to call a piece of syntax that a kernel cannot contain, and what to write instead."""

from __future__ import annotations

import ast

EXPRESSION = "use numbers, tuples, arrays and calls; see the page on kernels"
STATEMENT = "loops, branches, assignments and calls are what a kernel is made of"
_OUTSIDE = "open and close it around the call: the kernel runs to its end inside the block"
_TEST = (
    "test for what would go wrong, as in `if d != 0: x = n / d` (a division by zero gives inf or "
    "nan here and raises nothing); catch what the kernel itself raises around its call"
)
INSTEAD = {
    "Try": _TEST,
    "TryStar": _TEST,
    "With": _OUTSIDE,
    "AsyncWith": _OUTSIDE,
    "Import": "import it at the top of the module",
    "ImportFrom": "import it at the top of the module",
    "Global": "return the new value, or keep it in an array: count[()] += 1",
    "Nonlocal": "return the new value, or keep it in an array: count[()] += 1",
    "Delete": "leave it out: a name that is not read costs nothing",
    "Match": "write if and elif",
    "Dict": "use a tuple, or an object with attributes",
    "Set": "use a tuple: x in (1, 2, 3)",
    "Yield": "write into an array, and return it",
    "YieldFrom": "write into an array, and return it",
    "ClassDef": "define the class outside; the kernel may make objects of it",
    "JoinedStr": "print it, or make the text after the call",
}


def spelled(node: ast.AST) -> str:
    """What to call a piece of syntax."""
    return NAMES.get(type(node).__name__, _OTHER)


_OTHER = "this piece of syntax"
NAMES = {
    "Dict": "a dict", "Set": "a set", "DictComp": "a dict comprehension",
    "SetComp": "a set comprehension", "GeneratorExp": "a generator expression",
    "ListComp": "a list comprehension", "List": "a list", "Tuple": "a tuple", "Slice": "a slice",
    "Lambda": "a lambda", "IfExp": "a conditional expression", "NamedExpr": "`:=`",
    "BinOp": "this operator", "UnaryOp": "this operator", "BoolOp": "and, or",
    "Compare": "a comparison", "Call": "a call", "Attribute": "an attribute",
    "Subscript": "an index", "Name": "a name", "Constant": "a literal", "Try": "try",
    "TryStar": "try", "With": "with", "Raise": "raise", "Import": "import", "ImportFrom": "import",
    "FunctionDef": "def", "AsyncFunctionDef": "async def", "ClassDef": "a class",
    "Global": "global", "Nonlocal": "nonlocal", "Delete": "del", "Match": "match",
    "Await": "await", "Yield": "yield", "YieldFrom": "yield", "Starred": "a starred expression",
    "AsyncFor": "async for", "AsyncWith": "async with", "JoinedStr": "a formatted text",
    "FormattedValue": "a formatted text", "TemplateStr": "a template text",
    "Interpolation": "a template text", "TypeAlias": "a type alias", "Assert": "assert",
    "Assign": "an assignment", "AugAssign": "an assignment", "AnnAssign": "an assignment",
    "Expr": "a statement without effect", "For": "for", "While": "while", "If": "if",
    "Return": "return", "Pass": "pass", "Break": "break", "Continue": "continue",
}  # fmt: skip
