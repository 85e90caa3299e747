"""Read a derivative that is stated in formulas or C blocks, and judge it by itself: before there is any bitcode."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from enzyme_build._toml import did_you_mean
from enzyme_build.rules.arguments import Said, read_arguments, result_kind
from enzyme_build.rules.formulas import CONSTANTS, Formula, parse_formula, parse_statements
from enzyme_build.rules.model import Argument, Block, Partial, Prototype, StatedDerivative
from enzyme_build.rules.prototype import parse_prototype
from enzyme_build.rules.stated_checks import check_blocks, check_partials, check_shapes, sides

if TYPE_CHECKING:
    from collections.abc import Callable

    from enzyme_build.rules.documents import DerivativeTable
    from enzyme_build.rules.places import Places

__all__ = ["read_stated"]

T = TypeVar("T")

_WORD = re.compile(r"[A-Za-z_]\w*")
_NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
_MEMBER = re.compile(r"\bd_(\w+)\s*->\s*(\w+)\s*([.\[])?")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Texts:
    """What was written, read: partials by key, blocks, extents, and the names that functions may be called by."""

    partials: dict[str, Formula]
    blocks: dict[str, Block]
    extents: dict[str, tuple[str, str | None]]


def read_stated(
    table: DerivativeTable, prototype: Prototype | None, places: Places, problems: list[str]
) -> StatedDerivative | None:
    """Return the statement in `table`, or `None` after adding every problem, with its place, to `problems`."""
    before = len(problems)
    if prototype is None:
        if table.prototype is None:
            problems.append(
                f"{places.at('function')}: formulas and blocks need the C prototype: write 'prototype' instead "
                '(for a C++ function, state the derivative of an extern "C" function that calls it)'
            )
        return None
    if prototype.variadic:
        problems.append(
            f"{places.at('prototype')}: {prototype.name!r} is variadic, and Enzyme cannot call a rule for it; let a "
            "function with fixed parameters that calls it have the rule"
        )
        return None
    unnamed = [index for index, parameter in enumerate(prototype.parameters) if parameter.name is None]
    problems += [f"{places.at('prototype')}: parameter {index}, counted from 0, needs a name" for index in unnamed]
    texts = _read_texts(table, prototype, places, problems)
    said = _said(table, texts)
    arguments = read_arguments(prototype, said)
    returned = table.activity.get("return")
    result = result_kind(prototype, said.problems, activity=returned)
    names = [parameter.name or f"a{index}" for index, parameter in enumerate(prototype.parameters)]
    for key in ("activity", "intent", "shape"):
        for name in getattr(table, key):
            if name not in names and not (key == "activity" and name == "return"):
                said.problems.append(f"{key}.{name}: there is no such parameter{did_you_mean(name, names)}")
    if returned == "dup" or (returned == "active" and result != "floating"):
        said.problems.append(f"activity.return: {prototype.result_text!r} is not {returned!r}")
    stated = StatedDerivative(
        arguments=arguments,
        result=result,
        result_active=result == "floating" and returned != "const",
        partials=tuple(_partials(table, texts, places)),
        setup=texts.blocks.get("setup"),
        vjp=texts.blocks.get("vjp"),
        jvp=texts.blocks.get("jvp"),
        includes=tuple(table.include),
        declares=tuple(table.declare),
    )
    found = [*said.problems, *check_shapes(stated), *_reserved(prototype, stated)]
    if not any(problem.startswith("prototype:") for problem in found):  # what follows from one is no problem of its own
        found += check_blocks(stated) if not table.partials else check_partials(stated, texts.partials, table.partials)
    for problem in found:
        dotted, _, message = problem.partition(": ")
        key, _, inner = dotted.partition(".")
        problems.append(f"{places.at(key, inner or None)}: {message}")
    return stated if len(problems) == before else None


def _read_texts(table: DerivativeTable, prototype: Prototype, places: Places, problems: list[str]) -> _Texts:
    functions = [prototype.name]
    for index, text in enumerate(table.declare):
        declared = _tried(partial(parse_prototype, text), f"{places.at('declare')}[{index}]", problems)
        functions += [] if declared is None else [declared.name]
    partials = {}
    for key, text in table.partials.items():
        where = places.at("partials", key)
        formula = _tried(partial(parse_formula, text, functions=functions), where, problems)
        if formula is not None:
            partials[key] = formula
    blocks = {}
    for key in ("setup", "vjp", "jvp"):
        written: str | None = getattr(table, key)
        if written is not None:
            blocks[key] = _block(key, written, places, problems, parsed=key == "setup" and bool(table.partials))
    extents = {}
    for name, text in table.shape.items():
        count, _, stride = text.partition(",")
        extents[name] = (count.strip(), stride.strip() or None)
    return _Texts(partials=partials, blocks=blocks, extents=extents)


def _tried(parse: Callable[[], T], where: str, problems: list[str]) -> T | None:
    """Return what `parse` returns, or `None` after adding what it says to `problems`."""
    try:
        return parse()
    except ValueError as error:
        problems.append(f"{where}: {error}")
        return None


def _block(key: str, text: str, places: Places, problems: list[str], *, parsed: bool) -> Block:
    code = _NOISE.sub(" ", text)
    uses = frozenset(_WORD.findall(code))
    declares: frozenset[str] = frozenset()
    if parsed:
        try:
            statements = parse_statements(text)
        except ValueError as error:
            problems.append(f"{places.at(key)}: {error}")
        else:
            uses, declares = statements.names, statements.declares
    if "return" in _WORD.findall(code):
        problems.append(f"{places.at(key)}: 'return' would skip what follows the block; use if and else")
    if code.count("{") != code.count("}"):
        problems.append(f"{places.at(key)}: there are {code.count('{')} '{{' and {code.count('}')} '}}'")
    fields = []
    for name, member, more in _MEMBER.findall(code):
        if more:
            problems.append(f"{places.at(key)}: d_{name}->{member}{more} reaches too deep: plain members only")
        fields.append((name, member))
    return Block(
        text=text,
        uses=tuple(sorted(uses)),
        declares=tuple(sorted(declares)),
        fields=tuple(dict.fromkeys(fields)),
        line=places.content(key),
    )


def _said(table: DerivativeTable, texts: _Texts) -> Said:
    mentioned = {name for formula in texts.partials.values() for name in formula.names}
    structs = {name for formula in texts.partials.values() for name, _member in formula.members}
    for block in texts.blocks.values():
        mentioned |= {name.removeprefix("d_") for name in block.uses} | set(block.uses)
        structs |= {name for name, _member in block.fields}
        structs |= set(re.findall(r"\b(\w+)\s*->", _NOISE.sub(" ", block.text)))
    for count, stride in texts.extents.values():
        mentioned |= set(_WORD.findall(f"{count} {stride or ''}"))
    mentioned |= {name.removesuffix("_out") for name in mentioned}
    keys = [sides(key) for key in table.partials]
    outputs = {output.partition(".")[0] for output, _input in keys}
    inputs = {given.partition(".")[0] for _output, given in keys}
    structs |= {side.partition(".")[0] for pair in keys for side in pair if "." in side}
    return Said(
        activity=table.activity,
        intent=table.intent,
        extents=texts.extents,
        mentioned=mentioned | outputs | inputs,
        structs=structs,
        outputs=outputs if table.partials else None,
        inputs=inputs if table.partials else None,
    )


def _partials(table: DerivativeTable, texts: _Texts, places: Places) -> list[Partial]:
    found = []
    for key, formula in texts.partials.items():
        output, given = sides(key)
        uses = tuple(sorted(formula.names - CONSTANTS))
        text = " ".join(table.partials[key].split())
        found.append(Partial(output=output, input=given, formula=text, uses=uses, line=places.line("partials", key)))
    return found


def _reserved(prototype: Prototype, stated: StatedDerivative) -> list[str]:
    """Return a problem for each parameter whose name stands for something else."""
    names = {argument.name for argument in stated.arguments}
    problems = []
    if "result" in names and stated.result != "void":
        problems.append("prototype: 'result' stands for what the function returns; call the parameter otherwise here")
    problems += [
        f"prototype: {made!r} stands for something else beside {argument.name!r}; rename one"
        for argument in stated.arguments
        for made in (f"d_{argument.name}", f"{argument.name}_out")
        if made in names and (argument.active if made.startswith("d_") else _both(argument))
    ]
    if prototype.name in names:
        problems.append(f"prototype: parameter {prototype.name!r} hides the function; call it otherwise here")
    return problems


def _both(argument: Argument) -> bool:
    return argument.input and argument.output and argument.active
