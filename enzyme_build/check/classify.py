"""Describe a library: bring ELF facts, the finished module, rules and known functions together in a manifest.

Facts only: what a status means for the user is judged in `judge`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from enzyme_build import __version__
from enzyme_build.check.fold import fold_functions, fold_variables
from enzyme_build.check.roots import choose_roots
from enzyme_build.check.rule_records import rule_functions, rule_records
from enzyme_build.check.status import (
    AttachedRule,
    Ground,
    function_standing,
    is_intrinsic,
    variable_standing,
    waiver_for,
)
from enzyme_build.llvm.demangle import demangle as demangle_names
from enzyme_build.manifest import (
    SCHEMA,
    SUFFIX,
    BitcodeRecord,
    DependencyRecord,
    LibraryRecord,
    Manifest,
    SymbolRecord,
)
from enzyme_build.model import TypeKind
from enzyme_build.rules.model import AllocationRule, NofreeRule
from enzyme_build.rules.names import resolve_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from enzyme_build.check.fold import Use
    from enzyme_build.elf import ElfFacts, ElfSymbol
    from enzyme_build.finalize.facts import ModuleFacts, RuleFact
    from enzyme_build.manifest import WaiverRecord
    from enzyme_build.model import Consumer, FunctionType
    from enzyme_build.rules.model import RuleSet

    Demangle = Callable[[Sequence[str]], Mapping[str, str]]

__all__ = ["describe_library"]

_NATIVE_ONLY = "exported, but machine code only"


def describe_library(
    *,
    library_file: str,
    elf: ElfFacts,
    facts: ModuleFacts | None,
    rules: RuleSet,
    consumers: Sequence[Consumer] = (),
    roots: Sequence[str] = (),
    linked: Sequence[Manifest] = (),
    holders: Mapping[str, str] | None = None,
    waivers: Sequence[WaiverRecord] = (),
    python_extension: bool = False,
    native: bool = False,
    inputs: str | None = None,
    find_origins: Callable[[Mapping[str, int]], Mapping[str, str]] | None = None,
    demangle: Demangle = demangle_names,
) -> Manifest:
    """Return the manifest of a library whose module has the `facts`; `None` for one without bitcode.

    `holders` names for each undefined symbol the soname of the library that natively holds it, `linked` are the
    manifests of the libraries whose bitcode was merged. `native` says that the library is meant to have no bitcode.
    `find_origins` tells of functions, by their addresses, which source they came from.
    """
    functions = {} if facts is None else fold_functions(facts)
    variables = {} if facts is None else fold_variables(facts)
    names = {*functions, *variables, *(symbol.name for symbol in (*elf.exported, *elf.undefined))}
    mangled = sorted(name for name in names if name.startswith("_Z"))
    ground = _ground(
        rules,
        () if facts is None else facts.rules,
        consumers=consumers,
        linked=linked,
        holders=holders or {},
        waivers=waivers,
        demangled=demangle(mangled) if mangled else {},
        names=names,
        demangle=demangle,
    )
    symbols = _module_symbols(functions, variables, ground, undefined={each.name: each for each in elf.undefined})
    symbols = _with_exports(symbols, elf, ground, native=native)
    if find_origins is not None and not native:
        symbols = _with_origins(symbols, elf, find_origins)
    chosen = choose_roots(
        roots,
        elf=elf,
        defined=[name for name, use in functions.items() if use.defined],
        rule_functions=rule_functions(rules, facts, names, demangle),
        demangle=demangle,
    )
    return Manifest(
        schema=SCHEMA,
        generator=f"enzyme-build {__version__}",
        library=LibraryRecord(
            file=library_file,
            machine=elf.machine,
            soname=elf.soname,
            build_id=elf.build_id,
            section_sha256=elf.section_sha256,
        ),
        bitcode=None if facts is None else _bitcode(facts),
        consumers=tuple(consumer.name for consumer in consumers),
        roots=() if native else chosen,
        symbols=symbols,
        rules=rule_records(rules, facts, ground, names=names, demangle=demangle),
        dependencies=_dependencies(elf, linked),
        waivers=tuple(waivers),
        inputs=inputs,
        native=native,
        python_extension=python_extension,
        registrations=() if facts is None else facts.registrations,
        constructors=() if facts is None else facts.constructors,
    )


def _ground(
    rules: RuleSet,
    facts: Sequence[RuleFact],
    *,
    consumers: Sequence[Consumer],
    linked: Sequence[Manifest],
    holders: Mapping[str, str],
    waivers: Sequence[WaiverRecord],
    demangled: Mapping[str, str],
    names: Collection[str],
    demangle: Demangle,
) -> Ground:
    """Return what the status of every symbol depends on; a rule with a problem was not attached, and does not count."""
    attached: dict[str, list[AttachedRule]] = {}
    frees: dict[str, int] = {}
    nofree = set()
    for fact in facts:
        if fact.symbol is None or fact.problems:
            continue
        rule = rules.rules[fact.index]
        attached.setdefault(fact.symbol, []).append(
            AttachedRule(index=fact.index, rule=rule, has_body=fact.primal_has_body)
        )
        if isinstance(rule, NofreeRule):
            nofree.add(fact.symbol)
        if isinstance(rule, AllocationRule):
            counterpart = resolve_name(rule.deallocate, names, demangle).symbol
            if counterpart is not None:
                frees.setdefault(counterpart, fact.index)
    return Ground(
        rules=attached,
        frees=frees,
        nofree=frozenset(nofree),
        linked=linked,
        holders=holders,
        waivers=waivers,
        julia=bool(consumers) and all(consumer.name.startswith("julia-") for consumer in consumers),
        demangled=demangled,
    )


def _module_symbols(
    functions: Mapping[str, Use], variables: Mapping[str, Use], ground: Ground, *, undefined: Mapping[str, ElfSymbol]
) -> dict[str, SymbolRecord]:
    """Return the record of every symbol that the module defines or mentions.

    Intrinsics that Enzyme handles in both modes are left out: they are instructions, and there are many.
    """
    standings = {name: function_standing(use, ground) for name, use in functions.items()}
    standings = {
        name: standing
        for name, standing in standings.items()
        if not (is_intrinsic(name) and standing.status == "known" and standing.modes is None)
    }
    standings |= {name: variable_standing(use, ground) for name, use in variables.items()}
    uses = {**functions, **variables}
    return {
        name: SymbolRecord(
            status=standing.status,
            kind="function" if name in functions else "variable",
            type=uses[name].type,
            library=standing.library,
            rule=standing.rule,
            detail=standing.detail,
            modes=standing.modes,
            calls=tuple(called for called in uses[name].calls if called in standings),
            sites=() if uses[name].defined else uses[name].sites,
            indirect_calls=uses[name].indirect_calls,
            inline_assembly=uses[name].inline_assembly,
            vector_operations=uses[name].vector_operations,
            atomic_operations=uses[name].atomic_operations,
            resolved=(fact := uses[name].fact) is not None and fact.resolved,
            weak=name in undefined and undefined[name].weak,
            version=undefined[name].version if name in undefined else None,
            by_value=fact is not None and _by_value(fact.type),
            variable=uses[name].access,
        )
        for name, standing in standings.items()
    }


def _by_value(kind: FunctionType) -> bool:
    """Tell whether a struct goes in or comes out whole: C's calling convention spells that in several ways."""
    whole = (TypeKind.STRUCT, TypeKind.ARRAY, TypeKind.VECTOR)
    return bool(kind.sret or kind.byval) or any(each.kind in whole for each in (kind.result, *kind.parameters))


