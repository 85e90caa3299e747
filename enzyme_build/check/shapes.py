"""Findings about how functions are made: calls through pointers, atomics, vectors, ifuncs, signatures, shared names."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from enzyme_build.check.finding import make_finding
from enzyme_build.check.state import takes_active
from enzyme_build.check.status import is_intrinsic
from enzyme_build.model import Mode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from enzyme_build.check.finding import Finding
    from enzyme_build.check.reach import Reach
    from enzyme_build.check.symbols import Names
    from enzyme_build.manifest import Manifest, SymbolRecord

__all__ = ["classified", "shape_findings", "shared_name_findings", "unheld"]

_BOOLEAN = re.compile(r"\bi1\b")


def shape_findings(
    shown: str, manifest: Manifest, reached: Reach, names: Names, *, declared: Sequence[Mode]
) -> list[Finding]:
    """Return what in the bodies and signatures of reached functions stops Enzyme or misleads a consumer."""
    found = []
    for name in reached.names():
        record = manifest.symbols[name]
        if record.kind != "function" or record.status != "bitcode":
            continue
        own = [_ifunc(shown, name, record, names), _vector(shown, name, record, names)]
        own.append(_atomic(shown, name, record, names))
        if not declared or Mode.FORWARD in declared:
            own.append(_indirect(shown, name, record, names))
        if name in manifest.roots and record.exported and not name.startswith("_Z"):
            own.append(_signature(shown, name, record))
        chain = reached.chain(name)
        found += [
            dataclasses.replace(
                finding,
                demangled=names.demangled_or_none(name),
                chain=tuple(names.brief(step) for step in chain) if len(chain) > 1 else (),
            )
            for finding in own
            if finding is not None
        ]
    return found


def shared_name_findings(libraries: Sequence[tuple[str, Manifest]]) -> list[Finding]:
    """Return the names that the bitcode of two libraries defines for others."""
    first: dict[str, tuple[str, SymbolRecord]] = {}
    found = []
    for shown, manifest in libraries:
        if manifest.bitcode is None:
            continue
        for name, record in manifest.symbols.items():
            if not record.exported or record.status != "bitcode" or name.startswith("_Z") or record.library is not None:
                continue
            earlier = first.setdefault(name, (shown, record))
            if earlier[0] != shown:
                message = f"the {record.kind} {name} is in the bitcode of {earlier[0]} and of {shown}"
                found.append(make_finding("EB043", message, library=shown, symbol=name))
    return found


def classified(manifest: Manifest, reached: Reach) -> Mapping[str, int]:
    """Count what a call graph cannot say everything about, among all that the roots reach; zeros are left out."""
    records = [(name, manifest.symbols[name]) for name in reached.names()]
    functions = [(name, record) for name, record in records if record.kind == "function"]
    counts = {
        "calls through pointers": sum(record.indirect_calls for _, record in functions),
        "inline assembly": sum(record.inline_assembly for _, record in functions),
        "functions with variable arguments": sum("..." in (record.type or "") for _, record in functions),
        "tables of functions": sum(
            record.kind == "variable" and _names_function(record, manifest) for _, record in records
        ),
        "functions chosen at load time": sum(record.resolved for _, record in functions),
        "weak symbols": sum(record.weak for _, record in records),
        "versioned symbols": sum(record.version is not None for _, record in records),
        "symbols that no library found exports": len(unheld(manifest, reached)),
    }
    return {kind: number for kind, number in counts.items() if number}


def _names_function(record: SymbolRecord, manifest: Manifest) -> bool:
    return any(name in manifest.symbols and manifest.symbols[name].kind == "function" for name in record.calls)


def unheld(manifest: Manifest, reached: Reach) -> list[str]:
    """Return the functions from elsewhere that no library which the dynamic linker loads was found to export."""
    records = ((name, manifest.symbols[name]) for name in reached.names())
    return [
        name
        for name, record in records
        if record.kind == "function"
        and record.status in ("opaque", "known", "inactive", "waived")
        and record.library is None
        and not (record.exported or record.weak or is_intrinsic(name))
    ]


def _ifunc(shown: str, name: str, record: SymbolRecord, names: Names) -> Finding | None:
    if not record.resolved:
        return None
    message = f"{names.show(name)} is an ifunc: its body is chosen when the library is loaded"
    return make_finding("EB036", message, library=shown, symbol=name)


def _vector(shown: str, name: str, record: SymbolRecord, names: Names) -> Finding | None:
    if not record.vector_operations:
        return None
    number = _count(record.vector_operations, "operation", "operations")
    message = f"{names.show(name)} contains {number} on vectors of floating-point numbers"
    return make_finding("EB032", message, library=shown, symbol=name)


def _atomic(shown: str, name: str, record: SymbolRecord, names: Names) -> Finding | None:
    if not record.atomic_operations or not takes_active(record.type):
        return None
    number = _count(record.atomic_operations, "atomic operation", "atomic operations")
    return make_finding("EB033", f"{names.show(name)} contains {number}", library=shown, symbol=name)


def _indirect(shown: str, name: str, record: SymbolRecord, names: Names) -> Finding | None:
    if not record.indirect_calls:
        return None
    number = _count(record.indirect_calls, "call through a pointer", "calls through pointers")
    return make_finding("EB034", f"{names.show(name)} contains {number}", library=shown, symbol=name)


def _signature(shown: str, name: str, record: SymbolRecord) -> Finding | None:
    kind = record.type or ""
    what = []
    if "..." in kind:
        what.append("variable arguments")
    if record.by_value:
        what.append("a struct by value")
    if _BOOLEAN.search(kind):
        what.append("bool")
    if not what:
        return None
    return make_finding("EB035", f"{name} has {' and '.join(what)} in its signature", library=shown, symbol=name)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
