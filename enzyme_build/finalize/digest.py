"""A digest of what a derivative rule says and is for: it changes when the code of primal or rule changes.

Taken from the functions as the compiler wrote them, with every function and constant of the library that they reach.
Numbers that LLVM gives out (attribute groups, metadata, names of private constants) are left out: they change with
unrelated code.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import msgspec

from enzyme_build.llvm.demangle import demangle
from enzyme_build.llvm.values import Values
from enzyme_build.rules.model import DerivativeRule
from enzyme_build.rules.names import resolve_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from enzyme_build.llvm.context import Module
    from enzyme_build.rules.model import Rule

__all__ = ["rule_digests"]

_NAME = re.compile(r'@("(?:[^"\\]|\\.)*"|[-a-zA-Z$._0-9]+)')
_NUMBERED = re.compile(r",? ![\w.]+ ![0-9]+|![0-9]+|#[0-9]+|; .*")


def rule_digests(module: Module, rules: Sequence[Rule]) -> dict[int, str]:
    """Return the digest of each derivative rule whose primal is in `module`, by its index."""
    values = Values(module)
    functions = {values.name(item): item for item in values.functions()}
    found = {}
    for index, rule in enumerate(rules):
        if not isinstance(rule, DerivativeRule):
            continue
        written = (rule.function, rule.augmented, rule.gradient, rule.tangent)
        symbols = [resolve_name(name, functions, demangle).symbol for name in written if name is not None]
        if not symbols or symbols[0] is None:
            continue
        stated = _without_lines(msgspec.to_builtins([rule.stated, rule.prototype if rule.stated else None]))
        digest = hashlib.sha256(msgspec.json.encode(stated, order="sorted"))
        for text in _texts(values, [functions[symbol] for symbol in symbols if symbol is not None]):
            digest.update(text.encode("utf-8", "surrogateescape"))
        found[index] = digest.hexdigest()
    return found


def _texts(values: Values, functions: Sequence[int]) -> Iterator[str]:
    """Yield the text of `functions` and of all that they reach, in the order in which it is met."""
    waiting = list(functions)
    seen = set(waiting)
    while waiting:
        item = waiting.pop(0)
        text = _NUMBERED.sub("", values.binding.take_message(values.binding.PrintValueToString(item)))
        for spelt in dict.fromkeys(_NAME.findall(text)):
            name = _plain(spelt)
            met = values.function(name) or values.variable(name)
            if met is None or not values.is_defined(met):
                continue
            if values.is_local(met):
                text = text.replace(f"@{spelt}", "@local")
            if met not in seen:
                seen.add(met)
                waiting.append(met)
        yield text


def _without_lines(part: Any) -> Any:
    """Return a document without the numbers of lines, which change when something else in the file does."""
    if isinstance(part, dict):
        return {key: _without_lines(value) for key, value in part.items() if key != "line"}
    return [_without_lines(item) for item in part] if isinstance(part, list | tuple) else part


def _plain(spelt: str) -> str:
    if not spelt.startswith('"'):
        return spelt
    raw = re.sub(rb"\\([0-9A-Fa-f]{2})", lambda match: bytes([int(match.group(1), 16)]), spelt[1:-1].encode())
    return raw.decode("utf-8", "surrogateescape")
