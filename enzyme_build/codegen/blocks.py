"""Write gradient and tangent of a rule whose derivative is stated by C blocks.

A block becomes a function of its own. It gets copies: values as they were at the call, seeds, tangents, and memory full
of zeros for what it computes. So it cannot forget a guard, cannot leave a seed uncleared, and in-place calls are right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from enzyme_build.codegen.partials import augmented, block_text
from enzyme_build.codegen.plan import POINTER, Lines, Plan, function, indented
from enzyme_build.codegen.tape import WORD, Tape, counts_of, element, extent_lines, integer_values

if TYPE_CHECKING:
    from enzyme_build.rules.model import Argument, Block

__all__ = ["ZEROS", "BlocksWriter"]

ZEROS = "__enzymebc_zeros"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Shadow:
    """One shadow in a block: its name there, and whether the block reads it (a seed, a tangent) or computes it."""

    name: str
    argument: Argument | None
    type: str
    read: bool


class BlocksWriter:
    """The functions of one rule with blocks."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.counts = counts_of(plan)
        self.index = plan.name("i")
        stated = plan.stated
        self.tapes = {
            "vjp": Tape(plan, self._saved_names(stated.vjp), label="tape"),
            "jvp": Tape(plan, self._saved_names(stated.jvp), label="kept"),
        }

    def functions(self) -> Lines:
        """Return the structs of the tapes and all functions of the rule."""
        stated, lines = self.plan.stated, []
        if stated.vjp is not None:
            tape = self.tapes["vjp"]
            lines += [*tape.definition(), "", *tape.recording(), ""] if tape else []
            lines += [*augmented(self.plan, tape), "", *self._block("vjp", stated.vjp), ""]
            lines += [*self._function("gradient", self._gradient(), tape=bool(tape)), ""]
        if stated.jvp is not None:
            tape = self.tapes["jvp"]
            lines += [*tape.definition(), "", *tape.recording(), ""] if tape else []
            lines += [*self._block("jvp", stated.jvp), ""]
            lines += [*self._function("tangent", self._tangent(), tape=False), ""]
        return lines[:-1]

    def _function(self, role: str, body: Lines, *, tape: bool) -> Lines:
        parameters = self.plan.parameters(shadows=True)
        if tape:
            parameters.append(f"void *{self.plan.name('memory')}")
        body = [*self.plan.plain_pointer(body), *body]
        body = [*self.plan.unused(body, shadows=True), *body]
        return function(f"void {self.plan.function(role)}", parameters, body)

    def _saved_names(self, block: Block | None) -> set[str]:
        if block is None:
            return set()
        names = self._uses(block)
        for argument in self.plan.stated.arguments:
            if argument.is_array and (argument.active or argument.name in names):
                names |= set(WORD.findall(argument.count or ""))
        return names

    def _uses(self, block: Block) -> set[str]:
        setup = self.plan.stated.setup
        return set(block.uses) | (set(setup.uses) if setup is not None else set())

    def _shadows(self, role: str) -> list[_Shadow]:
        """Return the shadows in a block, in order: a vjp reads those of outputs, a jvp those of inputs."""
        found = []
        for argument in self.plan.stated.arguments:
            if not argument.active:
                continue
            name = f"d_{argument.name}"
            if argument.input:
                found.append(_Shadow(name=name, argument=argument, type=argument.type, read=role == "jvp"))
            if argument.output:
                spelt = f"{name}_out" if argument.input else name
                found.append(_Shadow(name=spelt, argument=argument, type=argument.type, read=role == "vjp"))
        if self.plan.stated.result_active:
            kind = self.plan.result_type
            found.append(_Shadow(name="d_result", argument=None, type=kind, read=role == "vjp"))
        return found

    # The function around a block: what it is given, in which form

    def _block(self, role: str, block: Block) -> Lines:
        plan, stated = self.plan, self.plan.stated
        parameters, before, behind = [], [], []
        for kind, name, _given in self._values(role, block):
            parameters.append(f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}")
        for shadow in self._shadows(role):
            plain = shadow.argument is None or shadow.argument.pointer is None
            if shadow.read:
                parameters.append(f"const {shadow.type} {'' if plain else '*'}{shadow.name}")
            elif plain:  # computed as a variable, handed out at the end
                out = plan.name(f"computed_{shadow.name}")
                parameters.append(f"{shadow.type} *{out}")
                before.append(f"{shadow.type} {shadow.name} = 0;")
                behind.append(f"*{out} = {shadow.name};")
            else:
                parameters.append(f"{shadow.type} *{shadow.name}")
        names = [parameter.replace("*", " ").split()[-1] for parameter in parameters]
        lines = [f"(void){name};" for name in names] + before
        if stated.setup is not None:
            lines += block_text(plan, stated.setup.text, stated.setup.line)
        lines += [*block_text(plan, block.text, block.line), *behind]
        return function(f"static void {plan.function(role)}", parameters, lines)

    def _values(self, role: str, block: Block) -> list[tuple[str, str, str]]:
        """Return (C type, name, what is given) of each value that a block reads."""
        uses, tape = self._uses(block), self.plan.name("tape")
        saved = {item.name: item for item in self.tapes[role].saved}
        found = []
        for argument in self.plan.stated.arguments:
            for name in (argument.name, f"{argument.name}_out"):
                item = saved.get(name)
                if name not in uses or (item is None and name != argument.name):
                    continue
                if item is None:
                    kind = f"__typeof__({argument.pointer})"
                    found.append((kind, name, f"{POINTER}({self.plan.distance(argument)})"))
                elif argument.pointer is None:
                    found.append((f"const {argument.type}", name, f"{tape}->{name}"))
                else:
                    given = f"{tape}->{name}" if item.count is not None else f"&{tape}->{name}"
                    found.append((f"const {argument.type} *", name, given))
        if "result" in saved:
            found.append((f"const {self.plan.result_type}", "result", f"{tape}->result"))
        return found

    # Around the call of that function

    def _gradient(self) -> Lines:
        block = self.plan.stated.vjp
        assert block is not None  # noqa: S101 - asked for only then
        tape = self.plan.name("tape")
        lines = []
        if self.tapes["vjp"]:
            lines.append(f"struct {self.tapes['vjp'].struct} *{tape} = {self.plan.name('memory')};")
        lines += self._extents(saved=tape)
        lines += self._clear_result()
        shadows = self._shadows("vjp")
        for shadow in shadows:
            lines += self._buffer(shadow)
        for shadow in shadows:
            if shadow.read:
                lines += self._take(shadow, block, clear=True)
        lines.append(self._call("vjp", block, shadows))
        for shadow in shadows:
            if not shadow.read:
                lines += self._give(shadow, block, "+=")
        lines += self._release(shadows)
        return [*lines, f"free({tape});"] if self.tapes["vjp"] else lines

    def _tangent(self) -> Lines:
        plan, block = self.plan, self.plan.stated.jvp
        assert block is not None  # noqa: S101 - asked for only then
        tape, kept = plan.name("tape"), self.tapes["jvp"]
        call = plan.call(kept.record) if kept else plan.call(plan.function("packet"))
        lines = [f"struct {kept.struct} *{tape} = {call};" if kept else f"{call};"]
        lines += self._extents(saved=tape)
        shadows = self._shadows("jvp")
        for shadow in shadows:
            lines += self._buffer(shadow)
        for shadow in shadows:
            if shadow.read:
                lines += self._take(shadow, block, clear=False)
        lines.append(self._call("jvp", block, shadows))
        lines += self._clear_result()
        for shadow in shadows:
            if not shadow.read:
                lines += self._give(shadow, block, "=")
        lines += self._release(shadows)
        return [*lines, f"free({tape});"] if kept else lines

    def _extents(self, *, saved: str) -> Lines:
        arrays = [argument for argument in self.plan.stated.arguments if argument.place == "array" and argument.active]
        extents = extent_lines(self.plan, arrays)
        return [*integer_values(self.plan, extents, saved=saved), *extents]

    def _clear_result(self) -> Lines:
        """Return the clearing of a result that has a place in the packet but no derivative."""
        if self.plan.stated.result != "floating" or self.plan.stated.result_active:
            return []
        values, shadow = self.plan.name("values"), self.plan.name("d_values")
        return [f"if ({shadow} != {values}) {shadow}->result = 0;"]

    def _variable(self, shadow: _Shadow) -> str:
        return self.plan.name(f"{'given' if shadow.read else 'made'}_{shadow.name}")

    def _buffer(self, shadow: _Shadow) -> Lines:
        """Return the declaration of the memory that a block sees as a shadow, all zero."""
        name, argument = self._variable(shadow), shadow.argument
        if argument is None or argument.place == "packet":
            return [f"{shadow.type} {name} = 0;"]
        if argument.number == "struct":
            return [f"{shadow.type} {name};", f"memset(&{name}, 0, sizeof {name});"]
        count = "1" if not argument.is_array else self.counts[argument.count or ""]
        return [f"{shadow.type} *{name} = {ZEROS}({count}, sizeof *{name});"]

    def _take(self, shadow: _Shadow, block: Block, *, clear: bool) -> Lines:
        """Return the reading of a real shadow into the block's copy, and its clearing."""
        variable = self._variable(shadow)
        pairs = self._pairs(shadow, variable, block)
        inside = [f"{copy} = {real};" for copy, real in pairs]
        inside += [f"{real} = 0;" for _copy, real in pairs] if clear else []
        return self._guarded(shadow, inside)

    def _give(self, shadow: _Shadow, block: Block, operator: str) -> Lines:
        """Return the handing over of what the block computed to the real shadow."""
        pairs = self._pairs(shadow, self._variable(shadow), block)
        return self._guarded(shadow, [f"{real} {operator} {copy};" for copy, real in pairs])

    def _pairs(self, shadow: _Shadow, variable: str, block: Block) -> list[tuple[str, str]]:
        """Return the block's copy and the real shadow of each number in it."""
        argument = shadow.argument
        if argument is None or argument.place == "packet":
            member = "result" if argument is None else argument.name
            return [(variable, f"{self.plan.name('d_values')}->{member}")]
        real = self.plan.shadow(argument)
        if argument.number == "struct":
            fields = [*block.fields, *(self.plan.stated.setup.fields if self.plan.stated.setup else ())]
            both = (shadow.name.removeprefix("d_"), argument.name)
            members = dict.fromkeys(member for name, member in fields if name in both)
            return [(f"{variable}.{member}", f"{real}->{member}") for member in members]
        return [(f"{variable}[{self.index}]", element(self.plan, argument, real, self.index))]

    def _guarded(self, shadow: _Shadow, inside: Lines) -> Lines:
        """Return `inside` under the condition that the shadow is no inactive argument's, in a loop for an array."""
        argument = shadow.argument
        if argument is None or argument.place == "packet":
            condition = f"{self.plan.name('d_values')} != {self.plan.name('values')}"
        else:
            condition = f"{self.plan.shadow(argument)} != {self.plan.pointer(argument)}"
            if argument.number != "struct":
                count = self.counts[argument.count or ""]
                loop = f"for (ptrdiff_t {self.index} = 0; {self.index} < {count}; {self.index}++) {{"
                inside = [loop, *indented(inside), "}"]
        return [f"if ({condition}) {{", *indented(inside), "}"]

    def _call(self, role: str, block: Block, shadows: list[_Shadow]) -> str:
        given = [value for _kind, _name, value in self._values(role, block)]
        for shadow in shadows:
            variable, argument = self._variable(shadow), shadow.argument
            plain = argument is None or argument.pointer is None
            by_address = (
                not shadow.read
                if plain
                else argument is not None and (argument.place == "packet" or argument.number == "struct")
            )
            given.append(f"&{variable}" if by_address else variable)
        return f"{self.plan.function(role)}({', '.join(given)});"

    def _release(self, shadows: list[_Shadow]) -> Lines:
        arrays = [each for each in shadows if each.argument is not None and each.argument.place == "array"]
        return [
            f"free({self._variable(each)});" for each in arrays if each.argument and each.argument.number != "struct"
        ]