def _with_exports(
    symbols: Mapping[str, SymbolRecord], elf: ElfFacts, ground: Ground, *, native: bool
) -> dict[str, SymbolRecord]:
    """Return the records with what the library exports marked, and added where the module does not mention it."""
    found = dict(symbols)
    bodies = {
        symbol.address: symbol.name
        for symbol in reversed(elf.exported)
        if symbol.kind == "function" and symbol.name in symbols and symbols[symbol.name].status != "opaque"
    }
    for symbol in elf.exported:
        record = found.get(symbol.name)
        if record is None:
            record = _native_export(symbol, bodies.get(symbol.address), ground, native=native)
        elif record.status == "opaque":  # declared in one object, defined in another that has no bitcode
            detail = _NATIVE_ONLY if record.detail is None else f"{_NATIVE_ONLY}; {record.detail}"
            record = msgspec.structs.replace(record, library=None, detail=detail)
        found[symbol.name] = msgspec.structs.replace(record, exported=True)
    return found


def _with_origins(
    symbols: dict[str, SymbolRecord], elf: ElfFacts, find_origins: Callable[[Mapping[str, int]], Mapping[str, str]]
) -> dict[str, SymbolRecord]:
    """Return the records with the source of each exported function that is machine code only."""
    wanted = {
        symbol.name: symbol.address
        for symbol in elf.exported
        if symbol.kind == "function" and symbols[symbol.name].status == "opaque"
    }
    origins = find_origins(wanted) if wanted else {}
    replaced = {
        name: msgspec.structs.replace(symbols[name], detail=f"{symbols[name].detail}, from {origin}")
        for name, origin in origins.items()
    }
    return {**symbols, **replaced}


def _native_export(symbol: ElfSymbol, body: str | None, ground: Ground, *, native: bool) -> SymbolRecord:
    """Return the record of an exported symbol that no function of the module is named after.

    `body` is a function of the module at the same address: the symbol is an alias of it, as a C++ constructor's
    complete-object name is of its base-object name.
    """
    kind: Literal["function", "variable"] = "variable" if symbol.kind == "variable" else "function"
    if kind == "function" and body is not None:
        return SymbolRecord(status="bitcode", detail=f"another name of {body}", calls=(body,))
    waiver = waiver_for(symbol.name, ground)
    if waiver is not None:
        return SymbolRecord(status="waived", kind=kind, detail=waiver.reason)
    return SymbolRecord(status="opaque", kind=kind, detail="machine code only" if native else _NATIVE_ONLY)


def _bitcode(facts: ModuleFacts) -> BitcodeRecord:
    return BitcodeRecord(
        llvm=facts.llvm_version,
        pointers=facts.pointers,
        triple=facts.triple,
        datalayout=facts.datalayout,
        optimization=facts.optimization,
        modules=facts.modules,
        sources=facts.sources,
    )


def _dependencies(elf: ElfFacts, linked: Sequence[Manifest]) -> tuple[DependencyRecord, ...]:
    """Return what the library loads, and which of it has a manifest and was merged."""
    manifests = {manifest.library.soname or manifest.library.file: manifest for manifest in linked}
    return tuple(
        DependencyRecord(
            soname=soname,
            manifest=f"{manifests[soname].library.file}{SUFFIX}" if soname in manifests else None,
            merged=soname in manifests and manifests[soname].bitcode is not None,
        )
        for soname in elf.needed
    )
