"""Write the TOML that a user pastes to deal with an opaque function."""

from __future__ import annotations

import re

__all__ = ["brief_name", "derivative_stanza", "guess_prototype", "inactive_global_stanza", "inactive_stanza"]

# LLVM's scalar types as C spells them on LP64 targets, the only ones bitcode is embedded for here
_SCALARS = {
    "void": "void",
    "double": "double",
    "float": "float",
    "x86_fp80": "long double",
    "i1": "_Bool",
    "i8": "char",
    "i16": "short",
    "i32": "int",
    "i64": "long",
}
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def guess_prototype(name: str, kind: str) -> str | None:
    """Return a C prototype for an LLVM function type such as `double (double*, i32)`, `None` when C cannot tell it.

    An opaque `ptr` is taken as `double *`, which is what rules are mostly about; signedness and `const` are lost in
    LLVM's types.
    """
    result, _, rest = kind.partition(" (")
    if not _IDENTIFIER.fullmatch(name) or not rest.endswith(")") or name.startswith("_Z"):
        return None
    parameters = _split(rest[:-1])
    spelt = [_in_c(parameter) for parameter in parameters]
    returned = _in_c(result)
    if returned is None or "..." in parameters or any(each is None for each in spelt):
        return None
    named = [
        f"{each}{'' if each.endswith('*') else ' '}a{number}" for number, each in enumerate(spelt) if each is not None
    ]
    gap = "" if returned.endswith("*") else " "
    return f"{returned}{gap}{name}({', '.join(named) or 'void'})"


def derivative_stanza(name: str, kind: str | None, *, spoken: str | None = None) -> str:
    """Return a stanza for a rule on function `name` of LLVM type `kind`, with the other choice as a comment.

    `spoken` is the C++ name, from which the rule's functions get readable names.
    """
    prototype = None if kind is None else guess_prototype(name, kind)
    base = brief_name(spoken or name).removesuffix("<...>").rpartition("::")[2]
    stem = re.sub(r"\W+", "_", base).strip("_") or "function"
    guessed = "" if kind is None or "ptr" not in kind else "   # each ptr is taken as double *"
    head = f'function = "{name}"' if prototype is None else f'prototype = "{prototype}"{guessed}'
    return "\n".join(
        [
            "[[derivative]]",
            head,
            f'reverse = {{ augmented = "augmented_{stem}", gradient = "gradient_{stem}" }}',
            f'forward = {{ tangent = "tangent_{stem}" }}',
            "",
            "# or, when nothing it returns or writes depends on what is differentiated:",
            *(f"# {line}" for line in inactive_stanza(name).splitlines()),
        ]
    )


def brief_name(spoken: str) -> str:
    """Return a C++ name without return type and parameters, its template arguments as `<...>`."""
    if "operator" in spoken:  # its own brackets would be taken for template arguments
        return spoken.partition("(")[0] or spoken
    depth = 0
    kept: list[str] = []
    for character in spoken.replace("(anonymous namespace)", "{anonymous}"):
        if character == "(" and depth == 0:
            break
        if character == "<":
            kept += ["<...>"] if depth == 0 else []
            depth += 1
        elif character == ">":
            depth -= 1
        elif depth == 0:
            kept.append(character)
    return "".join(kept).split(" ")[-1] or spoken


def inactive_stanza(name: str) -> str:
    """Return a stanza that declares a function inactive."""
    return f'[[inactive]]\nfunction = "{name}"'


def inactive_global_stanza(name: str) -> str:
    """Return a stanza that declares a global variable inactive."""
    return f'[[inactive-global]]\nvariable = "{name}"'


def _in_c(kind: str) -> str | None:
    """Return the C spelling of an LLVM type with a trailing `*` for pointers, `None` when there is no plain one."""
    if kind == "ptr" or re.fullmatch(r"ptr addrspace\(\d+\)", kind):
        return "double *"
    if kind.endswith("*"):
        inner = "void" if kind == "i8*" else _in_c(kind[:-1])
        return None if inner is None else f"{inner}{'' if inner.endswith('*') else ' '}*"
    return _SCALARS.get(kind)


def _split(parameters: str) -> list[str]:
    """Return the parameter types, split at the commas that are not inside another type."""
    found: list[str] = []
    depth = 0
    start = 0
    for position, character in enumerate(parameters):
        depth += {"(": 1, "{": 1, "[": 1, "<": 1, ")": -1, "}": -1, "]": -1, ">": -1}.get(character, 0)
        if character == "," and depth == 0:
            found.append(parameters[start:position].strip())
            start = position + 1
    last = parameters[start:].strip()
    return [*found, last] if last else found
