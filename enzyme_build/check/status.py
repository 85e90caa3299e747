"""Decide the status of one symbol: whether, and by what, an AD tool gets past it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from enzyme_build.check import known
from enzyme_build.check.waivers import covers
from enzyme_build.model import Mode, TypeKind
from enzyme_build.rules.model import AllocationRule, DerivativeRule, InactiveRule, LikeRule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from enzyme_build.check.fold import Use
    from enzyme_build.manifest import Manifest, Status, WaiverRecord
    from enzyme_build.model import FunctionType, IRType
    from enzyme_build.rules.model import Rule

__all__ = [
    "CONSTANT",
    "AttachedRule",
    "Ground",
    "Standing",
    "function_standing",
    "is_intrinsic",
    "variable_standing",
    "waiver_for",
]

CONSTANT = "Enzyme would take it as constant, derivative 0, without a word"

_ANSWERS = {
    "no_rule": "knows no derivative for it",
    "needs_nofree": "needs to be told that it frees nothing: add a [[nofree]] rule",
    "unsupported": "says that it cannot handle it",
    "vararg_error": "cannot handle its variable arguments",
    "type_error": "cannot deduce the types of its arguments",
    "error": "stops with an error at it",
    "crash": "crashes at it",
}

# run-time type information: constants of the C++ runtime that nothing is differentiated through (Itanium C++ ABI 2.9)
_CXX_TABLES = ("_ZTV", "_ZTI", "_ZTS", "_ZTT", "_ZGV")


@dataclass(frozen=True, kw_only=True, slots=True)
class AttachedRule:
    """A rule that took effect on a symbol: its position in the rule set, and whether the symbol has a body."""

    index: int
    rule: Rule
    has_body: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """What the status of a symbol depends on besides the symbol itself.

    `rules` are those attached to each symbol, `frees` the functions that an allocation rule names as its counterpart,
    `nofree` those with such a rule; `julia` says that all consumers are Enzyme.jl.
    """

    rules: Mapping[str, Sequence[AttachedRule]]
    frees: Mapping[str, int]
    nofree: frozenset[str]
    linked: Sequence[Manifest]
    holders: Mapping[str, str]
    waivers: Sequence[WaiverRecord]
    julia: bool = False
    demangled: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """A status and what goes with it; see `manifest.SymbolRecord` for the fields."""

    status: Status
    detail: str | None = None
    modes: tuple[Mode, ...] | None = None
    library: str | None = None
    rule: int | None = None


def is_intrinsic(name: str) -> bool:
    """Tell whether the name is that of an LLVM intrinsic: an instruction, spelt as a function."""
    return name.startswith("llvm.")


def function_standing(use: Use, ground: Ground) -> Standing:
    """Return the standing of a function: what a rule says, what the bitcode has, what Enzyme knows, in this order."""
    library = ground.holders.get(use.name)
    for attached in ground.rules.get(use.name, ()):
        by_rule = _by_rule(attached, library=None if use.defined else library)
        if by_rule is not None:
            return by_rule
    if use.name in ground.frees:
        detail = "frees what an [[allocation]] rule allocates"
        return Standing(status="rule", rule=ground.frees[use.name], detail=detail)
    if use.defined:
        return _by_linked_rule(use, ground) or Standing(status="bitcode", library=use.from_library)
    if use.fact is not None and use.fact.never_returns:
        detail = "called only where the program does not come back"
        return Standing(status="known", detail=detail, library=library)
    function = known.lookup(use.name, demangled=ground.demangled.get(use.name))
    by_name = _by_name(use.name, function, ground, library=library)
    if by_name is not None:
        return by_name
    return _waived(use.name, ground, library) or Standing(
        status="opaque", library=library, detail=_why_opaque(use, function, ground)
    )


def variable_standing(use: Use, ground: Ground) -> Standing:
    """Return the standing of a global variable; an external pointer is opaque, external plain data is not."""
    assert use.variable is not None  # noqa: S101 - the caller separates functions and variables
    library = ground.holders.get(use.name)
    attached = next(iter(ground.rules.get(use.name, ())), None)
    if attached is not None:
        return Standing(status="inactive", rule=attached.index, library=None if use.defined else library)
    if use.defined:
        return Standing(status="bitcode")
    if known.inactive_variable(use.name, julia=ground.julia):
        return Standing(status="known", detail="inactive to Enzyme by its name", library=library)
    if use.name.startswith(_CXX_TABLES):
        return Standing(status="known", detail="C++ run-time type information", library=library)
    if not _holds_pointer(use.variable.type):
        return Standing(status="known", detail="plain data", library=library)
    return _waived(use.name, ground, library) or Standing(
        status="opaque", detail="external pointer variable", library=library
    )


def _by_rule(attached: AttachedRule, *, library: str | None) -> Standing | None:
    """Return the standing that a rule gives its function; a rule that only adds an attribute gives none."""
    match attached.rule:
        case DerivativeRule():
            limited = None if attached.has_body or len(attached.rule.modes) == len(Mode) else attached.rule.modes
            return Standing(status="rule", rule=attached.index, modes=limited, library=library)
        case LikeRule():
            like, _ = known.known_like(attached.rule.like)
            if like is None:
                return None  # becomes a problem of the rule
            modes = None if len(like.modes) == len(Mode) else like.modes
            detail = f"like {attached.rule.like}"
            return Standing(status="rule", rule=attached.index, modes=modes, library=library, detail=detail)
        case AllocationRule():
            return Standing(status="rule", rule=attached.index, library=library, detail="allocates")
        case InactiveRule():
            return Standing(status="inactive", rule=attached.index, library=library)
        case _:
            return None


def _by_linked_rule(use: Use, ground: Ground) -> Standing | None:
    """Return the standing of a function that came with its rule from a linked library."""
    for manifest in ground.linked:
        record = manifest.symbols.get(use.name)
        if manifest.library.file == use.from_library and record is not None and record.rule is not None:
            detail = f"by a rule of {manifest.library.file}"
            return Standing(status=record.status, modes=record.modes, library=use.from_library, detail=detail)
    return None


def _by_name(
    name: str, function: known.KnownFunction | None, ground: Ground, *, library: str | None
) -> Standing | None:
    """Return the standing of a function that Enzyme accepts by its name in at least one mode."""
    if ground.julia and known.julia_inactive(name):
        return Standing(status="inactive", detail="marked inactive by Enzyme.jl", library=library)
    if function is None:
        return None
    modes = set(function.modes)
    told_nofree = name in ground.nofree or (ground.julia and known.julia_nofree(name))
    if known.nofree_helps(function) and told_nofree:
        modes.add(Mode.REVERSE)
    if not modes:
        return None
    limited = None if len(modes) == len(Mode) else tuple(mode for mode in Mode if mode in modes)
    calls = [
        f"its {mode.value} derivative calls {', '.join(needed)}" for mode, needed in function.derivative_calls if needed
    ]
    failing = [
        f"in {mode.value} mode Enzyme {_ANSWERS[function.answer(mode)]}"
        for mode in Mode
        if limited is not None and mode not in limited
    ]
    detail = "; ".join([function.category, *failing, *calls])
    return Standing(status="known", detail=detail, modes=limited, library=library)


def waiver_for(name: str, ground: Ground) -> WaiverRecord | None:
    """Return the first waiver that covers the symbol."""
    demangled = ground.demangled.get(name)
    return next((waiver for waiver in ground.waivers if covers(waiver, name, demangled)), None)


def _waived(name: str, ground: Ground, library: str | None) -> Standing | None:
    waiver = waiver_for(name, ground)
    return None if waiver is None else Standing(status="waived", detail=waiver.reason, library=library)


def _why_opaque(use: Use, function: known.KnownFunction | None, ground: Ground) -> str | None:
    """Return in words what else is to be said of an opaque function."""
    if function is not None:
        said = {mode: function.answer(mode) for mode in Mode}
        if len(set(said.values())) == 1:
            return f"Enzyme {_ANSWERS[function.reverse]}"
        return "; ".join(f"in {mode.value} mode Enzyme {_ANSWERS[answer]}" for mode, answer in said.items())
    if is_intrinsic(use.name):
        return "an LLVM intrinsic that Enzyme is not known to handle"
    for manifest in ground.linked:
        record = manifest.symbols.get(use.name)
        if record is not None and record.exported and record.status == "bitcode":
            return f"its bitcode in {manifest.library.file} was not merged"
    if use.fact is not None and _taken_as_constant(use.fact.type):
        return CONSTANT
    return None


def _taken_as_constant(kind: FunctionType) -> bool:
    """Tell whether Enzyme takes a call of an unknown function of this type as constant: nothing active can go in.

    Measured: neither a pointer nor a floating-point argument, and a result that is no pointer.
    """
    plain = (TypeKind.INTEGER,)
    inert = all(parameter.kind in plain for parameter in kind.parameters) and not kind.variadic
    return inert and kind.result.kind in (TypeKind.VOID, TypeKind.INTEGER, TypeKind.FLOATING)


def _holds_pointer(kind: IRType) -> bool:
    return kind.kind is TypeKind.POINTER or any(_holds_pointer(element) for element in kind.elements)
