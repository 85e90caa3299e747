"""Read a C function declaration, as people paste it from a header, into a `Prototype`.

pycparser needs to know which identifiers are types. Those of the standard headers are declared for it; in front of a
declaration that uses others, each identifier that stands where C wants a type is declared too (C11 6.7.6.3: every
parameter begins with its specifiers). Loading this module loads the parser, which is slow: import it late.
"""

from __future__ import annotations

import copy
import re
from functools import cache
from typing import TYPE_CHECKING

from pycparser import c_ast
from pycparser.c_generator import CGenerator
from pycparser.c_parser import CParser, ParseError

from enzyme_build.rules.model import Prototype, PrototypeParameter

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["parse_prototype"]

_TOKEN = re.compile(r"\s*(?P<token>[A-Za-z_]\w*|\.\.\.|::|&&|->|\S)")
_NOISE = re.compile(r"/\*.*?\*/|//[^\n]*|\b__extension__\b", re.DOTALL)
_LINKAGE = re.compile(r'^\s*extern\s*"C"')
_ATTRIBUTE = re.compile(r"\b(__attribute__|__declspec|__asm__|asm)\s*(?=\()")

_SPELLINGS = {  # GNU spellings and C11 words that change nothing here; none is shorter than what it becomes
    "__restrict": "restrict",
    "__restrict__": "restrict",
    "__const": "const",
    "__const__": "const",
    "__volatile__": "volatile",
    "__inline": "inline",
    "__inline__": "inline",
    "__signed__": "signed",
    "_Noreturn": "",
    "noreturn": "",
}

_QUALIFIERS = frozenset(
    ["const", "volatile", "restrict", "static", "extern", "inline", "register", "_Atomic", "_Thread_local"]
)
_BUILTIN = frozenset(
    ["void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool", "_Complex", "__int128"]
)
_TAGS = frozenset(["struct", "union", "enum"])

_INTEGER_TYPES = frozenset(
    [
        *("size_t", "ssize_t", "ptrdiff_t", "off_t", "time_t", "clock_t", "wchar_t", "char16_t", "char32_t"),
        *("intptr_t", "uintptr_t", "intmax_t", "uintmax_t", "pid_t", "uint", "bool"),
        *(f"{sign}int{width}_t" for sign in ("", "u") for width in (8, 16, 32, 64)),
        *(
            f"{sign}int_{kind}{width}_t"
            for sign in ("", "u")
            for kind in ("fast", "least")
            for width in (8, 16, 32, 64)
        ),
    ]
)
_FLOATING_TYPES = frozenset(["float_t", "double_t", "_Float16", "_Float32", "_Float64", "_Float128", "__float128"])

_CXX_ONLY = frozenset(
    ["class", "template", "typename", "operator", "namespace", "virtual", "noexcept", "constexpr", "decltype"]
)


@cache
def parse_prototype(text: str) -> Prototype:
    """Return the declaration in `text`, with or without its semicolon.

    Raises `ValueError` whose message says what is wrong and at which column (and line, if there are several).
    A typedef the parser cannot know counts as `other` when it is passed by value: its LLVM type decides later.
    """
    source = _prepare(text)
    _refuse(source)
    node = _parse(source)
    if not isinstance(node, c_ast.Decl) or not isinstance(node.type, c_ast.FuncDecl):
        what = "a function definition" if isinstance(node, c_ast.FuncDef) else f"not a function: {text.strip()!r}"
        msg = f"expected one function declaration, found {what}"
        raise ValueError(msg)  # noqa: TRY004 - the text is wrong, not a Python type
    function = node.type
    parameters, variadic = _parameters(function)
    return Prototype(
        name=node.name,
        text=_render(node),
        result_text=_render(_without_name(function.type)),
        result_kind=_kind(function.type),
        parameters=parameters,
        variadic=variadic,
    )


def _prepare(text: str) -> str:
    """Return `text` with what is no C blanked out, so that columns stay as the user sees them."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match.group())

    source = _NOISE.sub(blank, text).rstrip().removesuffix(";")
    linkage = _LINKAGE.match(source)
    if linkage:  # headers that serve both languages say so; it changes nothing for C
        source = blank(linkage) + source[linkage.end() :]
    while match := _ATTRIBUTE.search(source):
        end = _closing(source, match.end())
        source = source[: match.start()] + re.sub(r"[^\n]", " ", source[match.start() : end]) + source[end:]

    def respell(match: re.Match[str]) -> str:
        return _SPELLINGS.get(match.group(), match.group()).ljust(len(match.group()))

    return re.sub(r"[A-Za-z_]\w*", respell, source)


def _closing(source: str, opening: int) -> int:
    """Return the index behind the parenthesis that closes the one at `opening`."""
    depth = 0
    for index in range(opening, len(source)):
        depth += {"(": 1, ")": -1}.get(source[index], 0)
        if depth == 0:
            return index + 1
    msg = f"{_place(source, opening)}: this parenthesis is never closed"
    raise ValueError(msg)


def _refuse(source: str) -> None:
    """Raise for what is no C, and for a missing parameter, at which the parser stops without saying where."""
    before = ""
    for word, at in _tokens(source):
        place = _place(source, at)
        if (before == "," and word in {",", ")"}) or (before == "(" and word == ","):
            msg = f"{place}: a parameter is missing before {word!r}"
            raise ValueError(msg)
        before = word
        if word == "#":
            msg = f"{place}: preprocessor lines are not read; write the plain declaration"
            raise ValueError(msg)
        if word in {"&", "&&"}:
            msg = f"{place}: '&' is a C++ reference; name the function with 'function' (mangled or demangled) instead"
            raise ValueError(msg)
        if word in {"::", "<"} or word in _CXX_ONLY:
            msg = f"{place}: {word!r} is C++; name the function with 'function' (mangled or demangled) instead"
            raise ValueError(msg)


def _parse(source: str) -> c_ast.Node:
    if not source.strip():
        msg = "is empty; write the function's C declaration"
        raise ValueError(msg)
    names = sorted({*_type_names(source), *_INTEGER_TYPES, *_FLOATING_TYPES, "FILE", "va_list"})
    declared = "".join(f"typedef int {name};" for name in names)
    try:
        tree = CParser().parse(f'{declared}\n#line 1 "p"\n{source};', "p")
    except ParseError as error:
        match = re.match(r"p(?::(\d+):(\d+))?: (.*)", str(error), re.DOTALL)
        line, column, message = match.groups() if match else (None, None, str(error))
        place = f"{_line_and_column(source, int(line), int(column))}: " if line and column else ""
        msg = f"{place}not a C declaration: {_plain(message)}"
        raise ValueError(msg) from error
    except AssertionError as error:  # pycparser asserts on some malformed declarators
        msg = "not a C declaration"
        raise ValueError(msg) from error
    nodes = tree.ext[len(names) :]
    if len(nodes) != 1:
        msg = "expected one function declaration, found several"
        raise ValueError(msg)
    return nodes[0]


def _plain(message: str) -> str:
    """Return the parser's message in plain words."""
    stopped = re.fullmatch(r"before: (.*)", message)
    if stopped:
        return "it ends too early" if stopped[1] == ";" else f"unexpected {stopped[1]!r}"
    return message[:1].lower() + message[1:]


