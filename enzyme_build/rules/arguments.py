"""Decide how each parameter of a stated derivative travels to the generated functions, from its C type and the rule."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from enzyme_build.rules.model import Argument

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from enzyme_build.rules.model import Prototype, PrototypeParameter

__all__ = ["Said", "read_arguments", "result_kind"]

_POINTER = re.compile(r"(?P<base>\w[\w ]*?) ?(?:\*(?P<own>[\w ]*)|\[[^\]]*\])")
_QUALIFIERS = ("const", "volatile", "restrict", "register", "static")
_FLOATING = frozenset(["float", "double", "_Float16", "_Float32", "_Float64", "float_t", "double_t"])
_INTEGERS = frozenset(
    [
        *("char", "short", "int", "long", "signed", "unsigned", "_Bool", "bool", "size_t", "ssize_t", "ptrdiff_t"),
        *("intptr_t", "uintptr_t", *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64))),
    ]
)
_OPAQUE = frozenset(["void", "FILE", "va_list"])
_WRAPPER = (
    "state the derivative of a C function that takes a pointer instead, and call that one from an inline function"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What a rule says of its parameters.

    `outputs` and `inputs` are the names in the keys of `partials`, `None` where blocks are written instead;
    `mentioned` all names in formulas, blocks and shapes; `structs` those of which a member is used.
    """

    activity: Mapping[str, str]
    intent: Mapping[str, str]
    extents: Mapping[str, tuple[str, str | None]]
    mentioned: Collection[str]
    structs: Collection[str]
    outputs: Collection[str] | None
    inputs: Collection[str] | None
    problems: list[str] = field(default_factory=list)


def read_arguments(prototype: Prototype, said: Said) -> tuple[Argument, ...]:
    """Return a description of each parameter, adding what cannot be, as `key: message`, to `said.problems`."""
    found = []
    for index, parameter in enumerate(prototype.parameters):
        named = parameter.name or f"a{index}"
        argument = _pointer(parameter, named, said) if parameter.kind == "pointer" else _value(parameter, named, said)
        if argument is not None:
            found.append(_checked(argument, said))
    return tuple(found)


def result_kind(prototype: Prototype, problems: list[str], *, activity: str | None) -> str:
    """Return `void`, `integer` or `floating` for what the function returns."""
    kind, text = prototype.result_kind, prototype.result_text
    if kind == "other" and activity == "active":
        return "floating"  # a typedef of a header
    if kind == "pointer":
        problems.append(
            f"prototype: it returns {text!r}, and a formula cannot say what lies behind it; name C functions in "
            "'reverse' and 'forward', or use [[allocation]] when the memory is new"
        )
    elif kind == "other":
        known = "_Complex" in text or text.startswith(("struct", "union"))
        fix = _WRAPPER if known else 'write activity = { return = "active" } if it is a floating-point type'
        problems.append(f"prototype: it returns {text!r} by value; {fix}")
    return kind if kind in ("void", "integer", "floating") else "void"


def _value(parameter: PrototypeParameter, name: str, said: Said) -> Argument | None:
    text = " ".join(word for word in parameter.text.split() if word not in _QUALIFIERS)
    activity = said.activity.get(name)
    if parameter.kind == "integer":
        if activity in ("active", "dup"):
            said.problems.append(f"activity.{name}: an integer has no derivative; leave it out")
        return Argument(name=name, place="integer", number="integer", type=text)
    if activity == "dup":
        said.problems.append(f"activity.{name}: {text!r} is passed by value: it is 'active' or 'const'")
    floating = parameter.kind == "floating" or (activity == "active" and not _is_aggregate(text))
    if floating:
        active = activity != "const"
        return Argument(name=name, place="packet", number="floating", type=text, input=True, active=active)
    if _is_aggregate(text):
        said.problems.append(f"prototype: parameter {name!r} is a {text!r} by value; {_WRAPPER}")
        return None
    if activity != "const":
        said.problems.append(
            f'prototype: it is not known what a {text!r} is; write activity = {{ {name} = "active" }} if it is a '
            'floating-point type, "const" if not'
        )
    return Argument(name=name, place="packet", number="other", type=text, input=True)


