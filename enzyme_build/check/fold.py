"""See a finished module as the user wrote it: carriers and moved bodies folded into the function they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from enzyme_build.manifest import SiteRecord, VariableRecord
from enzyme_build.model import TypeKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from enzyme_build.finalize.facts import FunctionFact, ModuleFacts, VariableFact
    from enzyme_build.model import CallSite, IRType

__all__ = ["Use", "fold_functions", "fold_variables"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Use:
    """A function or variable as the user knows it; `type` is LLVM's text, `fact` the function's own fact if it is one.

    `calls` are the names that its body, or the variable's initializer, mentions; `sites` where it is used itself.
    """

    name: str
    type: str
    defined: bool
    local: bool
    calls: tuple[str, ...]
    sites: tuple[SiteRecord, ...]
    indirect_calls: int = 0
    inline_assembly: int = 0
    vector_operations: int = 0
    atomic_operations: int = 0
    from_library: str | None = None
    fact: FunctionFact | None = None
    variable: VariableFact | None = None
    access: VariableRecord | None = None


def fold_functions(facts: ModuleFacts) -> dict[str, Use]:
    """Return the functions of the module by name, each together with its carrier and its moved body."""
    primals = _primals(facts)
    groups: dict[str, list[FunctionFact]] = {}
    for function in facts.functions:
        groups.setdefault(primals.get(function.name, function.name), []).append(function)
    found = {}
    for name, members in groups.items():
        own = next((member for member in members if member.name == name), members[0])
        found[name] = Use(
            name=name,
            type=str(own.type),
            defined=own.defined,
            local=own.local,
            calls=()
            if _is_linked_carrier(own)
            else _names(name, (reference for member in members for reference in member.references), primals),
            sites=_sites(name, (site for member in members for site in member.sites), primals),
            indirect_calls=sum(member.indirect_calls for member in members),
            inline_assembly=sum(member.inline_assembly for member in members),
            vector_operations=sum(member.vector_operations for member in members),
            atomic_operations=sum(member.atomic_operations for member in members),
            from_library=next((member.from_library for member in members if member.from_library), None),
            fact=own,
        )
    return found


def fold_variables(facts: ModuleFacts) -> dict[str, Use]:
    """Return the variables that matter: all that other libraries see, tables that name something, and state."""
    primals = _primals(facts)
    return {
        variable.name: Use(
            name=variable.name,
            type=str(variable.type),
            defined=variable.defined,
            local=variable.local,
            calls=_names(variable.name, variable.references, primals),
            sites=_sites(variable.name, variable.sites, primals),
            variable=variable,
            access=_access(variable, primals),
        )
        for variable in facts.variables
        if variable.references or not (variable.defined and variable.local) or _is_state(variable)
    }


def _is_state(variable: VariableFact) -> bool:
    access = variable.access
    return not variable.constant and bool(access.readers or access.writers or access.passers)


def _access(variable: VariableFact, primals: dict[str, str]) -> VariableRecord | None:
    """Return how a variable that may change is used, in the names of the user's functions."""
    if variable.constant:
        return None
    access = variable.access

    def names(functions: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted({primals.get(name, name) for name in functions}))

    holds: list[Literal["number", "pointer"]] = []
    holds += ["number"] if _holds(variable.type, TypeKind.FLOATING) else []
    holds += ["pointer"] if _holds(variable.type, TypeKind.POINTER) else []
    return VariableRecord(
        readers=names(access.readers),
        writers=names(access.writers),
        passers=names(access.passers),
        indexed=access.indexed,
        initialised=variable.initialised,
        thread_local=variable.thread_local,
        aggregate=variable.type.kind in (TypeKind.STRUCT, TypeKind.ARRAY),
        holds=tuple(holds),
    )


def _holds(kind: IRType, wanted: TypeKind) -> bool:
    return kind.kind is wanted or any(_holds(element, wanted) for element in kind.elements)


def _primals(facts: ModuleFacts) -> dict[str, str]:
    return {function.name: function.stands_for for function in facts.functions if function.stands_for is not None}


def _is_linked_carrier(function: FunctionFact) -> bool:
    """Tell whether this is the carrier of a rule of a linked library: Enzyme never looks into it."""
    return function.stands_for is None and function.name.startswith("__enzymebc_rule_")


def _names(own: str, mentioned: Iterable[str], primals: dict[str, str]) -> tuple[str, ...]:
    return tuple(sorted({primals.get(name, name) for name in mentioned} - {own}))


def _sites(own: str, sites: Iterable[CallSite], primals: dict[str, str]) -> tuple[SiteRecord, ...]:
    """Return the uses by others, each once, in a fixed order."""
    found = {
        (
            primals.get(site.caller, site.caller),
            "" if site.location is None else site.location.file,
            0 if site.location is None else site.location.line,
        )
        for site in sites
    }
    return tuple(
        SiteRecord(caller=caller, file=file or None, line=line or None)
        for caller, file, line in sorted(found)
        if caller != own
    )
