"""What debug information says of C functions: their parameters as the source has them, pointed-to types included.

LLVM's types do not tell what an opaque pointer points to, or `int` from `enum`; where the sources were compiled with
`-g`, this does. Read from the module as text (LLVM Language Reference, specialized metadata nodes), since LLVM-C has
no access to the nodes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from enzyme_build.rules.model import DebugSignature, DebugType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from enzyme_build.llvm.context import Module

__all__ = ["debug_signatures", "read_debug_signatures"]

_NODE = re.compile(r"^(![0-9]+) = (?:distinct )?(.*)$", re.MULTILINE)
_NAME = re.compile(r'\bname: "((?:[^"\\]|\\.)*)"')
_TRANSPARENT = (
    "DW_TAG_const_type",
    "DW_TAG_volatile_type",
    "DW_TAG_restrict_type",
    "DW_TAG_typedef",
    "DW_TAG_atomic_type",
)
_DEEPEST = 20  # typedefs of typedefs; more is a cycle


def debug_signatures(module: Module) -> Mapping[str, DebugSignature]:
    """Return the signatures of the C functions in `module`, by name; nothing without debug information."""
    if not module.has_named_metadata("llvm.dbg.cu"):
        return {}
    return read_debug_signatures(module.text())


def read_debug_signatures(text: str) -> Mapping[str, DebugSignature]:
    """Return the signatures that the IR in `text` tells; a name that stands for two of them is left out.

    Functions with a linkage name (C++, Fortran) are left out too: what they take is not what C would be told.
    """
    nodes = dict(_NODE.findall(text))
    found: dict[str, DebugSignature | None] = {}
    for node in nodes.values():
        if not node.startswith("!DISubprogram(") or "linkageName:" in node:
            continue
        name = _NAME.search(node)
        types = _reference(nodes.get(_reference(node, "type"), ""), "types")
        if name is None or types not in nodes:
            continue
        listed = re.findall(r"![0-9]+|null", nodes[types].removeprefix("!{"))
        kinds = [_kind(each, nodes) for each in listed]
        if kinds and all(kind is not None for kind in kinds):
            signature = DebugSignature(result=kinds[0], parameters=tuple(kinds[1:]))  # type: ignore[arg-type]
            known = found.setdefault(name[1], signature)
            found[name[1]] = signature if known == signature else None
    return {name: signature for name, signature in found.items() if signature is not None}


def _reference(node: str, field: str) -> str:
    found = re.search(rf"\b{field}: (![0-9]+)", node)
    return "" if found is None else found[1]


def _kind(reference: str, nodes: Mapping[str, str]) -> DebugType | None:
    """Return a type with what it points to, behind qualifiers and typedefs; `None` for one that cannot be told."""
    stars = 0
    for _ in range(_DEEPEST):
        node = nodes.get(reference, "")
        if not node.startswith("!DIDerivedType("):
            found = _leaf(reference, node)
            return (
                None if found is None else DebugType(kind="pointer" if stars else found[0], text=found[1], stars=stars)
            )
        if "tag: DW_TAG_pointer_type" in node:
            stars += 1
        elif not any(f"tag: {tag}," in node for tag in _TRANSPARENT):
            return None
        reference = _reference(node, "baseType")
    return None


def _leaf(reference: str, node: str) -> tuple[str, str] | None:
    """Return kind and name of a type that is no pointer to, or another name of, a further one."""
    name = _NAME.search(node)
    if reference in ("null", ""):
        return "void", "void"
    if node.startswith("!DIBasicType("):
        return _basic(node)
    if node.startswith("!DICompositeType("):
        if "tag: DW_TAG_enumeration_type" in node:
            return "integer", "int"
        return "other", "struct" if name is None else f"struct {name[1]}"
    return ("pointer", "function") if node.startswith("!DISubroutineType(") else None


def _basic(node: str) -> tuple[str, str]:
    """Return kind and C name of a basic type."""
    size = re.search(r"\bsize: ([0-9]+)", node)
    if "encoding: DW_ATE_float" in node:
        return "floating", {"32": "float", "64": "double"}.get(size[1] if size else "", "long double")
    name = _NAME.search(node)
    if "encoding: DW_ATE_complex_float" in node:
        return "other", name[1] if name else "complex"
    return "integer", name[1] if name else "int"
