"""Read C prototypes of functions from the debug information (DWARF) of a library.

Source of fact: DWARF 5, sections 3.3 (subprograms) and 5 (types). A library tells the functions it defines and,
as clang writes it, those it calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elftools.elf.elffile import ELFFile

from enzyme_build.elf import FOREIGN_ERRORS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

__all__ = ["read_prototypes"]

_QUALIFIERS = {
    "DW_TAG_const_type": "const",
    "DW_TAG_volatile_type": "volatile",
    "DW_TAG_restrict_type": "restrict",
}
_TAGGED = {"DW_TAG_structure_type": "struct", "DW_TAG_union_type": "union", "DW_TAG_enumeration_type": "enum"}


def read_prototypes(library: Path, names: Collection[str]) -> dict[str, str]:
    """Return the C declarations of those of `names` that the debug information of `library` tells.

    Nothing without debug information, or with one that cannot be read: it only makes a draft better. A definition is
    preferred to a declaration, whose parameters have no names.
    """
    found: dict[str, str] = {}
    try:
        with library.open("rb") as stream:
            elf: Any = ELFFile(stream)
            if not names or not elf.has_dwarf_info():
                return {}
            for unit in elf.get_dwarf_info().iter_CUs():
                for entry in unit.get_top_DIE().iter_children():
                    name = _text(entry, "DW_AT_name")
                    if entry.tag != "DW_TAG_subprogram" or name is None or name not in names:
                        continue
                    if "DW_AT_linkage_name" in entry.attributes:  # C++ or Fortran
                        continue
                    if name not in found or "DW_AT_declaration" not in entry.attributes:
                        prototype = _prototype(entry, name)
                        found.update({name: prototype} if prototype is not None else {})
    except (*FOREIGN_ERRORS, OSError):
        return found
    return found


def _prototype(entry: Any, name: str) -> str | None:
    parameters = list(_parameters(entry))
    if any(parameter is None for parameter in parameters):
        return None
    inside = ", ".join(parameter for parameter in parameters if parameter is not None)
    return _declare(_type_of(entry), f"{name}({inside or 'void'})")


def _parameters(entry: Any) -> Iterator[str | None]:
    index = 0
    for child in entry.iter_children():
        if child.tag == "DW_TAG_formal_parameter":
            yield _declare(_type_of(child), _text(child, "DW_AT_name") or f"a{index}")
            index += 1
        elif child.tag == "DW_TAG_unspecified_parameters":
            yield "..."


def _declare(kind: Any, declarator: str) -> str | None:
    """Return the declaration of `declarator` with the type at `kind` (`None`: void), `None` where C has none."""
    while kind is not None:
        if kind.tag == "DW_TAG_pointer_type":
            inner = _type_of(kind)
            around = inner is not None and inner.tag in ("DW_TAG_subroutine_type", "DW_TAG_array_type")
            declarator = f"(*{declarator})" if around else f"*{declarator}"
        elif kind.tag in _QUALIFIERS:
            word = _QUALIFIERS[kind.tag]
            inner = _type_of(kind)
            if inner is None or inner.tag != "DW_TAG_pointer_type":
                rest = _declare(inner, declarator)
                return None if rest is None else f"{word} {rest}"
            declarator = f"{word} {declarator}"
        elif kind.tag == "DW_TAG_subroutine_type":
            parameters = [
                _declare(_type_of(child), "") for child in kind.iter_children() if child.tag.endswith("parameter")
            ]
            if any(each is None for each in parameters):
                return None
            declarator = f"{declarator}({', '.join(each.strip() for each in parameters if each) or 'void'})"
        elif kind.tag == "DW_TAG_array_type":
            declarator = f"{declarator}[]"
        else:
            name = _text(kind, "DW_AT_name")
            tag = f"{_TAGGED[kind.tag]} " if kind.tag in _TAGGED else ""
            plain = tag or kind.tag in ("DW_TAG_base_type", "DW_TAG_typedef")
            return f"{tag}{name} {declarator}" if name is not None and plain else None
        kind = _type_of(kind)
    return f"void {declarator}"


def _type_of(entry: Any) -> Any:
    return entry.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in entry.attributes else None


def _text(entry: Any, key: str) -> str | None:
    attribute = entry.attributes.get(key)
    return attribute.value.decode("utf-8", "replace") if attribute is not None else None
