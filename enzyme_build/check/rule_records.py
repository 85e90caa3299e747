"""Write rules into a manifest: what each is for, what it names, and what is wrong with it here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build.check import known
from enzyme_build.manifest import RuleProblemRecord, RuleRecord
from enzyme_build.rules.model import DerivativeRule, InactiveGlobalRule, LikeRule
from enzyme_build.rules.names import resolve_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from enzyme_build.check.status import Ground
    from enzyme_build.finalize.facts import ModuleFacts
    from enzyme_build.rules.model import Rule, RuleSet

    Demangle = Callable[[Sequence[str]], Mapping[str, str]]

__all__ = ["rule_functions", "rule_records"]


def rule_functions(rules: RuleSet, facts: ModuleFacts | None, names: Collection[str], demangle: Demangle) -> set[str]:
    """Return the symbols of the functions that derivative rules are made of.

    Those of a rule that found no function here are taken as written: to look for them by their C++ names among all
    symbols of a large library takes long, and they are hardly here.
    """
    found = {fact.index for fact in (() if facts is None else facts.rules) if fact.symbol is not None}
    symbols: set[str] = set()
    for index, rule in enumerate(rules.rules):
        if not isinstance(rule, DerivativeRule):
            continue
        for function in (rule.augmented, rule.gradient, rule.tangent):
            if function is not None:
                resolved = resolve_name(function, names, demangle).symbol if index in found else None
                symbols.add(resolved or function)
    return symbols


def rule_records(
    rules: RuleSet,
    facts: ModuleFacts | None,
    ground: Ground,
    *,
    names: Collection[str],
    demangle: Demangle,
) -> tuple[RuleRecord, ...]:
    """Return a record of every rule, with what is wrong with it.

    Rule files are often those of a whole project, so a rule whose function this library does not know is only noted
    (EB008); whether any other library knows it is judged when all are seen together.
    """
    outcome = {} if facts is None else {fact.index: fact for fact in facts.rules}
    elsewhere = {name for manifest in ground.linked for name in manifest.symbols}
    records = []
    for index, rule in enumerate(rules.rules):
        fact = outcome.get(index)
        written = rule.variable if isinstance(rule, InactiveGlobalRule) else rule.function
        symbol = fact.symbol if fact is not None else None
        problems = [] if fact is None else [_problem(each.finding, each.text, each.fix) for each in fact.problems]
        if symbol is None and not problems:
            resolution = resolve_name(written, {*names, *elsewhere}, demangle)
            symbol = resolution.symbol
            if symbol is None:
                text = f"{written}: {resolution.reason}"
                problems.append(_problem("EB008", text, "correct the name, or remove the rule"))
        problems += _like_problems(rule)
        records.append(
            RuleRecord(
                kind=str(rule.__struct_config__.tag),
                symbol=symbol or written,
                file=rule.origin.file,
                key=rule.origin.key,
                line=rule.origin.line,
                functions=_roles(rule),
                modes=rule.modes if isinstance(rule, DerivativeRule) else (),
                problems=tuple(problems),
                written=rule if isinstance(rule, DerivativeRule) else None,
                digest=None if fact is None else fact.digest,
            )
        )
    return tuple(records)


def _problem(finding: str, text: str, fix: str) -> RuleProblemRecord:
    return RuleProblemRecord(finding=finding, text=text, fix=fix)


def _like_problems(rule: Rule) -> list[RuleProblemRecord]:
    if not isinstance(rule, LikeRule):
        return []
    found, close = known.known_like(rule.like)
    if found is not None:
        return []
    text = f"{rule.function} cannot be like {rule.like!r}, which {known.enzyme_version()} does not accept{close}"
    return [_problem("EB021", text, "name a function that Enzyme accepts, or write a [[derivative]] rule")]


def _roles(rule: Rule) -> dict[str, str]:
    """Return the functions that a rule names besides the one it is for, by role."""
    roles = ("augmented", "gradient", "tangent", "like", "deallocate")
    return {role: value for role in roles if (value := getattr(rule, role, None)) is not None}
