"""Write down what is in a finished module: every function and variable, what it mentions, and where it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build.finalize.access import access_of
from enzyme_build.finalize.facts import Access, FunctionFact, VariableFact
from enzyme_build.llvm.values import Opcode, Values
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
        for value in (*values.functions(), *values.variables(), *values.ifuncs()):
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
        counts = _count_instructions(values, function)
        functions.append(
            FunctionFact(
                name=name,
                type=values.function_type(function),
                defined=values.is_defined(function),
                local=values.is_local(function),
                references=uses.references_of(function),
                sites=uses.sites_of(function),
                never_returns=function not in uses.returning and bool(uses.sites[function]),
                indirect_calls=counts["indirect"],
                inline_assembly=counts["assembly"],
                vector_operations=counts["vector"],
                atomic_operations=counts["atomic"],
                stands_for=stands_for.get(name),
                from_library=origins.get(name),
            )
        )
    functions += [_alias(values, alias) for alias in values.aliases() if _aliased_function(values, alias)]
    functions += [_ifunc(values, uses, ifunc) for ifunc in values.ifuncs()]
    variables = [
        VariableFact(
            name=values.name(variable),
            type=values.ir_type(values.value_type(variable)),
            defined=values.is_defined(variable),
            local=values.is_local(variable),
            constant=bool(values.binding.IsGlobalConstant(variable)),
            written=_is_written(values, variable),
            initialised=values.is_initialised(variable),
            thread_local=bool(values.binding.IsThreadLocal(variable)),
            access=Access() if values.binding.IsGlobalConstant(variable) else access_of(values, variable),
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


def _ifunc(values: Values, uses: _Uses, ifunc: int) -> FunctionFact:
    """Return an ifunc as a function; its resolver is among the holders of whatever it chooses from."""
    return FunctionFact(
        name=values.name(ifunc),
        type=values.function_type(ifunc),
        defined=True,
        local=values.is_local(ifunc),
        sites=uses.sites_of(ifunc),
        resolved=True,
    )


_CALLS = frozenset({Opcode.CALL, Opcode.INVOKE, Opcode.CALL_BRANCH})
_ARITHMETIC = frozenset({Opcode.FADD, Opcode.FSUB, Opcode.FMUL, Opcode.FDIV})
_ATOMIC = frozenset({Opcode.COMPARE_EXCHANGE, Opcode.READ_MODIFY_WRITE})


def _count_instructions(values: Values, function: int) -> dict[str, int]:
    """Return how many instructions of `function` are of the kinds that Enzyme has trouble with.

    `indirect` are calls through a pointer, `assembly` inline assembly that handles more than integers,
    `vector` floating-point arithmetic on vectors, `atomic` atomic changes of memory.
    """
    binding = values.binding
    found = dict.fromkeys(("indirect", "assembly", "vector", "atomic"), 0)
    for instruction in values.instructions(function):
        opcode = values.opcode(instruction)
        if opcode in _ARITHMETIC:
            found["vector"] += values.is_vector(instruction)
        elif opcode in _ATOMIC:
            found["atomic"] += 1
        elif opcode in _CALLS:
            callee = binding.GetCalledValue(instruction)
            if binding.IsAInlineAsm(callee):
                found["assembly"] += _touches_numbers(values, instruction)
            elif not (binding.IsAFunction(callee) or binding.IsAConstant(callee)):
                found["indirect"] += 1
    return found


def _touches_numbers(values: Values, call: int) -> bool:
    """Return whether anything but integers goes into inline assembly or comes out of it.

    A barrier (`asm volatile("" ::: "memory")`) and instructions on integers do not disturb Enzyme.
    """
    binding = values.binding
    count = binding.GetNumOperands(call) - 1  # the last operand is the assembly itself
    handled = [call, *(binding.GetOperand(call, at) for at in range(count))]
    return not all(values.is_integer_or_void(value) for value in handled)


def _is_written(values: Values, variable: int) -> bool:
    """Return whether `variable` is used for anything but a direct read; a pointer to it that is passed on counts."""
    if values.binding.IsGlobalConstant(variable):
        return False
    return any(
        values.binding.IsAInstruction(user) and not values.binding.IsALoadInst(user) for user in values.users(variable)
    )
