"""Find rules that contradict or repeat one another; each finding names both places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build.rules.model import (
    AllocationRule,
    DerivativeRule,
    InactiveGlobalRule,
    LikeRule,
    NofreeRule,
    Rule,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["conflicts"]

# Kinds that say how a call is differentiated: Enzyme follows one of them and ignores the others without a word.
_DECIDING = ("derivative", "inactive", "like", "allocation")


def conflicts(rules: Sequence[Rule]) -> Iterator[str]:
    """Yield one line for each rule that an earlier one contradicts, at the later rule's place.

    Names are compared as written; that two spellings mean one function is only known beside the bitcode.
    """
    seen: dict[tuple[str, str], Rule] = {}
    freeing: dict[str, AllocationRule] = {}
    for rule in rules:
        kind = _kind(rule)
        name = rule.variable if isinstance(rule, InactiveGlobalRule) else rule.function
        same = seen.setdefault((kind, name), rule)
        if same is not rule:
            yield f"{rule.origin}: {name!r} already has this kind of rule at {same.origin}{_advice(same, rule)}"
        if kind in _DECIDING:
            for other_kind in _DECIDING:
                other = seen.get((other_kind, name))
                if other is not None and other_kind != kind:
                    yield f"{rule.origin}: {name!r} cannot be {kind!r}, it is {other_kind!r} at {other.origin}"
        if isinstance(rule, AllocationRule):
            freeing.setdefault(rule.deallocate, rule)
    for rule in rules:
        yield from _freeing_conflicts(rule, freeing)


def _kind(rule: Rule) -> str:
    return str(rule.__struct_config__.tag)


def _advice(first: Rule, second: Rule) -> str:
    if isinstance(first, DerivativeRule) and isinstance(second, DerivativeRule):
        if not set(first.modes) & set(second.modes):
            return "; write 'reverse' and 'forward' in one table"
        return ""
    if isinstance(first, LikeRule) and isinstance(second, LikeRule):
        return f", where it is like {first.like!r}"
    return ""


def _freeing_conflicts(rule: Rule, freeing: dict[str, AllocationRule]) -> Iterator[str]:
    """Yield what contradicts that a function frees the memory of an `[[allocation]]`."""
    if isinstance(rule, InactiveGlobalRule) or rule.function not in freeing:
        return
    allocation = freeing[rule.function]
    said: str | None
    if isinstance(rule, NofreeRule):
        said = "nothing is freed"
    elif isinstance(rule, LikeRule):
        said = f"it is like {rule.like!r}" if rule.like != "free" else None
    else:
        said = f"it is {_kind(rule)!r}"
    if said is not None:
        yield f"{rule.origin}: {rule.function!r} frees the memory of {allocation.origin}, here {said}"
