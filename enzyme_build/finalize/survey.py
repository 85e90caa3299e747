"""Write down what is in a finished module: every function and variable, what it mentions, and where it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build.finalize.facts import FunctionFact, VariableFact
from enzyme_build.llvm.values import Values
from enzyme_build.model import CallSite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from enzyme_build.llvm.context import Module

__all__ = ["survey"]


class _Uses:
    """The uses of every function and variable of a module, found by walking each one's use list once."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.sites: dict[int, list[CallSite]] = {}
        self.references: dict[int, set[str]] = {}
        self.returning: set[int] = set()
        for value in (*values.functions(), *values.variables()):
            name = values.name(value)
            sites = self.sites.setdefault(value, [])
            for holder, instruction in values.uses_behind(value):
                self.references.setdefault(holder, set()).add(name)
                if instruction is None or not values.is_call(instruction) or not values.never_returns(instruction):
                    self.returning.add(value)
                location = None if instruction is None else values.location(instruction)
                sites.append(CallSite(caller=values.name(holder), location=location))

    def sites_of(self, value: int) -> tuple[CallSite, ...]:
        """Return the uses of `value`, each once, in a fixed order."""
        unique = set(self.sites[value])
        return tuple(sorted(unique, key=lambda site: (site.caller, *_line(site))))

    def references_of(self, value: int) -> tuple[str, ...]:
        """Return the names that `value` mentions, sorted."""
        return tuple(sorted(self.references.get(value, ())))


def _line(site: CallSite) -> tuple[str, int]:
    return ("", 0) if site.location is None else (site.location.file, site.location.line)


def survey(
    module: Module, *, stands_for: Mapping[str, str], origins: Mapping[str, str]
) -> tuple[tuple[FunctionFact, ...], tuple[VariableFact, ...]]:
    """Return the functions and the global variables of `module`, each sorted by name.

    `stands_for` names the primal of each carrier and moved body, `origins` the linked library a function came from.
    """
    values = Values(module)
    uses = _Uses(values)
    functions = []
    for function in values.functions():
        name = values.name(function)
        indirect, assembly = _opaque_calls(values, function)
        functions.append(
            FunctionFact(
                name=name,
                type=values.function_type(function),
                defined=values.is_defined(function),
                local=values.is_local(function),
                references=uses.references_of(function),
                sites=uses.sites_of(function),
                never_returns=function not in uses.returning and bool(uses.sites[function]),
                indirect_calls=indirect,
                inline_assembly=assembly,
                stands_for=stands_for.get(name),
                from_library=origins.get(name),
            )
        )
    functions += [_alias(values, alias) for alias in values.aliases() if _aliased_function(values, alias)]
    variables = [
        VariableFact(
            name=values.name(variable),
            type=values.ir_type(values.value_type(variable)),
            defined=values.is_defined(variable),
            local=values.is_local(variable),
            constant=bool(values.binding.IsGlobalConstant(variable)),
            written=_is_written(values, variable),
            references=uses.references_of(variable),
            sites=uses.sites_of(variable),
        )
        for variable in values.variables()
    ]
    return (
        tuple(sorted(functions, key=lambda fact: fact.name)),
        tuple(sorted(variables, key=lambda fact: fact.name)),
    )


def _aliased_function(values: Values, alias: int) -> int | None:
    """Return the function behind `alias`, looking through a change of pointer type."""
    target = values.binding.AliasGetAliasee(alias)
    while target and values.binding.IsAConstantExpr(target):
        target = values.binding.GetOperand(target, 0)
    return int(target) if target and values.binding.IsAFunction(target) else None


def _alias(values: Values, alias: int) -> FunctionFact:
    """Return an alias as a function that does nothing but mention the function behind it."""
    target = _aliased_function(values, alias)
    assert target is not None  # noqa: S101 - the caller asked
    return FunctionFact(
        name=values.name(alias),
        type=values.function_type(target),
        defined=True,
        local=values.is_local(alias),
        references=(values.name(target),),
    )


def _opaque_calls(values: Values, function: int) -> tuple[int, int]:
    """Return how many calls of `function` go through a pointer, and how many are inline assembly."""
    binding = values.binding
    indirect = assembly = 0
    for instruction in values.instructions(function):
        if not values.is_call(instruction):
            continue
        callee = binding.GetCalledValue(instruction)
        if binding.IsAInlineAsm(callee):
            assembly += 1
        elif not (binding.IsAFunction(callee) or binding.IsAConstant(callee)):
            indirect += 1
    return indirect, assembly


def _is_written(values: Values, variable: int) -> bool:
    """Return whether `variable` is used for anything but a direct read; a pointer to it that is passed on counts."""
    if values.binding.IsGlobalConstant(variable):
        return False
    return any(
        values.binding.IsAInstruction(user) and not values.binding.IsALoadInst(user) for user in values.users(variable)
    )
