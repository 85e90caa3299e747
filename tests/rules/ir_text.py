"""Read LLVM function types from text, as `double (double, ptr)` or from clang's output."""

from __future__ import annotations

import re

from enzyme_build.model import FunctionType, IRType, TypeKind

FLOATING = {"half", "float", "double", "x86_fp80", "fp128"}


def split_top(text: str) -> list[str]:
    """Return the parts between the commas that are in no bracket."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += {"{": 1, "(": 1, "[": 1, "<": 1, "}": -1, ")": -1, "]": -1, ">": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def ir_type(text: str, named: dict[str, str] | None = None) -> IRType:
    text = text.strip()
    inside = (named or {}).get(text, text)
    if text.endswith("*") or text == "ptr":
        return IRType(kind=TypeKind.POINTER, text=text)
    if text == "void":
        return IRType(kind=TypeKind.VOID, text=text)
    if text in FLOATING:
        return IRType(kind=TypeKind.FLOATING, text=text)
    if re.fullmatch(r"i\d+", text):
        return IRType(kind=TypeKind.INTEGER, text=text)
    if inside.startswith("{"):
        elements = tuple(ir_type(part, named) for part in split_top(inside[1:-1]))
        return IRType(kind=TypeKind.STRUCT, text=text, elements=elements)
    array = re.fullmatch(r"[\[<](\d+) x (.*)[\]>]", text)
    assert array, text
    kind = TypeKind.ARRAY if text.startswith("[") else TypeKind.VECTOR
    return IRType(kind=kind, text=text, elements=(ir_type(array[2], named),))


def function(text: str) -> FunctionType:
    """Return `result (parameter, ...)`; a parameter may be followed by `sret` or `byval`."""
    result, _, rest = text.partition(" (")
    parts = split_top(rest.rstrip()[:-1])
    variadic = parts[-1:] == ["..."]
    types = parts[:-1] if variadic else parts
    marks = {mark: tuple(i for i, part in enumerate(types) if part.endswith(mark)) for mark in ("sret", "byval")}
    bare = [part.removesuffix(" sret").removesuffix(" byval") for part in types]
    return FunctionType(
        result=ir_type(result), parameters=tuple(ir_type(part) for part in bare), variadic=variadic, **marks
    )


def functions_of(module: str) -> dict[str, FunctionType]:
    """Return the types of the functions that clang's textual IR declares or defines, by name."""
    named = dict(re.findall(r"^(%[\w.]+) = type (\{.*\})$", module, re.MULTILINE))
    found = {}
    for line in re.findall(r"^(?:declare|define) .*$", module, re.MULTILINE):
        head, _, rest = line.partition("@")
        name, _, rest = rest.partition("(")
        depth, end = 1, 0
        for end, character in enumerate(rest):  # noqa: B007 - used after the loop
            depth += {"(": 1, ")": -1}.get(character, 0)
            if depth == 0:
                break
        found[name] = FunctionType(
            result=ir_type(type_in(head), named),
            parameters=tuple(ir_type(type_in(part), named) for part in split_top(rest[:end])),
            sret=tuple(index for index, part in enumerate(split_top(rest[:end])) if "sret(" in part),
        )
    return found


def type_in(text: str) -> str:
    """Return the type among linkage, attributes and names."""
    match = re.search(
        r"(\{.*\}|<\d+ x \w+>|\[\d+ x \w+\]|%[\w.]+\*?|\b(?:void|ptr|i\d+|half|float|double|x86_fp80|fp128)\b\**)", text
    )
    assert match, text
    return match[1]
