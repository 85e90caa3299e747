"""Findings about variables: state, which derivatives do not follow, and tables, which need a shadow.

Measured with Enzyme 0.0.289 on LLVM 15:

- a variable that one differentiated function writes and another reads counts as constant, in both modes; written, read
  and passed on in one function only, it is followed;
- an external table, an external variable that is written, and a table that is initialised but not constant stop Enzyme,
  unless only functions without pointers and floating-point arguments get at them;
- after a call that a rule answers for, forward mode wants a shadow of every external number.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from enzyme_build.check.calls import Calls
from enzyme_build.check.finding import make_finding
from enzyme_build.check.stanza import inactive_global_stanza
from enzyme_build.model import CallSite, Mode, SourceLocation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from enzyme_build.check.finding import Finding, Level
    from enzyme_build.check.reach import Reach
    from enzyme_build.check.symbols import Names
    from enzyme_build.manifest import Manifest, SymbolRecord, VariableRecord

__all__ = ["kept_state", "takes_active", "variable_findings"]

_ACTIVE = re.compile(r"\b(?:double|float|half|bfloat|x86_fp80|fp128|ppc_fp128|ptr)\b|\*")
_CXX_STREAMS = "std::ios_base::Init"  # the object that opens cout and its like


def variable_findings(
    shown: str, manifest: Manifest, reached: Reach, names: Names, *, declared: Sequence[Mode]
) -> list[Finding]:
    """Return a finding for each variable that makes derivatives wrong or stops Enzyme where a root reaches it."""
    found = []
    inside = _inside(manifest, reached)
    filled = _filled_by_constructors(manifest)
    forward = not declared or Mode.FORWARD in declared
    answered = forward and any(
        manifest.symbols[name].status == "rule" and manifest.symbols[name].kind == "function"
        for name in reached.before[Mode.FORWARD]
    )
    variables = _state_within(manifest, reached)
    calls = Calls(manifest, _users(variables))
    place = _Place(shown=shown, manifest=manifest, names=names, inside=inside, calls=calls, answered=answered)
    for name, record in variables:
        variable = record.variable
        assert variable is not None  # noqa: S101 - `_state_within` chose those that have one
        use = _Use.of(variable, inside)
        if not use.functions:
            continue
        here = record.status == "bitcode"
        finding = place.constructed(name, filled.get(name), use) if here else None
        finding = finding or place.shadowless(name, variable, use, here=here)
        if here:
            finding = finding or place.unfollowed(name, variable, use) or place.duplicated(name, variable, use)
        if finding is not None:
            chain = reached.chain(name)
            found.append(
                dataclasses.replace(
                    finding,
                    demangled=names.demangled_or_none(name),
                    chain=tuple(names.brief(step) for step in chain) if len(chain) > 1 else (),
                    callers=_sites(record, use.functions, names),
                    held_by=record.library,
                    stanza=inactive_global_stanza(name),
                )
            )
        if variable.thread_local and record.status in ("bitcode", "known"):
            message = f"{names.show(name)} is thread-local, and {_listed(use.functions, names)} {_verb(use)} it"
            found.append(make_finding("EB040", message, library=shown, symbol=name))
    return found


def kept_state(manifest: Manifest, reached: Reach, findings: Iterable[Finding]) -> list[str]:
    """Return the variables in which one reached function keeps something between its calls, and nobody else does."""
    inside = _inside(manifest, reached)
    judged = {finding.symbol for finding in findings}
    return [
        name
        for name, record in _state_within(manifest, reached)
        if record.status == "bitcode"
        and name not in judged
        and record.variable is not None
        and inside.intersection((*record.variable.writers, *record.variable.passers))
    ]


def takes_active(kind: str | None) -> bool:
    """Tell whether a function of LLVM type `kind` takes a pointer or a floating-point number: anything active."""
    return kind is None or bool(_ACTIVE.search(kind.partition(" (")[2]))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Use:
    """The differentiated functions that read, write, or hand on the address of a variable."""

    readers: frozenset[str]
    writers: frozenset[str]
    passers: frozenset[str]

    @classmethod
    def of(cls, variable: VariableRecord, inside: Collection[str]) -> _Use:
        readers, writers, passers = (
            frozenset(functions).intersection(inside)
            for functions in (variable.readers, variable.writers, variable.passers)
        )
        return cls(readers=readers, writers=writers, passers=passers)

    @property
    def functions(self) -> tuple[str, ...]:
        return tuple(sorted(self.readers | self.writers | self.passers))

    def crosses(self, calls: Calls, *, indexed: bool) -> bool:
        """Tell whether something can be stored by one function and loaded by another in one differentiation.

        An array that a function fills by calling another and then reads itself is followed.
        """
        givers, takers = self.writers | self.passers, self.readers | self.passers
        return any(
            giver != taker
            and calls.share_root(giver, taker)
            and not (indexed and calls.reaches(taker, giver) and not calls.reaches(giver, taker))
            for giver in givers
            for taker in takers
        )


def _inside(manifest: Manifest, reached: Reach) -> frozenset[str]:
    """Return the functions whose bodies Enzyme differentiates."""
    return frozenset(name for name in reached.names() if manifest.symbols[name].status == "bitcode")


def _state_within(manifest: Manifest, reached: Reach) -> list[tuple[str, SymbolRecord]]:
    records = ((name, manifest.symbols[name]) for name in reached.names())
    return [
        (name, record)
        for name, record in records
        if record.kind == "variable" and record.variable is not None and record.status in ("bitcode", "known")
    ]


def _users(variables: Sequence[tuple[str, SymbolRecord]]) -> set[str]:
    """Return the functions that get at any of the variables."""
    return {
        function
        for _, record in variables
        if record.variable is not None
        for function in (*record.variable.readers, *record.variable.writers, *record.variable.passers)
    }


def _filled_by_constructors(manifest: Manifest) -> dict[str, str]:
    """Return for each variable that code run at load time may store to the constructor that does."""
    filled: dict[str, str] = {}
    touching: dict[str, list[str]] = {}
    for name, record in manifest.symbols.items():
        if record.variable is not None:
            for function in (*record.variable.writers, *record.variable.passers):
                touching.setdefault(function, []).append(name)
    for constructor in manifest.constructors:
        seen = {constructor}
        waiting = [constructor]
        while waiting:
            function = waiting.pop()
            for variable in touching.get(function, ()):
                filled.setdefault(variable, constructor)
            following = set(manifest.symbols[function].calls if function in manifest.symbols else ()) - seen
            seen |= following
            waiting += sorted(following)
    return filled


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """One library, its functions that are differentiated, and whether rules answer for calls in forward mode."""

    shown: str
    manifest: Manifest
    names: Names
    inside: frozenset[str]
    calls: Calls
    answered: bool

    def constructed(self, name: str, constructor: str | None, use: _Use) -> Finding | None:
        """Return the finding for a variable that the loader fills."""
        spoken = self.names.show(name)
        if constructor is None or not (use.readers or use.passers) or spoken.startswith(_CXX_STREAMS):
            return None
        readers = _listed(sorted(use.readers | use.passers), self.names)
        filler = self.names.show(constructor)
        message = f"{spoken} is filled by {filler} when the library is loaded; {readers} needs it"
        return make_finding("EB030", message, library=self.shown, symbol=name)

    def shadowless(self, name: str, variable: VariableRecord, use: _Use, *, here: bool) -> Finding | None:
        """Return the finding for a variable that stops Enzyme."""
        spoken = self.names.show(name)
        active = [each for each in use.functions if takes_active(self.manifest.symbols[each].type)]
        if not active or not variable.holds:
            return None
        who = _listed(active, self.names)
        level: Level | None = None
        if here:
            table = variable.aggregate and variable.indexed and variable.initialised
            if not table or not use.readers.intersection(active):
                return None
            message = f"{spoken} is a table that is initialised but not constant, and {who} reads it: Enzyme aborts"
        elif "number" not in variable.holds:
            return None
        elif variable.aggregate:
            message = f"{spoken} is a table that another library owns, and {who} uses it: Enzyme stops"
        elif use.writers or use.passers:
            level = None if use.crosses(self.calls, indexed=False) else "warning"
            message = f"{spoken} is a variable that another library owns, and {who} changes it"
        elif self.answered:
            level = "warning"
            message = (
                f"{spoken} is a variable that another library owns, and {who} reads it where a rule answers for "
                "another call: Enzyme stops in forward mode"
            )
        else:
            return None
        return make_finding("EB031", message, level=level, library=self.shown, symbol=name)

    def unfollowed(self, name: str, variable: VariableRecord, use: _Use) -> Finding | None:
        """Return the finding for a variable through which something active may go from one function to another."""
        if not variable.holds or not use.crosses(self.calls, indexed=variable.indexed):
            return None
        givers, takers = sorted(use.writers | use.passers), sorted(use.readers | use.passers)
        message = (
            f"{self.names.show(name)} is written by {_listed(givers, self.names)} "
            f"and read by {_listed(takers, self.names)}"
        )
        if "number" in variable.holds:
            message += ": Enzyme takes what is read as constant, and the derivative is wrong"
            return make_finding("EB028", message, library=self.shown, symbol=name)
        message += ": Enzyme may not find the derivatives behind the pointer in it"
        return make_finding("EB028", message, level="warning", library=self.shown, symbol=name)

    def duplicated(self, name: str, variable: VariableRecord, use: _Use) -> Finding | None:
        """Return the finding for a variable that code outside of one differentiation changes."""
        used = frozenset(use.functions)
        outside = sorted(
            function
            for function in {*variable.writers, *variable.passers}
            if function not in self.inside or (function in use.writers | use.passers and self._apart(function, used))
        )
        if not outside:
            return None
        others = [function for function in use.functions if function not in outside] or list(use.functions)
        message = (
            f"{self.names.show(name)} is changed by {_listed(outside, self.names)} in the loaded library, and "
            f"{_listed(others, self.names)} {'uses' if len(others) == 1 else 'use'} a copy of it"
        )
        return make_finding("EB029", message, library=self.shown, symbol=name)

    def _apart(self, writer: str, used: frozenset[str]) -> bool:
        """Tell whether some other user of a variable can be differentiated without `writer` being called."""
        return any(self.calls.has_other_root(other, writer) for other in used - {writer})


def _verb(use: _Use) -> str:
    return "uses" if len(use.functions) == 1 else "use"


def _listed(functions: Sequence[str], names: Names) -> str:
    shown = [names.brief(function) for function in functions[:3]]
    more = len(functions) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _sites(record: SymbolRecord, functions: Collection[str], names: Names) -> tuple[CallSite, ...]:
    return tuple(
        CallSite(
            caller=names.brief(site.caller),
            location=None if site.file is None or site.line is None else SourceLocation(file=site.file, line=site.line),
        )
        for site in record.sites
        if site.caller in functions
    )
