"""Read the C expressions and statements of a rule file: which names they use, and what no formula may hold.

Both are parsed by pycparser, which is slow to load: import this module late.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from enzyme_build._toml import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["CONSTANTS", "MATH_FUNCTIONS", "Formula", "Statements", "parse_formula", "parse_statements"]

_REAL = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "erf"),
    *("erfc", "exp", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "hypot", "ldexp"),
    *("lgamma", "log", "log10", "log1p", "log2", "logb", "nearbyint", "pow", "remainder", "rint", "round", "scalbn"),
    *("sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc"),
)
MATH_FUNCTIONS = frozenset(
    [*_REAL, *(f"{name}{suffix}" for name in _REAL for suffix in "fl"), "isfinite", "isinf", "isnan", "signbit"]
)
CONSTANTS = frozenset(
    [
        *("M_E", "M_LOG2E", "M_LOG10E", "M_LN2", "M_LN10", "M_PI", "M_PI_2", "M_PI_4", "M_1_PI", "M_2_PI"),
        *("M_2_SQRTPI", "M_SQRT2", "M_SQRT1_2", "INFINITY", "NAN", "HUGE_VAL"),
    ]
)
_TYPEDEFS = (
    "size_t",
    "ptrdiff_t",
    "int64_t",
    "int32_t",
    "uint64_t",
    "uint32_t",
    "FILE",
    "bool",
    "intptr_t",
    "uintptr_t",
)
_HEADER = "".join(f"typedef int {name};" for name in _TYPEDEFS)
_NOISE = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Formula:
    """The names in an expression, the members (`p.x` as ("p", "x")) and the functions it calls."""

    names: frozenset[str]
    members: frozenset[tuple[str, str]]
    functions: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Statements:
    """The names that C statements use, and those of variables they declare."""

    names: frozenset[str]
    declares: frozenset[str]


def parse_formula(text: str, *, functions: Collection[str] = ()) -> Formula:
    """Return what the C expression `text` consists of; `functions` may be called besides those of <math.h>.

    Raises `ValueError` whose message says what is wrong.
    """
    if not text.strip():
        msg = "is empty; write a C expression, or 0"
        raise ValueError(msg)
    tree = _parse(f"double formula = (\n{text}\n);")
    if len(tree) != 1 or not isinstance(tree[0], c_ast.Decl):
        msg = f"not one C expression: {text.strip()!r}"
        raise ValueError(msg)
    reader = _Reader(MATH_FUNCTIONS | frozenset(functions))
    reader.read(tree[0].init)
    return Formula(
        names=frozenset(reader.names), members=frozenset(reader.members), functions=frozenset(reader.functions)
    )


def parse_statements(text: str) -> Statements:
    """Return what the C statements `text` use and declare; raises `ValueError` when they are not C."""
    tree = _parse(f"void statements(void) {{\n{text}\n}}")
    if len(tree) != 1:
        msg = "a '}' closes more than was opened"
        raise ValueError(msg)
    names: set[str] = set()
    declares: set[str] = set()
    for node in _walk(tree[0].body):
        if isinstance(node, c_ast.ID):
            names.add(node.name)
        elif isinstance(node, c_ast.Decl) and node.name and not isinstance(node.type, c_ast.FuncDecl):
            declares.add(node.name)
    return Statements(names=frozenset(names), declares=frozenset(declares))


def _parse(source: str) -> list[c_ast.Node]:
    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match.group())

    try:
        tree = CParser().parse(f'{_HEADER}\n#line 0 "c"\n{_NOISE.sub(blank, source)}', "c")
    except ParseError as error:
        found = re.match(r"c(?::(\d+):(\d+))?: (.*)", str(error), re.DOTALL)
        line, column, message = found.groups() if found else (None, None, str(error))
        stopped = re.fullmatch(r"before: (.*)", message or "")
        said = f"unexpected {stopped[1]!r}" if stopped and stopped[1] not in (")", "}", ";") else "it is not complete"
        place = "" if line is None or stopped is None else f"line {line}, column {column}: "
        msg = f"{place}not C: {said if stopped else message[:1].lower() + message[1:]}"
        raise ValueError(msg) from error
    except (AssertionError, AttributeError) as error:  # pycparser stumbles over some malformed input
        msg = "not C"
        raise ValueError(msg) from error
    return list(tree.ext[len(_TYPEDEFS) :])


def _walk(node: c_ast.Node) -> Iterator[c_ast.Node]:
    yield node
    for _name, child in node.children():
        yield from _walk(child)


class _Reader:
    """Collects the names of an expression, refusing what a formula cannot hold."""

    def __init__(self, functions: frozenset[str]) -> None:
        self.known = functions
        self.names: set[str] = set()
        self.members: set[tuple[str, str]] = set()
        self.functions: set[str] = set()

    def read(self, node: c_ast.Node) -> None:  # noqa: PLR0912 - one case a kind of expression
        match node:
            case c_ast.Constant():
                if node.type in ("string", "char"):
                    _refuse(f"{node.value} is no number")
            case c_ast.ID():
                self.names.add(node.name)
            case c_ast.StructRef():
                self._member(node)
            case c_ast.UnaryOp() if node.op in ("+", "-", "!", "~"):
                self.read(node.expr)
            case c_ast.UnaryOp() if node.op == "*":
                _refuse("'*' is not needed: a name means the value behind the pointer")
            case c_ast.BinaryOp():
                self.read(node.left)
                self.read(node.right)
            case c_ast.TernaryOp():
                for part in (node.cond, node.iftrue, node.iffalse):
                    self.read(part)
            case c_ast.Cast():
                self.read(node.expr)
            case c_ast.FuncCall():
                self._call(node)
            case c_ast.ArrayRef():
                _refuse("'[...]' is not possible: a name means element i; use 'vjp' and 'jvp' where elements mix")
            case c_ast.UnaryOp() | c_ast.Assignment():
                _refuse(f"a formula changes nothing; {node.op!r} does")
            case _:
                _refuse("only numbers, names, operators, conditions and calls can be in a formula")

    def _call(self, node: c_ast.FuncCall) -> None:
        if not isinstance(node.name, c_ast.ID):
            _refuse("only a function can be called")
        name = node.name.name
        if name not in self.known:
            close = did_you_mean(name, self.known)
            _refuse(f"unknown function {name!r}{close or '; name its prototype in declare'}")
        self.functions.add(name)
        for argument in node.args.exprs if node.args is not None else ():
            self.read(argument)

    def _member(self, node: c_ast.StructRef) -> None:
        path = []
        inner: c_ast.Node = node
        while isinstance(inner, (c_ast.StructRef, c_ast.ArrayRef)):
            if isinstance(inner, c_ast.StructRef):
                if inner.type == "->":
                    _refuse("write '.' for '->': a name means the struct itself")
                path.append(f".{inner.field.name}")
            elif isinstance(inner.subscript, c_ast.Constant):
                path.append(f"[{inner.subscript.value}]")
            else:
                _refuse("an index inside a struct must be a number")
            inner = inner.name
        if not isinstance(inner, c_ast.ID):
            _refuse("only a parameter has members")
        self.names.add(inner.name)
        self.members.add((inner.name, "".join(reversed(path)).removeprefix(".")))


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)
