"""Replace rules whose function is a pattern (`log_*`) by one rule for each function of a library that it fits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from enzyme_build.rules.model import InactiveRule, LikeRule, NofreeRule, Rule, RuleSet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["expand_patterns", "is_pattern"]

_PATTERN = re.compile(r"[\w.$]*[*?][\w.$*?]*")


def is_pattern(function: str) -> bool:
    """Return whether a rule's `function` is a pattern: letters, digits and `_` with `*` or `?` among them.

    A demangled C++ name with a `*` in it has parentheses or colons too.
    """
    return _PATTERN.fullmatch(function) is not None and not function.startswith("operator")


def expand_patterns(rules: RuleSet, names: Collection[str]) -> RuleSet:
    """Return `rules` with every pattern replaced by rules for those of `names` that it fits, in their sorted order.

    A function that another rule names keeps that one. In `[[like]]`, `*` in `like` is what the first `*` of the pattern
    stood for. A pattern that fits nothing stays, so that it is reported like any other unknown name.
    """
    named = {
        rule.function
        for rule in rules.rules
        if hasattr(rule, "function") and not isinstance(rule, NofreeRule) and not is_pattern(rule.function)
    }
    taken = set(named)
    expanded = [each for rule in rules.rules for each in _expand(rule, names, taken)]
    return msgspec.structs.replace(rules, rules=tuple(expanded))


def _expand(rule: Rule, names: Collection[str], taken: set[str]) -> Iterator[Rule]:
    if not isinstance(rule, InactiveRule | LikeRule) or not is_pattern(rule.function):
        yield rule
        return
    parts = re.split(r"([*?])", rule.function)
    pattern = re.compile("".join({"*": "(.*)", "?": "(.)"}.get(part, re.escape(part)) for part in parts))
    fits = [match for match in map(pattern.fullmatch, sorted(names)) if match is not None]
    if not fits:
        yield rule
    for match in fits:
        name = match.group()
        if name in taken:
            continue
        taken.add(name)
        if isinstance(rule, LikeRule):
            yield msgspec.structs.replace(rule, function=name, like=rule.like.replace("*", match.group(1)))
        else:
            yield msgspec.structs.replace(rule, function=name)
