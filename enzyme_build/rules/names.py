"""Find the symbol that a rule means: the name as C, C++ (mangled or demangled) or Fortran writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enzyme_build._toml import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

__all__ = ["Resolution", "resolve_name"]

_MANGLED = re.compile(r"__?Z")  # Itanium C++ ABI 5.1.1; Mach-O puts one more underscore in front
_LEADING_CONST = re.compile(r"\bconst\s+((?:unsigned|signed|long|short)\b(?:\s+\w+)*|[\w:]+(?:<[^()]*>)?)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolution:
    """The symbol, if exactly one fits; else `reason` says in words why not, and `candidates` are those that fit."""

    symbol: str | None
    candidates: tuple[str, ...] = ()
    reason: str = ""


def resolve_name(
    written: str, symbols: Collection[str], demangled: Callable[[Sequence[str]], Mapping[str, str]]
) -> Resolution:
    """Return the one symbol among `symbols` that `written` means.

    `demangled` maps mangled names to what C++ calls them; it is asked only when the name is no symbol itself.
    """
    if written in symbols:
        return Resolution(symbol=written)
    mangled = sorted(name for name in symbols if _MANGLED.match(name))
    readable = demangled(mangled) if mangled else {}
    fortran = [name for name in sorted(symbols) if _is_fortran(written, name)]
    for fits in _cxx_matches(written, readable):
        found = sorted({*fits, *fortran})
        if len(found) == 1:
            return Resolution(symbol=found[0])
        if found:
            return Resolution(symbol=None, candidates=tuple(found), reason=_ambiguous(written, found, readable))
    near = {name for name in symbols if not _MANGLED.match(name)} | {_base(name) for name in readable.values()}
    return Resolution(symbol=None, reason=f"no function is named {written!r}{did_you_mean(written, sorted(near))}")


def _ambiguous(written: str, found: Sequence[str], readable: Mapping[str, str]) -> str:
    shown = ", ".join(
        f"{readable[name]!r} ({name})" if readable.get(name, name) != name else repr(name) for name in found
    )
    return f"{written!r} fits several functions: {shown}; write one of them in full"


def _is_fortran(written: str, symbol: str) -> bool:
    """Return whether a Fortran compiler makes `symbol` of the procedure `written` (`name`, or `module::name`).

    gfortran, flang and ifx append `_`; f2c and gfortran's -fsecond-underscore append two to names that hold one.
    Module procedures are `__module_MOD_name` (gfortran), `_QMmodulePname` (flang), `module_mp_name_` (ifx).
    """
    module, _, name = written.lower().rpartition("::")
    if not re.fullmatch(r"\w+", name) or not re.fullmatch(r"\w*", module):
        return False
    outside = {f"{name}_", *([f"{name}__"] if "_" in name else [])}
    if symbol in outside:
        return not module
    within = re.fullmatch(r"__(\w+)_MOD_(\w+)|_QM(\w+)P(\w+)|(\w+)_mp_(\w+)_", symbol)
    if within is None:
        return False
    parts = [part.lower() for part in within.groups() if part is not None]
    return parts[1] == name and module in ("", parts[0])


def _cxx_matches(written: str, readable: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield the mangled names that fit, the strictest reading first: signature, name, name without template arguments.

    Always yields at least once, so that names of another language are considered too.
    """
    wanted = _normal(written)
    yield [symbol for symbol, name in readable.items() if _normal(name) == wanted]
    if "(" not in written or written.rstrip().endswith(("operator()", "operator ()")):
        yield [symbol for symbol, name in readable.items() if _normal(_base(name)) == wanted]
        yield [symbol for symbol, name in readable.items() if _normal(_without_arguments(_base(name))) == wanted]
    else:  # a template's demangled name starts with its return type, which nobody writes
        yield [symbol for symbol, name in readable.items() if _normal(_base(name) + _signature(name)) == wanted]


def _normal(name: str) -> str:
    """Return the name with one spelling for `const T` and for spaces."""
    east = _LEADING_CONST.sub(r"\1 const", name)
    return re.sub(r"\s*([^\w\s])\s*", r"\1", " ".join(east.split()))


def _signature(name: str) -> str:
    return name[_parameters_at(name) :]


def _base(name: str) -> str:
    """Return the qualified name without return type and parameters: `ns::f<double>` of `double ns::f<double>(int)`."""
    head = name[: _parameters_at(name)].rstrip()
    if re.search(r"\boperator\b", head):
        start = re.search(r"[\w:<>, ]*\boperator\b.*", head)
        return start.group().strip() if start else head
    depth = 0
    for index in range(len(head) - 1, -1, -1):
        depth += {">": 1, ")": 1, "<": -1, "(": -1}.get(head[index], 0)
        if head[index] == " " and depth == 0:
            return head[index + 1 :]
    return head


def _without_arguments(base: str) -> str:
    """Return the name without its last template arguments."""
    if not base.endswith(">") or "operator" in base:
        return base
    depth = 0
    for index in range(len(base) - 1, -1, -1):
        depth += {">": 1, "<": -1}.get(base[index], 0)
        if depth == 0:
            return base[:index]
    return base


def _parameters_at(name: str) -> int:
    """Return where the parameter list begins: at the parenthesis that the last `)` closes; the end if there is none."""
    end = name.rfind(")")
    if end < 0 or re.search(r"[^\w\s&\[\].]", name[end + 1 :]):  # behind it only const, &, [clone ...]
        return len(name)
    depth = 0
    for index in range(end, -1, -1):
        depth += {")": 1, "(": -1}.get(name[index], 0)
        if depth == 0:
            return len(name) if name[:index].rstrip().endswith("operator") else index
    return len(name)
