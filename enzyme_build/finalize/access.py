"""How the functions of a module get at a global variable: who reads, who writes, who hands its address on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build.finalize.facts import Access
from enzyme_build.llvm.values import Opcode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enzyme_build.llvm.values import Values

__all__ = ["access_of"]

_FOLLOWED = frozenset({Opcode.GET_ELEMENT, Opcode.BIT_CAST, Opcode.ADDRESS_SPACE_CAST, Opcode.PHI, Opcode.SELECT})
_CALLS = frozenset({Opcode.CALL, Opcode.INVOKE, Opcode.CALL_BRANCH})
_IGNORED = ("llvm.dbg.", "llvm.lifetime.", "llvm.invariant.", "llvm.assume")
_READ, _WRITE, _PASS = "readers", "writers", "passers"


def access_of(values: Values, variable: int) -> Access:
    """Return who gets at `variable` and how, found by following its address through the functions."""
    found: dict[str, set[str]] = {_READ: set(), _WRITE: set(), _PASS: set()}
    indexed = False
    seen = {variable}
    waiting = [variable]
    binding = values.binding
    while waiting:
        address = waiting.pop()
        for user in values.users(address):
            if binding.IsAFunction(user):
                continue  # prefix data: it reads and writes nothing
            if not binding.IsAInstruction(user):
                if user not in seen and not binding.IsAGlobalVariable(user):
                    seen.add(user)
                    waiting.append(user)
                elif binding.IsAGlobalVariable(user):  # its address lies in a table, for whoever reads that
                    found[_PASS].add(values.name(user))
                continue
            opcode = values.opcode(user)
            if opcode in _FOLLOWED:
                indexed = indexed or opcode == Opcode.GET_ELEMENT
                if user not in seen:
                    seen.add(user)
                    waiting.append(user)
                continue
            holder = values.name(values.enclosing_function(user))
            for kind in _kinds(values, user, opcode, address):
                found[kind].add(holder)
    return Access(
        readers=tuple(sorted(found[_READ])),
        writers=tuple(sorted(found[_WRITE])),
        passers=tuple(sorted(found[_PASS])),
        indexed=indexed or bool(found[_PASS]),
    )


def _kinds(values: Values, user: int, opcode: int, address: int) -> Iterator[str]:
    """Yield what an instruction that uses the variable's address does with it."""
    binding = values.binding
    if opcode == Opcode.LOAD:
        yield _READ
    elif opcode == Opcode.STORE:
        yield _PASS if binding.GetOperand(user, 0) == address else _WRITE
    elif opcode in (Opcode.READ_MODIFY_WRITE, Opcode.COMPARE_EXCHANGE):
        yield from (_READ, _WRITE)
    elif opcode in _CALLS:
        name = values.name(binding.GetCalledValue(user))
        if name.startswith("llvm.mem"):
            yield _WRITE if binding.GetOperand(user, 0) == address else _READ
        elif not name.startswith(_IGNORED):
            yield _PASS
    elif opcode != Opcode.INTEGER_COMPARE:
        yield _PASS
