"""Small facts and manifests, made by hand: what judgement needs, without any binary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from enzyme_build.check.classify import describe_library
from enzyme_build.elf import ElfFacts, ElfSymbol
from enzyme_build.finalize.facts import FunctionFact, ModuleFacts, RuleFact, VariableFact
from enzyme_build.manifest import Manifest, WaiverRecord
from enzyme_build.model import CallSite, Consumer, FunctionType, IRType, Origin, PointerMode, SourceLocation, TypeKind
from enzyme_build.rules.model import DerivativeRule, Rule, RuleSet

KINDS = {
    "void": TypeKind.VOID,
    "double": TypeKind.FLOATING,
    "float": TypeKind.FLOATING,
    "i32": TypeKind.INTEGER,
    "i64": TypeKind.INTEGER,
    "ptr": TypeKind.POINTER,
}
LLVM_15 = Consumer(name="llvm-15", llvm_major=15, pointers=(PointerMode.OPAQUE, PointerMode.TYPED))
JULIA = Consumer(name="julia-1.11", llvm_major=16, pointers=(PointerMode.TYPED,))


def ir(text: str) -> IRType:
    if text.startswith("{"):
        inside = [ir(part.strip()) for part in text[1:-1].split(",")]
        return IRType(kind=TypeKind.STRUCT, text=text, elements=tuple(inside))
    return IRType(kind=TypeKind.POINTER if text.endswith("*") else KINDS[text], text=text)


def function_type(text: str) -> FunctionType:
    """`double (ptr, i32)`."""
    result, _, rest = text.partition(" (")
    parts = [part.strip() for part in rest[:-1].split(",") if part.strip()]
    variadic = parts[-1:] == ["..."]
    return FunctionType(
        result=ir(result), parameters=tuple(ir(part) for part in parts if part != "..."), variadic=variadic
    )


def defined(name: str, *calls: str, kind: str = "double (double)", local: bool = False, **more) -> FunctionFact:
    return FunctionFact(
        name=name, type=function_type(kind), defined=True, local=local, references=tuple(sorted(calls)), **more
    )


def declared(name: str, kind: str = "double (double)", *, used: Sequence[tuple[str, int]] = ()) -> FunctionFact:
    """`used` are the callers, each with a line of kernel.c (0: none known)."""
    sites = tuple(
        CallSite(caller=caller, location=SourceLocation(file="kernel.c", line=line) if line else None)
        for caller, line in used
    )
    return FunctionFact(name=name, type=function_type(kind), defined=False, local=False, sites=sites)


def variable(name: str, kind: str, *, known_here: bool = False, local: bool = False, names: Sequence[str] = ()):
    return VariableFact(
        name=name, type=ir(kind), defined=known_here, local=local, constant=False, references=tuple(names)
    )


def module(*members: FunctionFact | VariableFact, rules: Sequence[RuleFact] = (), **more) -> ModuleFacts:
    plain = {
        "llvm_version": "15.0.6",
        "pointers": PointerMode.OPAQUE,
        "triple": "x86_64-pc-linux-gnu",
        "datalayout": "e",
        "optimization": "O2",
        "modules": 2,
        "sources": ("kernel.c",),
    }
    return ModuleFacts(
        functions=tuple(member for member in members if isinstance(member, FunctionFact)),
        variables=tuple(member for member in members if isinstance(member, VariableFact)),
        rules=tuple(rules),
        **(plain | more),
    )


def elf(*exported: str | ElfSymbol, undefined: Sequence[str] = (), needed: Sequence[str] = (), bitcode: bool = True):
    symbols = [
        each if isinstance(each, ElfSymbol) else ElfSymbol(name=each, kind="function", address=4096 + 16 * number)
        for number, each in enumerate(exported)
    ]
    return ElfFacts(
        machine="x86-64",
        bits=64,
        soname="libkernel.so",
        build_id="0123456789abcdef",
        needed=tuple(needed),
        exported=tuple(symbols),
        undefined=tuple(ElfSymbol(name=name, kind="other") for name in undefined),
        bitcode_section=bitcode,
        bitcode_size=100 if bitcode else 0,
        section_sha256="5ec" if bitcode else None,
    )


def derivative(function: str, *, reverse: bool = True, forward: bool = True) -> DerivativeRule:
    return DerivativeRule(
        function=function,
        origin=Origin(file="rules/r.toml", key="derivative[0]", line=1),
        augmented=f"augmented_{function}" if reverse else None,
        gradient=f"gradient_{function}" if reverse else None,
        tangent=f"tangent_{function}" if forward else None,
    )


def describe(
    facts: ModuleFacts | None,
    library: ElfFacts,
    *,
    rules: Sequence[Rule] = (),
    consumers: Sequence[Consumer] = (LLVM_15,),
    waivers: Mapping[str, str] | None = None,
    file: str = "libkernel.so",
    **more,
) -> Manifest:
    return describe_library(
        library_file=file,
        elf=library,
        facts=facts,
        rules=RuleSet(rules=tuple(rules), files=("rules/r.toml",)),
        consumers=consumers,
        waivers=[WaiverRecord(symbol=symbol, reason=reason) for symbol, reason in (waivers or {}).items()],
        **more,
    )
