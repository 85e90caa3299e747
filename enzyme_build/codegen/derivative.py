"""Render stated derivatives as one C file: for each rule a shim, the packet function, and the rule on it.

The file is compiled to bitcode only, never to native code. Its functions take pointers and integers only, so their
LLVM types are the same on every target, which those of functions with several floating-point results are not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enzyme_build.codegen.blocks import ZEROS, BlocksWriter
from enzyme_build.codegen.bridge import bridge
from enzyme_build.codegen.partials import PartialsWriter
from enzyme_build.codegen.plan import HIDE, NEVER, POINTER, WRITTEN, Lines, Plan, indented
from enzyme_build.codegen.tape import PADDED
from enzyme_build.rules.model import DerivativeRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from enzyme_build.model import Origin
    from enzyme_build.rules.model import RuleSet

__all__ = ["FILE_NAME", "GeneratedRule", "GeneratedSource", "render_derivatives"]

FILE_NAME = "enzymebc_rules.c"

_COMMENT = """\
/*
 * Derivatives stated in rule files, rendered by enzyme-build; do not edit.
 *
 * values: all that is passed by value, and the results, of one call. A rule is on the packet function, which takes them
 * by one pointer. An argument whose shadow is the argument itself is inactive: its shadow is left alone.
 */"""

_HEADERS = {
    "stdbool.h": {"bool"},
    "stdio.h": {"FILE"},
    "complex.h": {"_Complex", "complex"},
}
_INTEGER = re.compile(r"\bu?int(?:_fast|_least)?(?:8|16|32|64|max|ptr)_t\b")

_HIDING = """\
/*
 * What has no shadow is passed as a distance between addresses: integers in a struct of their own, pointers one by one.
 * Enzyme sees an integer, and applies the rule in forward mode too, which it does not when it sees an inactive pointer,
 * or an integer argument that is the constant 0 or -1.
 */
static const char enzymebc_here;
#define ENZYMEBC_HIDE(pointer) ((uintptr_t)(pointer) - (uintptr_t)&enzymebc_here)
#define ENZYMEBC_POINTER(distance) ((void *)((distance) + (uintptr_t)&enzymebc_here))"""

_NEVER_TRUE = f"""\
/*
 * No pointer is that large. Where Enzyme sees that a function does not write to an array, it may read the array anew in
 * the reverse pass of a loop, when a later turn has overwritten it; so it must not see that.
 */
#define {NEVER}(pointer) ((uintptr_t)(pointer) > UINTPTR_MAX - 16)"""

_HELPERS = {
    f"{HIDE}|{POINTER}": _HIDING.splitlines(),
    NEVER: _NEVER_TRUE.splitlines(),
    PADDED: [f"static size_t {PADDED}(size_t bytes) {{", "    return (bytes + 15) / 16 * 16;", "}"],
    ZEROS: [
        f"static void *{ZEROS}(ptrdiff_t count, size_t size) {{",
        "    void *memory = calloc(count > 0 ? (size_t)count : 1, size);",
        "    if (memory == NULL) abort();",
        "    return memory;",
        "}",
    ],
}


@dataclass(frozen=True, kw_only=True, slots=True)
class GeneratedRule:
    """Where in the text the functions of a rule stand: lines from 1, the last one included."""

    index: int
    function: str
    origin: Origin
    first_line: int
    last_line: int


@dataclass(frozen=True, kw_only=True, slots=True)
class GeneratedSource:
    """The text of a C file, and the rules (by their index in the rule set) whose functions it defines."""

    text: str
    rules: tuple[GeneratedRule, ...]

    def rule_at(self, line: int) -> GeneratedRule | None:
        """Return the rule whose functions are on `line`."""
        return next((rule for rule in self.rules if rule.first_line <= line <= rule.last_line), None)


def render_derivatives(rules: RuleSet) -> GeneratedSource | None:
    """Return the C file for the stated derivatives among `rules`, `None` when there is none."""
    stated = [
        (index, rule)
        for index, rule in enumerate(rules.rules)
        if isinstance(rule, DerivativeRule) and rule.stated is not None
    ]
    if not stated:
        return None
    parts = [_rule(rule) for _index, rule in stated]
    lines = [*_COMMENT.splitlines(), "", *_includes([rule for _index, rule in stated])]
    code = "\n".join(line for part in parts for line in part)
    for name, helper in _HELPERS.items():
        if re.search(rf"\b(?:{name})\b", code):
            lines += ["", *helper]
    found = []
    for (index, rule), part in zip(stated, parts, strict=True):
        lines.append("")
        first = len(lines) + 1
        lines += part
        found.append(
            GeneratedRule(
                index=index, function=rule.function, origin=rule.origin, first_line=first, last_line=len(lines)
            )
        )
    text = "".join(f"{_numbered(line, number)}\n" for number, line in enumerate(lines, start=1))
    return GeneratedSource(text=text, rules=tuple(found))


def _numbered(line: str, number: int) -> str:
    """Return the directive that ends a block of the user's with the number of the line behind it."""
    return f'#line {number + 1} "{FILE_NAME}"' if line == "#line HERE" else line.removeprefix(WRITTEN)


def _rule(rule: DerivativeRule) -> Lines:
    plan = Plan.of(rule)
    shown = str(rule.origin).replace("*/", "* /")
    lines = [f"/* {rule.function}: {shown} */"]
    for partial in plan.stated.partials:
        ratio = f"d {partial.output} / d {partial.input}"
        lines += [f"/*   {ratio} = {partial.formula.replace('*/', '* /').replace('/*', '/ *')} */"]
    lines += ["", *(f"extern {text.rstrip('; ')};" for text in (plan.declaration(), *plan.stated.declares))]
    if plan.has_packet:
        members = [f"{kind} {name};" for kind, name in plan.members()]
        lines += ["", f"struct {plan.function('values')} {{", *indented(members), "};"]
    if plan.has_plain:
        members = [f"{kind} {name};" for kind, name in plan.plain_members()]
        lines += ["", f"struct {plan.function('plain')} {{", *indented(members), "};"]
    lines += ["", *plan.packet(), "", *plan.shim(), ""]
    writer = PartialsWriter(plan) if plan.stated.partials else BlocksWriter(plan)
    bridging = bridge(plan)
    return [*lines, *writer.functions(), *([""] if bridging else []), *bridging]


def _includes(rules: Sequence[DerivativeRule]) -> Lines:
    standard = {"math.h", "stddef.h", "stdint.h", "stdlib.h", "string.h"}
    named: dict[str, None] = {}
    for text in _texts(rules):
        words = set(re.findall(r"\w+", text))
        standard |= {header for header, types in _HEADERS.items() if types & words}
    for rule in rules:
        for name in rule.stated.includes if rule.stated else ():
            named.setdefault(name if name.startswith("<") else f'"{name}"')
    return [*(f"#include <{name}>" for name in sorted(standard)), *(f"#include {name}" for name in named)]


def _texts(rules: Sequence[DerivativeRule]) -> Iterable[str]:
    for rule in rules:
        if rule.prototype is not None and rule.stated is not None:
            yield rule.prototype.text
            yield from rule.stated.declares
