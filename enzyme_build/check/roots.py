"""The functions from which Enzyme starts: those the user names, or the exported ones."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

from enzyme_build.rules.names import resolve_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from enzyme_build.elf import ElfFacts

__all__ = ["choose_roots", "is_pattern"]

# made by the linker or the C runtime's start files, not by the user
_LINKER_NAMES = frozenset({"_init", "_fini", "_edata", "_end", "__bss_start"})
_MODULE_START = "PyInit_"


def choose_roots(
    wanted: Sequence[str],
    *,
    elf: ElfFacts,
    defined: Collection[str],
    rule_functions: Collection[str],
    demangle: Callable[[Sequence[str]], Mapping[str, str]],
) -> tuple[str, ...]:
    """Return the symbols of the roots, sorted; a name or pattern that fits nothing is kept as it was written.

    `defined` are the functions that the bitcode defines, static ones included: a root may be one. Without `wanted` the
    exported functions are the roots, except the start function of a Python extension module, the functions of rules
    (they are run, not differentiated) and C++ inline functions and template instances, which nobody calls by name and
    which the optimiser drops from the module once they are inlined.
    """
    exported = {symbol.name: symbol for symbol in elf.exported if symbol.kind == "function"}
    if not wanted:
        return tuple(
            name
            for name, symbol in sorted(exported.items())
            if not name.startswith(_MODULE_START)
            and name not in _LINKER_NAMES
            and name not in rule_functions
            and not (symbol.weak and name.startswith("_Z"))
        )
    known = {*exported, *defined}
    roots: set[str] = set()
    for written in wanted:
        if is_pattern(written):
            roots |= set(fnmatch.filter(known, written)) or {written}
        else:
            roots.add(resolve_name(written, known, demangle).symbol or written)
    return tuple(sorted(roots))


def is_pattern(written: str) -> bool:
    """Tell whether a root is written as a pattern (`kernel_*`); `operator*` and other C++ names with `(` are not."""
    return any(character in written for character in "*?[") and "(" not in written and "operator" not in written
