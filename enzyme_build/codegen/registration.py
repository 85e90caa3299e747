"""Render rules as the plain C file that Enzyme's own plugin for clang reads: registration globals.

The file serves those who run Enzyme as a compiler plugin; enzyme-build itself attaches rules in the bitcode and never
compiles it. The names and contents of the globals are Enzyme's convention (its pass PreserveNVVM finds them by a part
of their name): `__enzyme_register_gradient` {function, augmented, gradient}, `__enzyme_register_derivative` {function,
tangent}, `__enzyme_inactivefn`, `__enzyme_nofree`, `__enzyme_inactive_global`, `__enzyme_function_like` {function,
name}, `__enzyme_allocation_like` {function, index of the size, list of freeing arguments, freeing function}.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from enzyme_build.errors import RuleError
from enzyme_build.rules.model import (
    AllocationRule,
    DerivativeRule,
    InactiveGlobalRule,
    InactiveRule,
    LikeRule,
    NofreeRule,
)
from enzyme_build.rules.patterns import is_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from enzyme_build.model import Origin
    from enzyme_build.rules.model import Prototype, Rule, RuleSet

__all__ = ["DEFAULT_HEADER", "render_registration"]

DEFAULT_HEADER = """\
Rules for Enzyme, rendered by `enzyme-build rules generate`; do not edit.

