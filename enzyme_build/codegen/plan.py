"""What the generated functions of one rule look like from outside: their names, the packet, their parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from enzyme_build.rules.generated import generated_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from enzyme_build.rules.model import Argument, DerivativeRule, Prototype, StatedDerivative

__all__ = ["HIDE", "NEVER", "POINTER", "WRITTEN", "Lines", "Plan", "function", "indented"]

WRITTEN = "\0"  # in front of a line of the user's: its columns are those of the rule file
POINTER = "ENZYMEBC_POINTER"
HIDE = "ENZYMEBC_HIDE"
NEVER = "ENZYMEBC_NEVER"
_WIDTH = 120
_STORAGE = re.compile(r"^(?:(?:extern|static|inline|_Noreturn)\s+)+")
_QUALIFIED = re.compile(r"\b(?:const|volatile|restrict|register|static|inline|extern)\b\s*")

Lines = list[str]


def indented(lines: Iterable[str], *, by: int = 1) -> Lines:
    """Return `lines`, each moved to the right; directives, and what the user wrote, stay where they are."""
    return [f"{'    ' * by}{line}" if line and not line.startswith(("#", WRITTEN)) else line for line in lines]


def function(head: str, parameters: Sequence[str], body: Lines) -> Lines:
    """Return a function definition: `head` is result type and name; many parameters get a line each."""
    line = f"{head}({', '.join(parameters) or 'void'}) {{"
    if len(line) <= _WIDTH:
        return [line, *indented(body), "}"]
    listed = [f"{parameter}," for parameter in parameters[:-1]] + [f"{parameters[-1]}) {{"]
    return [f"{head}(", *indented(listed, by=2), *indented(body), "}"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One rule, its statement and prototype, and names that clash with nothing the user wrote."""

    rule: DerivativeRule
    stated: StatedDerivative
    prototype: Prototype
    taken: frozenset[str]
    made: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, rule: DerivativeRule) -> Plan:
        """Return the plan for a rule with a statement."""
        stated, prototype = rule.stated, rule.prototype
        assert stated is not None  # noqa: S101 - the caller chose such rules
        assert prototype is not None  # noqa: S101 - a statement has a prototype
        # blocks become functions of their own, where no name of ours is seen
        blocks = [stated.setup] if stated.partials and stated.setup is not None else []
        taken = {argument.name for argument in stated.arguments} | {prototype.name, "result"}
        taken |= {name for partial in stated.partials for name in partial.uses}
        taken |= {name for block in blocks for name in (*block.uses, *block.declares)}
        return cls(rule=rule, stated=stated, prototype=prototype, taken=frozenset(taken))

    def name(self, wanted: str) -> str:
        """Return a C name like `wanted` that the user's names leave free, always the same for the same wish."""
        found = self.made.get(wanted)
        if found is None:
            found = wanted
            while found in self.taken or found in self.made.values():
                found += "_"
            self.made[wanted] = found
        return found

    def function(self, role: str) -> str:
        """Return the name of the generated function, or struct, with `role`."""
        return generated_name(role, self.prototype.name)

    @property
    def packed(self) -> tuple[Argument, ...]:
        """The arguments that travel in the packet."""
        return tuple(argument for argument in self.stated.arguments if argument.place == "packet")

    @property
    def passed(self) -> tuple[Argument, ...]:
        """The arguments that are parameters of the packet function."""
        return tuple(argument for argument in self.stated.arguments if argument.place in ("array", "handle"))

    @property
    def integers(self) -> tuple[Argument, ...]:
        """The arguments that travel in the second struct, which has no shadow."""
        return tuple(argument for argument in self.stated.arguments if argument.place == "integer")

    @property
    def has_packet(self) -> bool:
        """Whether there is a packet."""
        return bool(self.packed) or self.stated.result == "floating"

    @property
    def has_bridge(self) -> bool:
        """Whether there is a packet that can be inactive while an array is active."""
        return self.has_packet and any(argument.place == "array" for argument in self.passed)

    @property
    def has_plain(self) -> bool:
        """Whether there is a struct of integers: by-value ones, and a status that the function returns."""
        return bool(self.integers) or self.stated.result == "integer"

    @property
    def result_type(self) -> str:
        """The C type of what the function returns."""
        return _QUALIFIED.sub("", self.prototype.result_text).strip()

    def members(self) -> Iterator[tuple[str, str]]:
        """Yield C type and name of each member of the packet."""
        for argument in self.packed:
            yield argument.type, argument.name
        if self.stated.result == "floating":
            yield self.result_type, "result"

    def plain_members(self) -> Iterator[tuple[str, str]]:
        """Yield C type and name of each member of the struct of integers."""
        for argument in self.integers:
            yield argument.type, argument.name
        if self.stated.result == "integer":
            yield self.result_type, "result"

    def results(self) -> Iterator[str]:
        """Yield the members of the packet that a call computes."""
        yield from (argument.name for argument in self.packed if argument.output)
        if self.stated.result == "floating":
            yield "result"

    def parameters(self, *, shadows: bool) -> Lines:
        """Return the parameters of the packet function, or of the rule on it, with a shadow behind each."""
        found = []
        if self.has_packet:
            struct = f"struct {self.function('values')} *"
            found.append(f"{struct}{self.name('values')}")
            found += [f"{struct}{self.name('d_values')}"] if shadows else []
        if self.has_plain:
            found.append(f"uintptr_t {self.name('plain_distance')}")
            found += [f"uintptr_t {self.name('plain_distance_again')}"] if shadows else []
        for argument in self.passed:
            kind, name = self._declared(argument)
            found.append(_declare(kind, name))
            if shadows and argument.place == "array":
                found.append(_declare(_QUALIFIED.sub("", kind), self.shadow(argument)))
            elif shadows:
                found.append(_declare(kind, self.name(f"{name}_again")))
        return found

    def unused(self, used: Iterable[str], *, shadows: bool) -> Lines:
        """Return statements that mention the parameters that `used` (C text) does not, since compilers warn."""
        words = {word for text in used for word in re.findall(r"\w+", text)}
        names = [re.findall(r"\w+", parameter)[-1] for parameter in self.parameters(shadows=shadows)]
        return [f"(void){name};" for name in names if name not in words]

    def call(self, function: str) -> str:
        """Return a call of the packet function, or of one with the same parameters, from one of the rule's."""
        inside = [self.name("values")] if self.has_packet else []
        inside += [self.name("plain_distance")] if self.has_plain else []
        inside += [self._declared(argument)[1] for argument in self.passed]
        return f"{function}({', '.join(inside)})"

    def pointer(self, argument: Argument) -> str:
        """Return the name of the parameter that points to an array."""
        return self.name(f"at_{argument.name}")

    def shadow(self, argument: Argument) -> str:
        """Return the name of the parameter that points to an array's shadow."""
        return self.name(f"d_{argument.name}")

    def recovered(self, argument: Argument) -> str:
        """Return the pointer behind a handle, as C text of its own type."""
        return f"({argument.pointer}){POINTER}({self.distance(argument)})"

    def distance(self, argument: Argument) -> str:
        """Return the name of the parameter that stands for a handle."""
        return self.name(f"{argument.name}_distance")

    def plain_pointer(self, text: Iterable[str]) -> Lines:
        """Return the declaration of the pointer to the struct of integers, if `text` names it."""
        plain = self.name("plain")
        if not any(re.search(rf"\b{plain}\b", line) for line in text):
            return []
        return [f"struct {self.function('plain')} *{plain} = {POINTER}({self.name('plain_distance')});"]

    def _declared(self, argument: Argument) -> tuple[str, str]:
        if argument.place == "handle":
            return "uintptr_t", self.distance(argument)
        return argument.pointer or "void *", self.pointer(argument)

    def declaration(self, name: str | None = None) -> str:
        """Return the function's own declaration, under another name if one is given."""
        text = _STORAGE.sub("", self.prototype.text)
        if not self.prototype.parameters:
            text = re.sub(r"\(\s*(?:void)?\s*\)$", "(void)", text)
        return (
            text if name is None else re.sub(rf"\b{re.escape(self.prototype.name)}\b(?=\)?\s*\()", name, text, count=1)
        )

    def shim(self) -> Lines:
        """Return the function that callers call: it fills the packet, calls the packet function, reads the results."""
        values, plain, result = self.name("values"), self.name("plain"), self.stated.result
        body = [f"struct {self.function('values')} {values};"] if self.has_packet else []
        body += [f"struct {self.function('plain')} {plain};"] if self.has_plain else []
        body += [f"{values}.{each.name} = {'*' if each.pointer else ''}{each.name};" for each in self.packed]
        body += [f"{plain}.{each.name} = {each.name};" for each in self.integers]
        body += [f"{values if result == 'floating' else plain}.result = 0;"] if result != "void" else []
        inside = [f"&{values}"] if self.has_packet else []
        inside += [f"{HIDE}(&{plain})"] if self.has_plain else []
        inside += [f"{HIDE}({each.name})" if each.place == "handle" else each.name for each in self.passed]
        body.append(f"{self.function('packet')}({', '.join(inside)});")
        written = [each for each in self.packed if each.pointer and "const" not in each.pointer.split()]
        body += [f"*{each.name} = {values}.{each.name};" for each in written]
        body += [f"return {values if result == 'floating' else plain}.result;"] if result != "void" else []
        return [f"{self.declaration(self.function('shim'))} {{", *indented(body), "}"]

    def packet(self) -> Lines:
        """Return the function that the rule is on: it calls the real one with what the packet holds."""
        call = self.primal_call()
        body = [*self.plain_pointer([call]), call, *self._touches()]
        return function(f"void {self.function('packet')}", self.parameters(shadows=False), body)

    def _touches(self) -> Lines:
        """Return writes to arrays that are only read, under a condition that is never true.

        Where the primal has a body that shows that it does not write there, Enzyme may read the array anew in the
        reverse pass of a loop, by when a later turn has overwritten it (measured on v0.0.289: a wrong derivative).
        """
        lines = []
        for argument in self.passed:
            pointer = self.pointer(argument)
            if argument.place != "array" or argument.output:
                continue
            if argument.number == "struct":
                member = self.members_of(argument)
                written = f"(({argument.type} *){pointer})->{member[0]} = 0;" if member else None
            else:
                written = f"*({argument.type} *){pointer} = 0;"
            if written is not None:
                lines.append(f"if ({NEVER}({pointer})) {written}")
        return lines

    def members_of(self, argument: Argument) -> list[str]:
        """Return the members of a struct that formulas or blocks derive by or of."""
        sides = [side for partial in self.stated.partials for side in (partial.output, partial.input)]
        members = [side.partition(".")[2] for side in sides if side.partition(".")[0] == argument.name]
        blocks = [block for block in (self.stated.setup, self.stated.vjp, self.stated.jvp) if block is not None]
        members += [member for block in blocks for name, member in block.fields if name == argument.name]
        return list(dict.fromkeys(members))

    def primal_call(self, *, own: Collection[Argument] = ()) -> str:
        """Return the call of the primal; the arguments in `own` are variables, not members of the packet."""
        values, plain = self.name("values"), self.name("plain")
        inside = []
        for argument in self.stated.arguments:
            if argument.place == "packet":
                member = argument.name if argument in own else f"{values}->{argument.name}"
                inside.append(f"{'&' if argument.pointer else ''}{member}")
            elif argument.place == "integer":
                inside.append(f"{plain}->{argument.name}")
            elif argument.place == "handle":
                inside.append(f"{POINTER}({self.distance(argument)})")
            else:
                inside.append(self.pointer(argument))
        call = f"{self.prototype.name}({', '.join(inside)});"
        if self.stated.result == "void":
            return call
        return f"{values if self.stated.result == 'floating' else plain}->result = {call}"

    @property
    def roles(self) -> tuple[str, ...]:
        """The rule functions that the statement gives."""
        stated = self.stated
        reverse = stated.vjp is not None or bool(stated.partials)
        forward = stated.jvp is not None or bool(stated.partials)
        return (*(("augmented", "gradient") if reverse else ()), *(("tangent",) if forward else ()))


def _declare(kind: str, name: str) -> str:
    return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}"
