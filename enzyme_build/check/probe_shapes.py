"""Write the LLVM module that asks Enzyme what it makes of one function by its name: a declaration, called once.

Only functions whose type follows from their name and family can be asked again: those of libm in three precisions,
BLAS of level 1 in its decorations, and allocators.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from enzyme_build.model import Mode

if TYPE_CHECKING:
    from collections.abc import Collection

    from enzyme_build.check.known import KnownFunction

__all__ = ["probe_module"]

_PRECISIONS = {"f": "float", "l": "x86_fp80"}
_INTEGER_SECOND = frozenset({"powi", "ldexp", "scalbn", "__powidf2", "__powisf2", "__powixf2"})
_LONG_SECOND = frozenset({"scalbln"})
_INTEGER_FIRST = frozenset({"jn", "yn"})
_EXTENDED_SECOND = frozenset({"nexttoward"})
_RESULT_INTEGERS = {"lrint": "i64", "lround": "i64", "llrint": "i64", "llround": "i64"}
_BLAS = re.compile(r"(?P<c>cblas_)?(?P<precision>[sd])(?P<routine>dot|nrm2|asum|scal|axpy|copy)(?P<tail>_?(?:64_?)?)")
_CALLS = {Mode.REVERSE: "__enzyme_autodiff", Mode.FORWARD: "__enzyme_fwddiff"}


def probe_module(function: KnownFunction, mode: Mode, names: Collection[str]) -> str | None:
    """Return the module as text with opaque pointers, `None` for a function whose type is not known here.

    `names` are all known ones: `sinf` is `sin` for `float` because there is a `sin`.
    """
    body = _math(function, names) or _blas(function.name) or _allocator(function)
    if body is None:
        return None
    declared, lines, result = body
    seed = ", double 1.0" if mode is Mode.FORWARD else ""
    call = _CALLS[mode]
    return "\n".join(
        [
            declared,
            f"declare double @{call}(ptr, ...)",
            "define double @probe(double %x) {",
            *(f"  {line}" for line in lines),
            f"  ret double {result}",
            "}",
            "define double @main_of_probe(double %x) {",
            f"  %d = call double (ptr, ...) @{call}(ptr @probe, double %x{seed})",
            "  ret double %d",
            "}",
            "",
        ]
    )


_Body = tuple[str, list[str], str]


def _math(function: KnownFunction, names: Collection[str]) -> _Body | None:
    family = function.category.removeprefix("math.libm.")
    if family == function.category:
        return None
    name = function.name
    base = name[:-1] if name[-1:] in _PRECISIONS and name[:-1] in names else name
    kind = "double" if base == name else _PRECISIONS[name[-1]]
    kind = {"__powisf2": "float", "__powixf2": "x86_fp80"}.get(name, kind)
    lines = [] if kind == "double" else [f"%n = {'fptrunc' if kind == 'float' else 'fpext'} double %x to {kind}"]
    number = "%x" if kind == "double" else "%n"
    arguments = [f"{kind} {number}"]
    result = kind
    if family == "binary":
        arguments += _second(base, kind, number)
        if base in _INTEGER_FIRST:
            arguments.reverse()
    elif family == "pointer_out":
        if base not in ("frexp", "modf", "lgamma_r"):
            return None
        arguments.append("ptr %place")
        lines.append(f"%place = alloca {kind if base == 'modf' else 'i32'}")
    elif family == "integer_result":
        result = _RESULT_INTEGERS.get(base, "i32")
    elif family != "unary":
        return None
    if base == "fma":
        arguments = [f"{kind} {number}"] * 3
    types = ", ".join(argument.split(" ")[0] for argument in arguments)
    lines.append(f"%r = call {result} @{name}({', '.join(arguments)})")
    if result.startswith("i"):
        lines += [f"%c = sitofp {result} %r to double", "%s = fadd double %c, %x"]
        return f"declare {result} @{name}({types})", lines, "%s"
    if kind != "double":
        lines.append(f"%w = {'fpext' if kind == 'float' else 'fptrunc'} {kind} %r to double")
    return f"declare {result} @{name}({types})", lines, "%r" if kind == "double" else "%w"


def _second(base: str, kind: str, number: str) -> list[str]:
    if base in _INTEGER_SECOND or base in _INTEGER_FIRST:
        return ["i32 2"]
    if base in _LONG_SECOND:
        return ["i64 2"]
    if base in _EXTENDED_SECOND:
        return ["x86_fp80 0xK40008000000000000000"]
    return [f"{kind} {number}"]


def _blas(name: str) -> _Body | None:
    found = _BLAS.fullmatch(name)
    if found is None or not (found["c"] or found["tail"]):
        return None
    kind = {"s": "float", "d": "double"}[found["precision"]]
    integer = "i64" if "64" in found["tail"] else "i32"
    by_value = found["c"] is not None
    lines = [f"%v = alloca {kind}", f"%u = alloca {kind}", f"%i = alloca {integer}", f"%a = alloca {kind}"]
    lines += ["%n = fptrunc double %x to float"] if kind == "float" else []
    number = "%n" if kind == "float" else "%x"
    lines += [f"store {kind} {number}, ptr %v", f"store {kind} {number}, ptr %u", f"store {integer} 1, ptr %i"]
    lines.append(f"store {kind} {number}, ptr %a")
    one = f"{integer} 1" if by_value else "ptr %i"
    factor = f"{kind} 2.0" if by_value else "ptr %a"  # an active factor by value is another question
    vectors = {"nrm2": 1, "asum": 1, "scal": 1}.get(found["routine"], 2)
    arguments = [one, *([factor] if found["routine"] in ("scal", "axpy") else [])]
    arguments += ["ptr %v", one, *(["ptr %u", one] if vectors == 2 else [])]
    returns = kind if found["routine"] in ("dot", "nrm2", "asum") else "void"
    call = f"call {returns} @{name}({', '.join(arguments)})"
    target = "%u" if vectors == 2 else "%v"
    lines += [f"%r = {call}"] if returns != "void" else [call, f"%r = load {kind}, ptr {target}"]
    lines += ["%w = fpext float %r to double"] if kind == "float" else []
    types = ", ".join(argument.split(" ")[0] for argument in arguments)
    return f"declare {returns} @{name}({types})", lines, "%w" if kind == "float" else "%r"


def _allocator(function: KnownFunction) -> _Body | None:
    name = function.name
    if function.category != "alloc" or name not in ("malloc", "valloc", "pvalloc", "_Znwm", "_Znam", "calloc"):
        return None
    arguments = ["i64 8", *(["i64 1"] if name == "calloc" else [])]
    types = ", ".join("i64" for _ in arguments)
    lines = [f"%p = call ptr @{name}({', '.join(arguments)})", "store double %x, ptr %p", "%r = load double, ptr %p"]
    lines.append("%s = fmul double %r, %x")
    return f"declare ptr @{name}({types})", lines, "%s"
