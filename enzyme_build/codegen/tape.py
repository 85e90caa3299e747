"""What a rule has to remember of a call: the values that its formulas or blocks read later, in one allocation.

Enzyme protects no input of a rule: whatever is read after the call may have been overwritten by then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enzyme_build.codegen.plan import Lines, Plan, function, indented

if TYPE_CHECKING:
    from collections.abc import Collection

    from enzyme_build.rules.model import Argument

__all__ = ["PADDED", "WORD", "Saved", "Tape", "counts_of", "direct_value", "element", "extent_lines", "integer_values"]

PADDED = "__enzymebc_padded"
WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Saved:
    """A value on the tape under the name that formulas call it by; `after` says that the call computes it."""

    name: str
    type: str
    argument: Argument | None
    after: bool

    @property
    def count(self) -> str | None:
        """How many elements are saved, as the rule file says it; `None` for one."""
        return self.argument.count if self.argument is not None and self.argument.is_array else None


def counts_of(plan: Plan) -> dict[str, str]:
    """Return the variable that holds each count, by the text of the count."""
    found: dict[str, str] = {}
    for argument in plan.stated.arguments:
        if argument.count is not None and argument.is_array and argument.count not in found:
            label = argument.count if WORD.fullmatch(argument.count) else str(len(found) + 1)
            found[argument.count] = plan.name(f"count_{label}")
    return found


def extent_lines(plan: Plan, arguments: Collection[Argument]) -> Lines:
    """Return declarations of the counts, steps and first elements of arrays."""
    counts = counts_of(plan)
    wanted = dict.fromkeys(argument.count for argument in arguments if argument.is_array)
    lines = [f"const ptrdiff_t {counts[text]} = {text};" for text in wanted if text is not None]
    for argument in arguments:
        if argument.stride is not None and argument.count is not None:
            step, first = plan.name(f"step_{argument.name}"), plan.name(f"first_{argument.name}")
            lines.append(f"const ptrdiff_t {step} = {argument.stride};")
            lines.append(f"const ptrdiff_t {first} = {step} < 0 ? (1 - {counts[argument.count]}) * {step} : 0;")
    return lines


def element(plan: Plan, argument: Argument, base: str, index: str) -> str:
    """Return element `index` of an array at `base`, which has the array's stride."""
    if argument.stride is None:
        return f"{base}[{index}]"
    return f"{base}[{plan.name(f'first_{argument.name}')} + {index} * {plan.name(f'step_{argument.name}')}]"


class Tape:
    """The values that `uses` name, and the function that saves them around a call of the primal."""

    def __init__(self, plan: Plan, uses: Collection[str], *, label: str) -> None:
        self.plan = plan
        self.struct = plan.function(label)
        self.record = plan.function(f"record_{label}")
        self.saved = tuple(self._saved(set(uses)))

    def __bool__(self) -> bool:
        return bool(self.saved)

    def _saved(self, uses: set[str]) -> list[Saved]:
        found = []
        for argument in self.plan.stated.arguments:
            name = argument.name
            readable = argument.place != "handle" or argument.value or argument.is_array
            if not readable:
                continue
            both = argument.input and argument.output
            if name in uses:
                after = argument.output and not argument.input
                found.append(Saved(name=name, type=argument.type, argument=argument, after=after))
            if both and f"{name}_out" in uses:
                found.append(Saved(name=f"{name}_out", type=argument.type, argument=argument, after=True))
        if "result" in uses and self.plan.stated.result != "void":
            found.append(Saved(name="result", type=self.plan.result_type, argument=None, after=True))
        return found

    def definition(self) -> Lines:
        """Return the struct."""
        members = [f"{item.type} {'*' if item.count else ''}{item.name};" for item in self.saved]
        return [f"struct {self.struct} {{", *indented(members), "};"]

    def recording(self) -> Lines:
        """Return the function that saves what is needed, calls the primal and returns the tape."""
        plan = self.plan
        tape, memory, index = plan.name("tape"), plan.name("memory"), plan.name("i")
        counts = counts_of(plan)
        arrays = [item for item in self.saved if item.count is not None]
        arguments = list({item.argument.name: item.argument for item in arrays if item.argument is not None}.values())
        extents = extent_lines(plan, arguments)
        body = [*integer_values(plan, extents), *extents]
        sizes = []
        for item in arrays:
            assert item.count is not None  # noqa: S101 - chosen so
            size, count = plan.name(f"size_{item.name}"), counts[item.count]
            body.append(f"const size_t {size} = {PADDED}({count} > 0 ? (size_t){count} * sizeof({item.type}) : 0);")
            sizes.append(size)
        if arrays:
            room = " + ".join([f"{PADDED}(sizeof(struct {self.struct}))", *sizes])
            body.append(f"char *{memory} = malloc({room});")
            body.append(f"struct {self.struct} *{tape} = (void *){memory};")
        else:
            body.append(f"struct {self.struct} *{tape} = malloc(sizeof *{tape});")
        body.append(f"if ({tape} == NULL) abort();")
        if arrays:
            body.append(f"{memory} += {PADDED}(sizeof *{tape});")
        for item, size in zip(arrays, sizes, strict=True):
            body.append(f"{tape}->{item.name} = (void *){memory};")
            body += [f"{memory} += {size};"] if item is not arrays[-1] else []
        for item in self.saved:
            body += [] if item.after else self._save(item, tape, index, counts)
        body.append(f"{plan.call(plan.function('packet'))};")
        for item in self.saved:
            body += self._save(item, tape, index, counts) if item.after else []
        body.append(f"return {tape};")
        body = [*plan.plain_pointer(body), *body]
        body = [*plan.unused(body, shadows=False), *body]
        return function(f"static struct {self.struct} *{self.record}", plan.parameters(shadows=False), body)

    def _save(self, item: Saved, tape: str, index: str, counts: dict[str, str]) -> Lines:
        if item.count is None:
            return [f"{tape}->{item.name} = {direct_value(self.plan, item)};"]
        value = direct_value(self.plan, item, index)
        loop = f"for (ptrdiff_t {index} = 0; {index} < {counts[item.count]}; {index}++)"
        return [f"{loop} {tape}->{item.name}[{index}] = {value};"]


def direct_value(plan: Plan, item: Saved, index: str = "") -> str:
    """Return where a value lies at the moment of the call."""
    argument = item.argument
    if argument is None:
        return f"{plan.name('values' if plan.stated.result == 'floating' else 'plain')}->result"
    if argument.place in ("packet", "integer"):
        return f"{plan.name('values' if argument.place == 'packet' else 'plain')}->{argument.name}"
    base = f"({plan.recovered(argument)})" if argument.place == "handle" else plan.pointer(argument)
    return element(plan, argument, base, index) if argument.is_array else f"*{base}"


def integer_values(plan: Plan, text: Lines, *, saved: str | None = None) -> Lines:
    """Return declarations of the integers that `text` names, read from the tape `saved` or where they are passed."""
    words = {word for line in text for word in WORD.findall(line)}
    lines = []
    for argument in plan.stated.arguments:
        if argument.name in words and (argument.place == "integer" or argument.value):
            item = Saved(name=argument.name, type=argument.type, argument=argument, after=False)
            value = direct_value(plan, item) if saved is None else f"{saved}->{argument.name}"
            lines.append(f"const {argument.type} {argument.name} = {value};")
    return lines
