"""Write gradient and tangent of a rule whose derivative is stated by formulas.

A seed or tangent that is exactly zero adds nothing, even where a formula is infinite or not a number: `pow(x, 2.0)` has
no derivative by its exponent at negative x, and nobody asks for one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from enzyme_build.codegen.plan import WRITTEN, Lines, Plan, function, indented
from enzyme_build.codegen.tape import WORD, Tape, counts_of, direct_value, element, extent_lines, integer_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from enzyme_build.rules.model import Argument, Partial

__all__ = ["PartialsWriter"]

_ZERO = re.compile(r"\(*[+-]?0*\.?0*[fFlL]?\)*")


class PartialsWriter:
    """The functions of one rule with formulas."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.arguments = {argument.name: argument for argument in plan.stated.arguments}
        self.partials = plan.stated.partials
        self.working = [partial for partial in self.partials if not _ZERO.fullmatch(partial.formula)]
        self.counts = counts_of(plan)
        self.index = plan.name("i") if "i" in self.arguments else "i"
        self.tape = Tape(plan, self._saved_names(), label="tape")
        self.outputs = list(dict.fromkeys(partial.output for partial in self.partials))
        self.inputs = list(dict.fromkeys(partial.input for partial in self.working))

    def functions(self) -> Lines:
        """Return the struct of the tape and all functions of the rule."""
        plan, tape = self.plan, self.tape
        lines = [*tape.definition(), "", *tape.recording(), ""] if tape else []
        lines += [*augmented(plan, tape), ""]
        lines += [*self._function("gradient", self._gradient()), ""]
        return [*lines, *self._function("tangent", self._tangent())]

    def _function(self, role: str, body: Lines) -> Lines:
        parameters = self.plan.parameters(shadows=True)
        if role == "gradient" and self.tape:
            parameters.append(f"void *{self.plan.name('memory')}")
        body = [*self.plan.plain_pointer(body), *body]
        body = [*self.plan.unused(body, shadows=True), *body]
        return function(f"void {self.plan.function(role)}", parameters, body)

    # What formulas name

    def _uses(self, partial: Partial) -> set[str]:
        setup = self.plan.stated.setup
        uses = set(partial.uses)
        if setup is not None and uses & set(setup.declares):
            uses = (uses | set(setup.uses)) - set(setup.declares)
        return uses

    def _argument(self, name: str) -> Argument | None:
        plain = name.partition(".")[0]
        return self.arguments.get(plain) or self.arguments.get(plain.removesuffix("_out"))

    def _count(self, partial: Partial) -> str | None:
        """Return the count of the arrays that a formula is about, `None` when it is about single values."""
        for name in (partial.output, partial.input, *sorted(self._uses(partial))):
            argument = self._argument(name)
            if argument is not None and argument.is_array:
                return argument.count
        return None

    def _saved_names(self) -> set[str]:
        names = {name for partial in self.working for name in self._uses(partial)}
        for argument in self.arguments.values():
            if argument.is_array and (argument.active or argument.name in names):
                names |= set(WORD.findall(f"{argument.count} {argument.stride or ''}"))
        return names

    def _reads_outputs(self) -> bool:
        used = {name for partial in self.working for name in self._uses(partial)}
        return any(item.after and item.name in used for item in self.tape.saved)

    # Parts that both modes have

    def _start(self, *, saved: str | None) -> Lines:
        """Return what both functions begin with: values of single names, counts, and which arrays are active."""
        arrays = [argument for argument in self.arguments.values() if argument.place == "array" and argument.active]
        used = {name for partial in self.working for name in self._uses(partial)}
        read = [] if saved else [argument for argument in self.arguments.values() if argument.name in used]
        extents = extent_lines(self.plan, [a for a in self.arguments.values() if a in arrays or a in read])
        lines = [*integer_values(self.plan, extents, saved=saved), *extents]
        declared = {line.partition(" = ")[0].rpartition(" ")[2] for line in lines}
        for item in self.tape.saved:
            if item.count is None and item.name in used - declared:
                value = direct_value(self.plan, item) if saved is None else f"{saved}->{item.name}"
                lines.append(f"const {item.type} {item.name} = {value};")
        for argument in arrays:
            if self._has_shadow_work(argument):
                comparison = f"{self.plan.shadow(argument)} != {self.plan.pointer(argument)}"
                lines.append(f"const int {self._active(argument)} = {comparison};")
        return lines

    def _has_shadow_work(self, argument: Argument) -> bool:
        sides = {name.partition(".")[0] for name in (*self.outputs, *self.inputs)}
        return argument.name in sides

    def _active(self, argument: Argument) -> str:
        return self.plan.name(f"active_{argument.name}")

    def _elements(self, partials: Sequence[Partial], *, saved: str | None) -> Lines:
        """Return the values of array elements that formulas in a loop name."""
        used = {name for partial in partials for name in self._uses(partial)}
        lines = []
        for item in self.tape.saved:
            if item.count is not None and item.name in used:
                at = direct_value(self.plan, item, self.index)
                value = at if saved is None else f"{saved}->{item.name}[{self.index}]"
                lines.append(f"const {item.type} {item.name} = {value};")
        return lines

    def _with_setup(self, partials: Sequence[Partial], lines: Lines) -> Lines:
        """Return `lines` with the user's statements before them where a formula uses what they declare."""
        setup = self.plan.stated.setup
        if setup is None or not any(set(partial.uses) & set(setup.declares) for partial in partials):
            return lines
        return [*block_text(self.plan, setup.text, setup.line), *lines]

    def _groups(self, partials: Iterable[Partial]) -> dict[str | None, list[Partial]]:
        groups: dict[str | None, list[Partial]] = {None: []}
        for partial in partials:
            groups.setdefault(self._count(partial), []).append(partial)
        return groups

    def _type(self, name: str) -> str:
        """Return the C type of an input or output, which may be a member of a struct."""
        plain, _, member = name.partition(".")
        argument = self.arguments.get(plain)
        if argument is None:
            return self.plan.result_type
        if not member:
            return argument.type
        return f"__typeof__({element(self.plan, argument, self.plan.shadow(argument), '0')}.{member})"

    def _place(self, name: str) -> str:
        """Return where the shadow of an input or output lies."""
        plain, _, member = name.partition(".")
        argument = self.arguments.get(plain)
        if argument is None or argument.place == "packet":
            return f"{self.plan.name('d_values')}->{plain}"
        shadow = self.plan.shadow(argument)
        at = element(self.plan, argument, shadow, self.index) if argument.is_array else f"{shadow}[0]"
        return f"{at}.{member}" if member else at

    def _variable(self, kind: str, name: str) -> str:
        return self.plan.name(f"{kind}_{re.sub(r'[^A-Za-z0-9_]+', '_', name).strip('_')}")

    def _in_packet(self, name: str) -> bool:
        argument = self._argument(name)
        return argument is None or argument.place == "packet"

    def _guard(self, name: str) -> str:
        """Return the condition under which an input or output has a shadow of its own."""
        argument = self._argument(name)
        if argument is None or argument.place == "packet":
            return f"{self.plan.name('d_values')} != {self.plan.name('values')}"
        return self._active(argument)

    def _looped(self, name: str, count: str | None) -> bool:
        argument = self._argument(name)
        return argument is not None and argument.is_array and argument.count == count

    # Reverse mode

    def _gradient(self) -> Lines:
        plan = self.plan
        tape = plan.name("tape")
        lines = [f"struct {self.tape.struct} *{tape} = {plan.name('memory')};"] if self.tape else []
        lines += self._start(saved=tape if self.tape else None)
        working = {partial.output for partial in self.working}
        clears = []
        for member in plan.results():
            if member in working:
                lines.append(f"{self._type(member)} {self._variable('seed', member)} = 0;")
                clears.append(f"{self._variable('seed', member)} = {self._place(member)};")
            clears.append(f"{self._place(member)} = 0;")
        if clears:
            guard = f"if ({plan.name('d_values')} != {plan.name('values')}) {{"
            lines += [guard, *indented(clears), "}"]
        for name in self.outputs:
            if not self._in_packet(name) and not self._looped(name, self._loop_count(name)):
                lines += self._take_seed(name, used=name in working)
        added = [name for name in self.inputs if self._in_packet(name)]
        lines += [f"{self._type(name)} {self._variable('add', name)} = 0;" for name in added]
        for count, partials in self._groups(self.working).items():
            body = self._with_setup(partials, self._accumulate(partials))
            if count is None:
                lines += _scoped(body)
                continue
            inside = self._elements(partials, saved=tape)
            inside += [
                line
                for name in self.outputs
                if self._looped(name, count)
                for line in self._take_seed(name, used=name in working)
            ]
            lines += self._loop(count, [*inside, *body])
        for name in self.outputs:  # an array whose formulas are all zero is overwritten all the same
            count = self._loop_count(name)
            if name not in working and count is not None and count not in self._groups(self.working):
                lines += self._loop(count, self._take_seed(name, used=False))
        if added:
            lines.append(f"if ({plan.name('d_values')} != {plan.name('values')}) {{")
            lines += indented(f"{self._place(name)} += {self._variable('add', name)};" for name in added)
            lines.append("}")
        return [*lines, f"free({tape});"] if self.tape else lines

    def _loop_count(self, name: str) -> str | None:
        argument = self._argument(name)
        return argument.count if argument is not None and argument.is_array else None

    def _take_seed(self, name: str, *, used: bool) -> Lines:
        """Return the reading and clearing of one output's shadow behind a pointer."""
        clear = f"{self._place(name)} = 0;"
        if not used:
            return [f"if ({self._guard(name)}) {clear}"]
        seed = self._variable("seed", name)
        declared = f"{self._type(name)} {seed} = 0;"
        return [declared, f"if ({self._guard(name)}) {{", *indented([f"{seed} = {self._place(name)};", clear]), "}"]

    def _accumulate(self, partials: Sequence[Partial]) -> Lines:
        lines = []
        for output in dict.fromkeys(partial.output for partial in partials):
            seed = self._variable("seed", output)
            inside = []
            for partial in partials:
                if partial.output != output:
                    continue
                name = partial.input
                if self._in_packet(name):
                    inside.append(f"{self._variable('add', name)} += ({partial.formula}) * {seed};")
                else:
                    inside.append(f"if ({self._guard(name)}) {self._place(name)} += ({partial.formula}) * {seed};")
            lines += [f"if ({seed} != 0) {{", *indented(inside), "}"]
        return lines

    def _loop(self, count: str, body: Lines) -> Lines:
        head = f"for (ptrdiff_t {self.index} = 0; {self.index} < {self.counts[count]}; {self.index}++) {{"
        return [head, *indented(body), "}"]

    # Forward mode

    def _tangent(self) -> Lines:
        plan = self.plan
        tape = plan.name("tape")
        call = f"{plan.call(plan.function('packet'))};"
        later = self._reads_outputs()
        lines = []
        if later:  # the formulas read what the call computes, so its inputs are kept
            lines.append(f"struct {self.tape.struct} *{tape} = {plan.call(self.tape.record)};")
        saved = tape if later else None
        lines += self._start(saved=saved)
        single = [name for name in self.inputs if self._loop_count(name) is None]
        lines += [line for name in single for line in self._read_tangent(name)]
        sums = [name for name in self.outputs if self._loop_count(name) is None]
        working = {partial.output for partial in self.working}
        lines += [f"{self._type(name)} {self._variable('sum', name)} = 0;" for name in sums if name in working]
        for count, partials in self._groups(self.working).items():
            body = self._with_setup(partials, self._sum(partials))
            if count is None:
                lines += _scoped(body)
                continue
            inside = self._elements(partials, saved=saved)
            names = dict.fromkeys(partial.input for partial in partials if self._looped(partial.input, count))
            inside += [line for name in names for line in self._read_tangent(name)]
            looped = [name for name in self.outputs if self._looped(name, count)]
            inside += [f"{self._type(name)} {self._variable('sum', name)} = 0;" for name in looped if name in working]
            assign = [line for name in looped for line in self._assign(name, working=name in working)]
            lines += self._loop(count, [*inside, *body, *assign])
        for name in self.outputs:
            count = self._loop_count(name)
            if name not in working and count is not None and count not in self._groups(self.working):
                lines += self._loop(count, self._assign(name, working=False))
        if not later:
            lines.append(call)
        for name in sums:
            if not self._in_packet(name):
                lines += self._assign(name, working=name in working)
        lines += self._assign_packet(working)
        return [*lines, f"free({tape});"] if later else lines

    def _read_tangent(self, name: str) -> Lines:
        variable = self._variable("tangent", name)
        return [f"const {self._type(name)} {variable} = {self._guard(name)} ? {self._place(name)} : 0;"]

    def _sum(self, partials: Sequence[Partial]) -> Lines:
        lines = []
        for name in dict.fromkeys(partial.input for partial in partials):
            tangent = self._variable("tangent", name)
            inside = [
                f"{self._variable('sum', partial.output)} += ({partial.formula}) * {tangent};"
                for partial in partials
                if partial.input == name
            ]
            lines += [f"if ({tangent} != 0) {{", *indented(inside), "}"]
        return lines

    def _assign(self, name: str, *, working: bool) -> Lines:
        value = self._variable("sum", name) if working else "0"
        return [f"if ({self._guard(name)}) {self._place(name)} = {value};"]

    def _assign_packet(self, working: set[str]) -> Lines:
        assigned = []
        for member in self.plan.results():
            value = self._variable("sum", member) if member in working else "0"
            assigned.append(f"{self._place(member)} = {value};")
        guard = f"if ({self.plan.name('d_values')} != {self.plan.name('values')}) {{"
        return [guard, *indented(assigned), "}"] if assigned else []


def augmented(plan: Plan, tape: Tape) -> Lines:
    """Return the augmented function: it saves what the gradient reads and calls the primal."""
    result = "void *" if tape else "void "
    call = plan.call(tape.record) if tape else plan.call(plan.function("packet"))
    body = [f"return {call};" if tape else f"{call};"]
    body = [*plan.unused(body, shadows=True), *body]
    return function(f"{result}{plan.function('augmented')}", plan.parameters(shadows=True), body)


def block_text(plan: Plan, text: str, line: int | None) -> Lines:
    """Return the user's statements between directives that tell the compiler, and who reads its messages, the place."""
    shown = plan.rule.origin.file.replace("\\", "\\\\").replace('"', '\\"')
    start = line or plan.rule.origin.line or 1
    return [f'#line {start} "{shown}"', *(f"{WRITTEN}{each}" for each in text.strip("\n").splitlines()), "#line HERE"]


def _scoped(lines: Lines) -> Lines:
    """Return lines in a block of their own when they declare something."""
    return ["{", *indented(lines), "}"] if any(line.startswith("#line") for line in lines) else lines