Compile this file with Enzyme's plugin, in the same module as the functions it names: include it at the end of
the source that calls them, or link the bitcode of both. Never link it into native code: the arrays are data
that name every function at once, and a library with an undefined one no longer loads.
It must not include your headers: what they declare is declared here anew, by its name in the object file."""

_HEADERS = {
    "stdbool.h": {"bool"},
    "stddef.h": {"size_t", "ptrdiff_t", "wchar_t"},
    "stdint.h": {
        *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64, "max", "ptr")),
        *(f"{sign}int_{kind}{bits}_t" for sign in ("", "u") for kind in ("fast", "least") for bits in (8, 16, 32, 64)),
    },
}
_KEYWORDS = frozenset(
    [
        *("void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool", "_Complex"),
        *("const", "volatile", "restrict", "static"),
    ]
)
_SYMBOL = re.compile(r"[\w.$@]+")


def render_registration(
    rules: RuleSet, *, header: str = DEFAULT_HEADER, suffix: str = "", symbols: Mapping[str, str] | None = None
) -> str:
    """Return the C file for `rules`, with `header` as its comment.

    `suffix` is added to the names of the globals, for two such files in one program. `symbols` maps names as rules
    write them to those in the object file; a name that is not in it is taken as it stands.
    Raises `RuleError` for demangled C++ names that `symbols` does not resolve.
    """
    freeing = {rule.function for rule in rules.rules if isinstance(rule, LikeRule) and rule.like == "free"}
    renderer = _Renderer(symbols or {}, suffix, freeing)
    parts = [f"/* {_comment(rule.origin)} */\n" + "\n".join(renderer.globals_of(rule)) for rule in rules.rules]
    if renderer.problems:
        stated = any(isinstance(rule, DerivativeRule) and rule.stated is not None for rule in rules.rules)
        hint = "write the mangled name, which `nm` shows, in the rule"
        if stated:
            hint = "finalize puts it there; for Enzyme's plugin of clang write C functions and name them in the rule"
        raise RuleError(renderer.problems, hint=hint)
    includes = [f"#include <{name}>" for name, words in _HEADERS.items() if words & renderer.words]
    comment = "/*\n" + "".join(f" * {line}".rstrip() + "\n" for line in header.splitlines()) + " */"
    blocks = [comment, "\n".join(includes), "\n".join(renderer.declarations.values()), *parts]
    return "\n\n".join(block for block in blocks if block) + "\n"


class _Renderer:
    """The declarations made so far, the names given to globals, the functions said to be like `free`."""

    def __init__(self, symbols: Mapping[str, str], suffix: str, freeing: set[str]) -> None:
        self.symbols = symbols
        self.suffix = suffix
        self.freeing = freeing
        self.declarations: dict[str, str] = {}
        self.identifiers: dict[str, str] = {}
        self.names: set[str] = set()
        self.words: set[str] = set()
        self.problems: list[str] = []

    def globals_of(self, rule: Rule) -> Iterator[str]:
        """Yield the globals of one rule."""
        if isinstance(rule, InactiveGlobalRule):
            variable = self._variable(rule)
            yield self._global("inactive_global", rule.variable, [variable])
            return
        function = self._function(rule.function, rule, rule.prototype)
        match rule:
            case DerivativeRule():
                yield from self._derivative(rule, function)
            case InactiveRule():
                yield self._global("inactivefn", rule.function, [function])
                # Without it Enzyme refuses an inactive function with a pointer argument in reverse mode.
                yield self._global("nofree", rule.function, [function])
            case NofreeRule():
                yield self._global("nofree", rule.function, [function])
            case LikeRule():
                yield self._global("function_like", rule.function, [function, _string(rule.like)])
            case AllocationRule():
                yield from self._allocation(rule, function)

    def _derivative(self, rule: DerivativeRule, function: str) -> Iterator[str]:
        if rule.stated is not None:
            self.problems.append(
                f"{rule.origin}: a stated derivative needs a function in the place of {rule.function!r}"
            )
        if rule.augmented is not None and rule.gradient is not None:
            parts = [self._function(name, rule) for name in (rule.augmented, rule.gradient)]
            yield self._global("register_gradient", rule.function, [function, *parts])
        if rule.tangent is not None:
            parts = [self._function(rule.tangent, rule)]
            yield self._global("register_derivative", rule.function, [function, *parts])

    def _allocation(self, rule: AllocationRule, function: str) -> Iterator[str]:
        deallocate = self._function(rule.deallocate, rule)
        # Enzyme parses the list with no tolerance for spaces.
        indices = ",".join(str(index) for index in rule.deallocate_arguments)
        size = str(rule.size_argument)
        yield self._global("allocation_like", rule.function, [function, size, _string(indices), deallocate])
        if rule.deallocate not in self.freeing:
            # Enzyme knows what a call of the freeing function means only if it is like `free`.
            self.freeing.add(rule.deallocate)
            yield self._global("function_like", rule.deallocate, [deallocate, _string("free")])

    def _global(self, kind: str, about: str, items: list[str]) -> str:
        name = self._unique(f"__enzyme_{kind}_{_identifier(about)}{'_' if self.suffix else ''}{self.suffix}")
        values = [f"(void *){item}" for item in items]
        start = f"__attribute__((used)) void *{name}"
        if len(values) == 1:
            return f"{start} = {values[0]};"
        return f"{start}[{len(values)}] = {{\n" + "".join(f"    {value},\n" for value in values) + "};"

    def _unique(self, name: str) -> str:
        count = 1
        candidate = name
        while candidate in self.names:
            count += 1
            candidate = f"{name}_{count}"
        self.names.add(candidate)
        return candidate

    def _variable(self, rule: InactiveGlobalRule) -> str:
        symbol = self._symbol(rule.variable, rule)
        identifier = f"enzymebc_{_identifier(symbol)}"
        self.declarations.setdefault(symbol, f"extern char {identifier}[] __asm__({_string(symbol)});")
        return self.identifiers.setdefault(symbol, identifier)

    def _function(self, written: str, rule: Rule, prototype: Prototype | None = None) -> str:
        """Return the C identifier of a function, declaring it once.

        Without a prototype of plain types it is declared under another name that stands for the symbol, which goes
        with whatever the user's own source or headers declare.
        """
        symbol = self._symbol(written, rule)
        known = self.identifiers.get(symbol)
        if known is not None:
            return known
        words = set() if prototype is None else _type_words(prototype)
        plain = prototype is not None and prototype.name == symbol and words <= _KEYWORDS.union(*_HEADERS.values())
        if prototype is not None and plain:
            self.words |= words
            self.declarations[symbol] = f"extern {prototype.text};"
            return self.identifiers.setdefault(symbol, symbol)
        identifier = self._unique(f"enzymebc_{_identifier(symbol)}")
        self.declarations[symbol] = f"extern void {identifier}(void) __asm__({_string(symbol)});"
        return self.identifiers.setdefault(symbol, identifier)

    def _symbol(self, written: str, rule: Rule) -> str:
        symbol = self.symbols.get(written, written)
        if is_pattern(written):
            self.problems.append(f"{rule.origin}: {written!r} is a pattern, which only a library can resolve")
        elif not _SYMBOL.fullmatch(symbol):
            self.problems.append(f"{rule.origin}: {written!r} is no name of an object file")
        return symbol


def _type_words(prototype: Prototype) -> set[str]:
    """Return the words that a prototype's types are made of."""
    texts = [prototype.result_text, *(item.text for item in prototype.parameters)]
    return {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)}


def _comment(origin: Origin) -> str:
    return str(origin).replace("*/", "* /")


def _identifier(symbol: str) -> str:
    return re.sub(r"\W", "_", symbol, flags=re.ASCII)


def _string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
