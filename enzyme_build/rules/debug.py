"""Whether the prototype in a rule file is the one that debug information has: opaque pointers do not tell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from enzyme_build.rules.abi_primal import signature_misfits
from enzyme_build.rules.model import RuleProblem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enzyme_build.rules.model import DebugSignature, DebugType, Prototype

__all__ = ["debug_problems"]

_FLOATING = ("float", "double", "long double")
_INTEGERS = frozenset(["char", "short", "int", "long", "signed", "unsigned", "_Bool", "bool", "size_t", "ptrdiff_t"])
_QUALIFIERS = frozenset(["const", "volatile", "restrict", "register", "static", "extern", "inline"])


def debug_problems(prototype: Prototype | None, found: DebugSignature | None) -> tuple[RuleProblem, ...]:
    """Return how the prototype differs from what the source says, as far as both are known for sure."""
    if prototype is None or found is None:
        return ()
    shown = f"{_spelt(found.result)} ({', '.join(_spelt(each) for each in found.parameters)})"
    text = f"the prototype of {prototype.name} is not the one in the source, says its debug information: "
    fix = f"correct the prototype {prototype.text!r}, or write 'function = \"{prototype.name}\"' instead"
    return tuple(
        RuleProblem(finding="EB010", text=f"{text}{misfit}; found {shown}", fix=fix)
        for misfit in _misfits(prototype, found)
    )


def _misfits(prototype: Prototype, found: DebugSignature) -> Iterator[str]:
    if not prototype.variadic:
        yield from signature_misfits(prototype, found.parameters, found.result, agrees=_agrees, spell=_spelt)


def _agrees(kind: str, text: str, found: DebugType) -> bool:
    """Return whether both can be the same type; a typedef that only the source knows may be anything."""
    if kind == "other":
        return True
    if kind != found.kind:
        return False
    base = " ".join(word for word in re.sub(r"\[[^]]*\]|\*", " ", text).split() if word not in _QUALIFIERS)
    if kind == "floating" or (kind == "pointer" and found.stars == 1 and _stars(text) == 1):
        return _class(base) is None or _class(found.text) is None or _class(base) == _class(found.text)
    return True


def _stars(text: str) -> int:
    return 0 if "(" in text else text.count("*") + len(re.findall(r"\[[^]]*\]", text))


def _class(base: str) -> str | None:
    """Return what a type is for a derivative: a floating-point type, `integer`, or `None` when that is not known."""
    if base in _FLOATING:
        return base
    words = set(base.split())
    return "integer" if words and (words <= _INTEGERS or re.fullmatch(r"u?int\d+_t", base)) else None


def _spelt(kind: DebugType) -> str:
    return f"{kind.text}{' ' + '*' * kind.stars if kind.stars and not kind.text.endswith('*') else ''}"