def _is_aggregate(text: str) -> bool:
    return "_Complex" in text.split() or text.startswith(("struct ", "union "))


def _pointer(parameter: PrototypeParameter, name: str, said: Said) -> Argument:
    handle = Argument(name=name, place="handle", number="other", type=parameter.text, pointer=parameter.text)
    activity = said.activity.get(name)
    if activity == "active":
        said.problems.append(f"activity.{name}: a pointer is 'dup' (it has a shadow) or 'const'")
    match = _POINTER.fullmatch(parameter.text)
    if match is None or set(match["base"].split()) & _OPAQUE:
        if activity == "dup" or name in said.extents:
            key = f"activity.{name}" if activity == "dup" else f"shape.{name}"
            said.problems.append(f"{key}: {parameter.text!r} does not tell what it points to; {_WRAPPER}")
        return handle
    words = match["base"].split()
    base = " ".join(word for word in words if word not in _QUALIFIERS)
    count, stride = said.extents.get(name, (None, None))
    spelt = f"{' '.join(word for word in words if word not in ('restrict', 'register', 'static'))} *"
    number = _number(base, name, said)
    common = Argument(
        name=name, place="handle", number=number, type=base, pointer=spelt, count=count, stride=stride,
        value=count is None and name in said.mentioned and number in ("integer", "floating") and base != "char",
    )  # fmt: skip
    if number == "integer":
        if activity == "dup":
            said.problems.append(f"activity.{name}: integers have no derivative; leave it out")
        return common
    if activity == "const":
        return common
    if number == "other":
        said.problems.append(
            f"prototype: nothing is said of {name!r}, a {parameter.text!r}; name a member in a formula "
            f'({name}.x), or write activity = {{ {name} = "const" }} when its content has no derivative'
        )
        return common
    reads, writes = _intent(name, said, constant="const" in words)
    place = "packet" if number == "floating" and count is None else "array"
    count = count or (None if place == "packet" else "1")
    return Argument(
        name=name, place=place, number=number, type=base, pointer=spelt, count=count,
        stride=stride, input=reads, output=writes, active=True,
    )  # fmt: skip


def _number(base: str, name: str, said: Said) -> str:
    """Return the kind of what a pointer points to; of a typedef the use in the rule tells."""
    words = set(base.split())
    if "_Complex" in words:
        return "complex"
    if words & _FLOATING:
        return "floating"
    if words & _INTEGERS or base.startswith("enum "):
        return "integer"
    if name in said.structs or base.startswith(("struct ", "union ")):
        return "struct" if name in said.structs or name in said.mentioned else "other"
    return "floating" if name in said.mentioned or name in said.extents else "other"


def _intent(name: str, said: Said, *, constant: bool) -> tuple[bool, bool]:
    """Return whether derivatives flow from and to what a pointer points to."""
    intent = said.intent.get(name)
    if constant and intent in ("out", "inout"):
        said.problems.append(f"intent.{name}: it points to const, so nothing is written there")
    if constant:
        return True, False
    if intent is not None:
        return intent != "out", intent != "in"
    if said.inputs is not None and said.outputs is not None:
        return name in said.inputs, name in said.outputs
    return False, True


def _checked(argument: Argument, said: Said) -> Argument:
    """Return `argument` after comparing it with the keys of `partials`."""
    name = argument.name
    if argument.number == "complex" and said.outputs is not None and argument.place != "handle":
        said.problems.append(
            f"partials: {name!r} is complex, for which one number is no derivative; use 'vjp' and 'jvp'"
        )
    if said.intent.get(name) is not None and argument.place not in ("packet", "array"):
        said.problems.append(f"intent.{name}: it carries no derivative")
    elif said.intent.get(name) is not None and argument.pointer is None:
        said.problems.append(f"intent.{name}: it is passed by value")
    if argument.pointer is None and name in said.extents:
        said.problems.append(f"shape.{name}: it is no pointer")
    return argument
