"""What Enzyme makes of functions by their name alone: measured data (`resources/known_functions.toml`), looked up here.

The data is read once, on the first question, in about 5 ms.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from enzyme_build._toml import did_you_mean, tomllib
from enzyme_build.model import Mode

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "KnownFunction",
    "all_functions",
    "enzyme_version",
    "inactive_variable",
    "julia_inactive",
    "julia_nofree",
    "known_like",
    "lookup",
    "nofree_helps",
]

_ACCEPTED = frozenset({"ok", "ok_zero"})

# what comes after an intrinsic's base name: the types it is for (LLVM Language Reference, "Intrinsic Functions");
# `p0i8`, `p0s_struct.point` are pointers as LLVM 15 spells them with typed pointers
_TYPE_PART = re.compile(r"(?:[if]\d+|bf16|x86_fp80|ppcf128|p\d+|v\d+|nxv\d+|a\d+|s[l]?_|isVoid|metadata|sl)")


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownFunction:
    """What Enzyme answers to a call of the function in each mode; the words are explained in the data file.

    `derivative_calls` holds, for each mode, what the derivative itself calls.
    """

    name: str
    category: str
    reverse: str
    forward: str
    derivative_calls: tuple[tuple[Mode, tuple[str, ...]], ...] = ()

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes in which Enzyme accepts a call."""
        answers = ((Mode.REVERSE, self.reverse), (Mode.FORWARD, self.forward))
        return tuple(mode for mode, answer in answers if answer in _ACCEPTED)

    def answer(self, mode: Mode) -> str:
        """Return Enzyme's answer in `mode`."""
        return self.reverse if mode is Mode.REVERSE else self.forward


@dataclass(frozen=True, kw_only=True, slots=True)
class _Table:
    enzyme: str
    llvm: str
    functions: Mapping[str, KnownFunction]
    intrinsics: Mapping[str, KnownFunction]
    no_return: frozenset[str]
    no_return_pattern: re.Pattern[str]
    inactive_prefixes: tuple[str, ...]
    inactive_parts: tuple[str, ...]
    inactive_demangled: tuple[str, ...]
    inactive_variables: frozenset[str]
    julia_inactive: frozenset[str]
    julia_nofree: frozenset[str]
    julia_variables: frozenset[str]


def lookup(name: str, *, demangled: str | None = None) -> KnownFunction | None:
    """Return what is known of the function or intrinsic `name`, `None` when nothing is.

    `demangled` is its C++ name: parts of the C++ library are known by that.
    """
    table = _table()
    if name.startswith("llvm."):
        return _intrinsic(name, table)
    if name in table.no_return or table.no_return_pattern.match(name):
        return _accepted(name, "leads to no return")
    found = table.functions.get(name)
    if found is not None:
        return found
    by_look = name.startswith(table.inactive_prefixes) or any(part in name for part in table.inactive_parts)
    by_cxx = demangled is not None and demangled.startswith(table.inactive_demangled)
    return _accepted(name, "inactive by its name") if by_look or by_cxx else None


def all_functions() -> Mapping[str, KnownFunction]:
    """Return every function that was measured, by name."""
    return _table().functions


def known_like(name: str) -> tuple[KnownFunction | None, str]:
    """Return what a rule `like = name` refers to if Enzyme accepts it in some mode, and a `did you mean` otherwise."""
    found = lookup(name)
    if found is not None and found.modes and not name.startswith("llvm."):
        return found, ""
    accepted = (other for other, function in _table().functions.items() if function.modes)
    return None, did_you_mean(name, accepted)


def nofree_helps(function: KnownFunction) -> bool:
    """Tell whether the attribute `nofree` is all that keeps Enzyme from accepting the function in reverse mode."""
    return function.reverse == "needs_nofree"


def julia_inactive(name: str) -> bool:
    """Tell whether Enzyme.jl marks the function as inactive before it differentiates."""
    return name in _table().julia_inactive


def julia_nofree(name: str) -> bool:
    """Tell whether Enzyme.jl gives the function the attribute `nofree`."""
    return name in _table().julia_nofree


def inactive_variable(name: str, *, julia: bool = False) -> bool:
    """Tell whether Enzyme (with `julia`, Enzyme.jl) takes the global variable as inactive by its name."""
    table = _table()
    return name in table.inactive_variables or (julia and name in table.julia_variables)


def enzyme_version() -> str:
    """Return the versions of Enzyme and LLVM that the data was measured with, in words."""
    table = _table()
    return f"Enzyme {table.enzyme} on LLVM {table.llvm}"


def _accepted(name: str, category: str) -> KnownFunction:
    return KnownFunction(name=name, category=category, reverse="ok_zero", forward="ok_zero")


def _intrinsic(name: str, table: _Table) -> KnownFunction | None:
    """Return what is known of an intrinsic whose name ends in the types it is for."""
    parts = name.split(".")
    for length in range(len(parts), 1, -1):
        found = table.intrinsics.get(".".join(parts[1:length]))
        if found is not None:
            rest = parts[length:]
            return found if not rest or _TYPE_PART.match(rest[0]) else None
    return None


@functools.cache
def _table() -> _Table:
    text = resources.files("enzyme_build.resources").joinpath("known_functions.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    calls = {mode: _lists(data["derivative-calls"][mode.value]) for mode in Mode}
    inactive, julia, no_return = data["inactive"], data["julia"], data["no-return"]
    return _Table(
        enzyme=data["enzyme"]["version"],
        llvm=data["enzyme"]["llvm"],
        functions=_functions(data["function"], calls),
        intrinsics=_functions(data["intrinsic"], calls),
        no_return=frozenset(no_return["names"].split()),
        no_return_pattern=re.compile("|".join(no_return["patterns"])),
        inactive_prefixes=tuple(inactive["prefixes"]),
        inactive_parts=tuple(inactive["contains"]),
        inactive_demangled=tuple(inactive["demangled"].splitlines()),
        inactive_variables=frozenset(inactive["variables"].split()),
        julia_inactive=frozenset(julia["inactive"].split()),
        julia_nofree=frozenset(julia["nofree"].split()),
        julia_variables=frozenset(julia["variables"].split()),
    )


def _functions(
    groups: list[dict[str, Any]], calls: Mapping[Mode, Mapping[str, tuple[str, ...]]]
) -> dict[str, KnownFunction]:
    """Return the functions of all groups by name."""
    return {
        name: KnownFunction(
            name=name,
            category=group["category"],
            reverse=group["reverse"],
            forward=group["forward"],
            derivative_calls=tuple((mode, calls[mode][name]) for mode in Mode if name in calls[mode]),
        )
        for group in groups
        for name in group["names"].split()
    }


def _lists(text: str) -> dict[str, tuple[str, ...]]:
    """Return `name: needed needed ...` lines as a mapping."""
    pairs = (line.partition(": ") for line in text.splitlines())
    return {name: tuple(needed.split()) for name, _, needed in pairs}