def _type_names(source: str) -> Iterator[str]:
    """Yield the identifiers that stand where C wants a type.

    A declaration starts the text, follows the `(` of a parameter list, or a `,` in one. That `(` follows a name or
    another `)`; any other `(` groups a declarator, as in `double (*callback)(double)`.
    """
    wants_type, after_tag, groups = True, False, [False]
    before = ""
    for word, _at in _tokens(source):
        if word == "(":
            is_list = before == ")" or (_is_word(before) and not wants_type and before not in _BUILTIN | _QUALIFIERS)
            groups.append(is_list)
            wants_type = is_list
        elif word == ")":
            wants_type = False
            if len(groups) > 1:
                groups.pop()
        elif word == ",":
            wants_type = groups[-1]
        elif word in _TAGS:
            wants_type, after_tag = False, True
        elif word in _BUILTIN:
            wants_type = False
        elif _is_word(word) and word not in _QUALIFIERS:
            if wants_type:
                yield word
                before = "int"  # a type: a parenthesis behind it groups
                wants_type, after_tag = False, False
                continue
            if after_tag:
                after_tag = False
                before = "int"
                continue
        before = word


def _tokens(source: str) -> Iterator[tuple[str, int]]:
    for match in _TOKEN.finditer(source):
        yield match.group("token"), match.start("token")


def _is_word(token: str) -> bool:
    return token[:1].isalpha() or token[:1] == "_"


def _parameters(function: c_ast.Node) -> tuple[tuple[PrototypeParameter, ...], bool]:
    nodes = list(function.args.params) if function.args is not None else []
    variadic = bool(nodes) and isinstance(nodes[-1], c_ast.EllipsisParam)
    if variadic:
        nodes.pop()
    if len(nodes) == 1 and not variadic and getattr(nodes[0], "name", None) is None and _kind(nodes[0].type) == "void":
        nodes = []  # f(void)
    parameters = []
    for index, node in enumerate(nodes):
        kind = _kind(node.type)
        if kind == "void":
            msg = f"parameter {index} is 'void'; a pointer is written 'void *'"
            raise ValueError(msg)
        text = _render(_without_name(node.type))
        parameters.append(PrototypeParameter(name=getattr(node, "name", None), text=text, kind=kind))
    return tuple(parameters), variadic


def _kind(node: c_ast.Node) -> str:
    """Return the kind of a type: arrays and functions decay to pointers, as C passes them."""
    if isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.FuncDecl)):
        return "pointer"
    words: list[str] = node.type.names if isinstance(node.type, c_ast.IdentifierType) else []
    foreign = [word for word in words if word not in _BUILTIN]
    if foreign and len(words) > 1:
        msg = f"{foreign[0]!r} beside {words[-1]!r} is no type; leave macros out"
        raise ValueError(msg)
    if words == ["void"]:
        return "void"
    if "_Complex" not in words and (_FLOATING_TYPES | {"float", "double"}) & set(words):
        return "floating"
    is_integer = bool(words) and "_Complex" not in words and (not foreign or foreign[0] in _INTEGER_TYPES)
    return "integer" if is_integer or isinstance(node.type, c_ast.Enum) else "other"  # other: struct, union, unknown


def _without_name(node: c_ast.Node) -> c_ast.Node:
    """Return a copy of a type without the name it declares, for printing `const double *` instead of a declaration."""
    bare = copy.copy(node)
    if isinstance(bare, c_ast.TypeDecl):
        bare.declname = None
    else:
        bare.type = _without_name(bare.type)
    return bare


def _render(node: c_ast.Node) -> str:
    return " ".join(str(CGenerator().visit(node)).split())


def _place(source: str, at: int) -> str:
    before = source[:at]
    return _line_and_column(source, before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1)


def _line_and_column(source: str, line: int, column: int) -> str:
    return f"line {line}, column {column}" if "\n" in source.strip("\n") else f"column {column}"
