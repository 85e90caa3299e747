"""Judge the formulas, blocks and shapes of a stated derivative against the function's parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build._toml import did_you_mean
from enzyme_build.rules.formulas import CONSTANTS, parse_formula

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from enzyme_build.rules.formulas import Formula
    from enzyme_build.rules.model import Argument, StatedDerivative

__all__ = ["check_blocks", "check_partials", "check_shapes", "readable_names", "sides"]


def check_shapes(stated: StatedDerivative) -> Iterator[str]:
    """Yield what is wrong with counts and strides, as `key: message`."""
    integers = {argument.name for argument in stated.arguments if argument.number == "integer"}
    for argument in stated.arguments:
        for text in (argument.count, argument.stride):
            if text is None:
                continue
            try:
                names = parse_formula(text).names
            except ValueError as error:
                yield f"shape.{argument.name}: {error}"
                continue
            for name in sorted(names - integers):
                close = did_you_mean(name, integers)
                yield f"shape.{argument.name}: {name!r} is no integer parameter{close}"
        if argument.stride is not None and not stated.partials:
            yield (
                f"shape.{argument.name}: blocks index memory themselves; give one number, that of all elements in "
                "memory, such as '1 + (n - 1) * incx'"
            )


def check_partials(
    stated: StatedDerivative, formulas: Mapping[str, Formula], written: Collection[str]
) -> Iterator[str]:
    """Yield what is wrong with `partials`, as `key: message`.

    `formulas` are those that could be read, by key; `written` are all keys.
    """
    arguments = {argument.name: argument for argument in stated.arguments}
    for block, key in ((stated.vjp, "vjp"), (stated.jvp, "jvp")):
        if block is not None:
            yield f"{key}: 'partials' gives both modes already; write one or the other"
    for partial, (key, formula) in zip(stated.partials, formulas.items(), strict=True):
        where = f"partials.{key}"
        output, given = partial.output.partition(".")[0], partial.input.partition(".")[0]
        broken = [*_output(stated, arguments, output), *_input(arguments, given)]
        if not broken:
            both = (output, partial.output), (given, partial.input)
            broken = [problem for name, side in both for problem in _member_side(arguments.get(name), side)]
        yield from (f"{where}: {problem}" for problem in broken)
        if not broken:
            yield from (f"{where}: {problem}" for problem in _names(stated, arguments, partial.output, formula, given))
    yield from _missing(stated, arguments, {side for key in written for side in sides(key)})


def sides(key: str) -> tuple[str, str]:
    """Return output and input of a key of `partials`: `out/x`, or `x` for what the function returns."""
    output, slash, given = (part.strip() for part in key.partition("/"))
    return (output, given) if slash else ("result", output)


def check_blocks(stated: StatedDerivative) -> Iterator[str]:
    """Yield what is wrong with `vjp` and `jvp`, as `key: message`."""
    shadows = [argument for argument in stated.arguments if argument.active]
    for key, block in (("vjp", stated.vjp), ("jvp", stated.jvp)):
        if block is None:
            continue
        uses = set(block.uses) | set(stated.setup.uses if stated.setup else ())
        wanted = [name for argument in shadows for name in _shadow_names(argument)]
        wanted += ["d_result"] if stated.result_active else []
        for name in wanted:
            if name not in uses:
                plain = name.removeprefix("d_").removesuffix("_out")
                plain = "return" if plain == "result" and stated.result_active else plain
                yield (
                    f'{key}: {name!r} is not in it; write what it contributes, or activity = {{ {plain} = "const" }} '
                    "when that is nothing"
                )
    if stated.vjp is None and stated.jvp is None:
        yield "setup: it belongs to 'vjp' and 'jvp', of which neither is there"
    for argument in shadows:
        if argument.number == "struct" and argument.is_array:
            yield f"shape.{argument.name}: an array of structs is not possible in blocks; use 'partials'"


def _shadow_names(argument: Argument) -> list[str]:
    both = argument.input and argument.output
    return [f"d_{argument.name}", *([f"d_{argument.name}_out"] if both else [])]


def _output(stated: StatedDerivative, arguments: Mapping[str, Argument], name: str) -> Iterator[str]:
    if name == "result" and "result" not in arguments:
        if not stated.result_active:
            yield "the function returns no floating-point number; for an output behind a pointer write 'output/input'"
        return
    argument = arguments.get(name)
    if argument is None:
        yield f"there is no parameter {name!r}{did_you_mean(name, [*arguments, 'result'])}"
    elif argument.pointer is None:
        yield f"{name!r} is passed by value, so it is no output; keys are 'input' or 'output/input'"
    elif not argument.output:
        why = "is 'const' or 'in'" if argument.number in ("floating", "struct") else "is no floating-point number"
        yield f"{name!r} {why}, so it is no output; keys are 'input' or 'output/input'"


def _input(arguments: Mapping[str, Argument], name: str) -> Iterator[str]:
    argument = arguments.get(name)
    if argument is None:
        yield f"there is no parameter {name!r}{did_you_mean(name, arguments)}"
    elif argument.number == "integer":
        yield f"{name!r} is an integer and has no derivative"
    elif not argument.active:
        yield f"{name!r} is 'const' by 'activity', so nothing is derived by it"
    elif not argument.input:
        yield f"{name!r} is 'out' by 'intent', so nothing is derived by it"


def _member_side(argument: Argument | None, side: str) -> Iterator[str]:
    if argument is None:
        return
    if argument.number == "struct" and "." not in side:
        yield f"{side!r} is a struct; name its member, as in '{side}.x'"
    elif argument.number != "struct" and "." in side:
        yield f"{argument.name!r} is no struct"


def _names(
    stated: StatedDerivative, arguments: Mapping[str, Argument], output: str, formula: Formula, given: str
) -> Iterator[str]:
    """Yield the names of a formula that mean nothing there, and arrays that do not go together."""
    known = readable_names(stated)
    arrays = {name: arguments[name.removesuffix("_out")] for name in known if _is_array(arguments, name)}
    declared = set(stated.setup.declares) if stated.setup else set()
    used = set(formula.names)
    if used & declared and stated.setup is not None:
        used |= set(stated.setup.uses)
    ends = (output.partition(".")[0], given)
    counts = {arguments[name].count: name for name in ends if _is_array(arguments, name)}
    counts |= {arrays[name].count: name for name in sorted(used & set(arrays))}
    for name in sorted(formula.names - CONSTANTS - declared):
        if name in known or (name == "i" and counts):
            continue
        if name in arguments:
            argument = arguments[name]
            text = argument.pointer or argument.type
            yield f"{name!r} is no number in a formula, but {text!r}"
        else:
            close = did_you_mean(name, {*known, *declared, *CONSTANTS})
            yield f"unknown name {name!r}{close}"
    if len(counts) > 1:
        shown = " and ".join(f"{name!r} has {count}" for count, name in counts.items())
        yield f"the elements do not go together: {shown}; use 'vjp' and 'jvp'"
    for name, _member in sorted(formula.members):
        if name in arguments and arguments[name].number != "struct":
            yield f"{name!r} is no struct"


def readable_names(stated: StatedDerivative) -> set[str]:
    """Return the names that have a value in formulas: parameters, their values after the call, and `result`."""
    names = set()
    for argument in stated.arguments:
        number = argument.number in ("floating", "integer", "struct")
        if number and (argument.place != "handle" or argument.value or argument.count is not None):
            names.add(argument.name)
            if argument.active and argument.input and argument.output:
                names.add(f"{argument.name}_out")
    return names | ({"result"} if stated.result != "void" else set())


def _is_array(arguments: Mapping[str, Argument], name: str) -> bool:
    plain = name if name in arguments else name.removesuffix("_out")
    return plain in arguments and arguments[plain].is_array


def _missing(stated: StatedDerivative, arguments: Mapping[str, Argument], keys: Collection[str]) -> Iterator[str]:
    said = {side.partition(".")[0] for side in keys}
    for name, argument in arguments.items():
        if argument.active and name not in said:
            yield (
                f'partials: nothing is said of {name!r}; write a formula, {name} = "0" if it has no influence, '
                f'or activity = {{ {name} = "const" }}'
            )
    if stated.result_active and "result" not in said:
        yield (
            "partials: nothing is said of what the function returns; write a formula for each input, or "
            'activity = { return = "const" }'
        )
