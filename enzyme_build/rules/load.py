"""Load rule files into one `RuleSet`, reporting every problem of every file at once."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec

from enzyme_build._toml import did_you_mean, header_lines, load_toml, struct_from_table
from enzyme_build.errors import RuleError
from enzyme_build.model import Origin
from enzyme_build.rules.conflicts import conflicts
from enzyme_build.rules.documents import (
    AllocationTable,
    DerivativeTable,
    InactiveGlobalTable,
    InactiveTable,
    LikeTable,
    NofreeTable,
    refused_keys,
)
from enzyme_build.rules.families import expand_family
from enzyme_build.rules.model import (
    AllocationRule,
    DerivativeRule,
    InactiveGlobalRule,
    InactiveRule,
    LikeRule,
    NofreeRule,
    Prototype,
    Rule,
    RuleSet,
)
from enzyme_build.rules.places import Places
from enzyme_build.rules.testing import read_test, test_problems

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["load_rule_files", "load_rules"]

_FunctionTable = DerivativeTable | InactiveTable | NofreeTable | LikeTable | AllocationTable
_Table = _FunctionTable | InactiveGlobalTable

_KINDS: dict[str, type[_Table]] = {
    "derivative": DerivativeTable,
    "inactive": InactiveTable,
    "inactive-global": InactiveGlobalTable,
    "like": LikeTable,
    "allocation": AllocationTable,
    "nofree": NofreeTable,
}


def load_rules(patterns: Sequence[str], *, root: Path, named: Sequence[Path] = ()) -> RuleSet:
    """Return the rules of all files below `root` that `patterns` (globs) match, files sorted, each read once.

    `named` are further files, wherever they lie; they are read after the others, in their order.
    Raises `RuleError` with all problems of all files; a pattern that matches no file is one of them.
    """
    files: set[Path] = set()
    problems: list[str] = []
    for pattern in patterns:
        if not pattern or pattern.startswith("/") or ".." in PurePosixPath(pattern).parts:
            problems.append(f"rules: {pattern!r} is not a path below the project folder")
            continue
        found = [path for path in root.glob(pattern) if path.is_file()]
        files.update(found)
        if not found:
            known = sorted(path.relative_to(root).as_posix() for at in ("*.toml", "*/*.toml") for path in root.glob(at))
            problems.append(f"rules: {pattern!r} matches no file{did_you_mean(pattern, known)}")
    ordered = sorted(files, key=lambda path: path.relative_to(root).as_posix())
    return _load(list(dict.fromkeys((*ordered, *named))), root, problems)


def load_rule_files(files: Sequence[Path], *, root: Path) -> RuleSet:
    """Return the rules of `files` in their order, shown relative to `root` where possible; raises as `load_rules`."""
    return _load(list(dict.fromkeys(files)), root, [])


def _load(files: Sequence[Path], root: Path, problems: list[str]) -> RuleSet:
    rules: list[Rule] = []
    shown_files = []
    for path in files:
        shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
        shown_files.append(shown)
        try:
            document, text = load_toml(path, shown=shown, error=RuleError)
        except RuleError as error:
            problems += error.problems
            continue
        rules += _rules_of(document, text, shown, problems)
    problems += conflicts(rules)
    if problems:
        raise RuleError(problems)
    return RuleSet(rules=tuple(rules), files=tuple(shown_files))


def _rules_of(document: dict[str, Any], text: str, shown: str, problems: list[str]) -> list[Rule]:
    """Return the rules of one document in the order of its lines, adding what is wrong to `problems`."""
    rules: list[Rule] = []
    for key, tables in document.items():
        if key not in _KINDS:
            line = next(iter(header_lines(text, key, len(tables))), None) if isinstance(tables, list) else None
            origin = Origin(file=shown, key=key, line=line)
            problems.append(f"{origin}: unknown kind of rule{did_you_mean(key, _KINDS)}")
            continue
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            problems.append(f"{shown}: {key}: a list of tables is expected; write [[{key}]]")
            continue
        lines = header_lines(text, key, len(tables))
        for index, (table, line) in enumerate(zip(tables, lines, strict=True)):
            origin = Origin(file=shown, key=f"{key}[{index}]", line=line)
            family, wrong = expand_family(table)
            problems += [f"{origin}{'.' if inner else ''}{inner}: {message}" for inner, message in wrong]
            found: dict[str, None] = {}  # a family repeats the problems of its table
            for member in [] if wrong else family:
                inside: list[str] = []
                rule = _rule(key, member, Places.of(text, origin), inside)
                found |= dict.fromkeys(inside)
                if rule is not None:
                    rules.append(rule)
            problems += found
    if all(rule.origin.line is not None for rule in rules):
        rules.sort(key=lambda rule: rule.origin.line or 0)
    return rules


def _rule(key: str, table: dict[str, Any], places: Places, problems: list[str]) -> Rule | None:
    """Return one rule, or `None` after adding what is wrong with it to `problems`."""
    origin = places.origin
    where = str(origin)
    kept, refused = refused_keys(table) if key == "derivative" else (table, ())
    problems += [f"{where}.{inner}: {reason}" for inner, reason in refused]
    if refused and not {"reverse", "forward"} & set(kept):
        return None  # that none is left is no problem of its own
    before = len(problems)
    decoded = struct_from_table(_KINDS[key], kept, where=where, problems=problems)
    if decoded is None or refused:
        return None
    if isinstance(decoded, InactiveGlobalTable):
        return InactiveGlobalRule(variable=decoded.variable, origin=origin)
    prototype = _prototype(decoded.prototype, where, problems)
    function = decoded.function if decoded.prototype is None else prototype.name if prototype else ""
    if function is not None and not function.strip() and decoded.prototype is None:
        problems.append(f"{where}.function: is empty")
    rule = _function_rule(decoded, function or "", prototype, origin)
    if isinstance(rule, DerivativeRule) and isinstance(decoded, DerivativeTable) and decoded.is_stated:
        from enzyme_build.rules.stated import read_stated  # loads the C parser  # noqa: PLC0415

        rule = msgspec.structs.replace(rule, stated=read_stated(decoded, prototype, places, problems))
    problems += [f"{where}.{inner}" for inner in _rule_problems(rule)]
    return rule if len(problems) == before else None


def _prototype(text: str | None, where: str, problems: list[str]) -> Prototype | None:
    if text is None:
        return None
    from enzyme_build.rules.prototype import parse_prototype  # loads the C parser  # noqa: PLC0415

    try:
        return parse_prototype(text)
    except ValueError as error:
        problems.append(f"{where}.prototype: {error}")
        return None


def _function_rule(table: _FunctionTable, function: str, prototype: Prototype | None, origin: Origin) -> Rule:
    match table:
        case DerivativeTable():
            return DerivativeRule(
                function=function,
                prototype=prototype,
                origin=origin,
                augmented=table.reverse.augmented if table.reverse else None,
                gradient=table.reverse.gradient if table.reverse else None,
                tangent=table.forward.tangent if table.forward else None,
                test=read_test(table.test),
            )
        case InactiveTable():
            return InactiveRule(function=function, prototype=prototype, origin=origin)
        case NofreeTable():
            return NofreeRule(function=function, prototype=prototype, origin=origin)
        case LikeTable():
            return LikeRule(function=function, prototype=prototype, origin=origin, like=table.like)
        case AllocationTable():
            arguments = tuple(-1 if argument == "result" else argument for argument in table.deallocate_arguments)
            return AllocationRule(
                function=function,
                prototype=prototype,
                origin=origin,
                size_argument=table.size_argument,
                deallocate=table.deallocate,
                deallocate_arguments=arguments,
            )


def _rule_problems(rule: Rule) -> list[str]:
    """Return what is wrong with one rule by itself, each as `key: message`."""
    if isinstance(rule, DerivativeRule):
        return _derivative_problems(rule)
    if isinstance(rule, AllocationRule):
        return _allocation_problems(rule)
    if isinstance(rule, LikeRule) and not rule.like.strip():
        return ["like: is empty; name a function that Enzyme knows, such as 'sin'"]
    if isinstance(rule, LikeRule) and rule.like == rule.function:
        return [f"like: {rule.like!r} is the function itself"]
    return []


def _derivative_problems(rule: DerivativeRule) -> list[str]:
    problems = []
    roles = (
        ("reverse.augmented", rule.augmented),
        ("reverse.gradient", rule.gradient),
        ("forward.tangent", rule.tangent),
    )
    taken = {rule.function: "the function itself"}
    for key, function in roles:
        if function is None:
            continue
        if not function.strip():
            problems.append(f"{key}: is empty")
        elif function in taken:
            problems.append(f"{key}: {function!r} is {taken[function]}; each part of a rule is a function of its own")
        taken.setdefault(function, f"already '{key}'")
    return [*problems, *test_problems(rule)]


def _allocation_problems(rule: AllocationRule) -> list[str]:
    problems = []
    parameters = rule.prototype.parameters if rule.prototype else None
    if not rule.deallocate.strip():
        problems.append("deallocate: is empty; name the function that frees the memory")
    elif rule.deallocate == rule.function:
        problems.append(f"deallocate: {rule.deallocate!r} is the allocating function itself")
    if rule.size_argument < 0:
        problems.append(f"size-argument: {rule.size_argument} is negative; arguments are counted from 0")
    elif parameters is not None and rule.size_argument >= len(parameters):
        problems.append(f"size-argument: {rule.function!r} has no argument {rule.size_argument}, counted from 0")
    elif parameters is not None and parameters[rule.size_argument].kind not in ("integer", "other"):
        text = parameters[rule.size_argument].text
        problems.append(
            f"size-argument: argument {rule.size_argument} of {rule.function!r} is {text!r}, not an integer"
        )
    if rule.prototype is not None and rule.prototype.result_kind not in ("pointer", "other"):
        problems.append(
            f"prototype: an allocation returns a pointer, {rule.function!r} returns {rule.prototype.result_text!r}"
        )
    # Enzyme reads the first argument of the freeing call as the memory, whatever the list says (measured on v0.0.289:
    # "2,-1,0" aborts, "-1,2,0" frees shadow and primal rightly).
    if rule.deallocate_arguments[:1] != (-1,) or rule.deallocate_arguments.count(-1) != 1:
        problems.append(
            'deallocate-arguments: must be "result" first, then only numbers: Enzyme frees the first argument'
        )
    for index, argument in enumerate(rule.deallocate_arguments[1:], start=1):
        if argument < -1 or (parameters is not None and argument >= len(parameters)):
            problems.append(
                f"deallocate-arguments[{index}]: {rule.function!r} has no argument {argument}, counted from 0"
            )
    return problems
