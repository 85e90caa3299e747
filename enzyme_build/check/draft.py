"""Write a draft of a rule file for the opaque symbols of a library: all of it comments, for a person to finish."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build.check.stanza import derivative_stanza, guess_prototype, inactive_global_stanza, inactive_stanza
from enzyme_build.rules.prototype import parse_prototype

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from enzyme_build.manifest import Manifest, SymbolRecord
    from enzyme_build.rules.model import Prototype, PrototypeParameter

__all__ = ["draft_rules"]

_HEADER = """\
## Draft of rules for what Enzyme cannot see in {library}.
##
## Uncomment (one '#') what you want of each function, and put C expressions in the place of '...'. Derivatives in terms
## of x and y: partials = {{ x = "2 * x * y", y = "x * x" }}. `enzyme-build rules check` reads the file,
## `enzyme-build gradcheck` tries the rules against the library."""

_SITES = 3


def draft_rules(
    manifest: Manifest,
    *,
    prototypes: Mapping[str, tuple[str, str]],
    demangle: Callable[[Sequence[str]], Mapping[str, str]],
) -> str | None:
    """Return the draft for the opaque symbols in `manifest`, `None` when there is none.

    `prototypes` has the C declaration of some and where it comes from.
    """
    opaque = {name: record for name, record in sorted(manifest.symbols.items()) if record.status == "opaque"}
    if not opaque:
        return None
    mangled = [name for name in opaque if name.startswith("_Z")]
    spoken = demangle(mangled) if mangled else {}
    parts = [_HEADER.format(library=manifest.library.file)]
    for name, record in opaque.items():
        lines = [f"## {'-' * 60}", f"## {spoken.get(name, name)}: {_where(record)}"]
        if record.kind == "variable":
            lines += ["## a variable; when nothing in it is differentiated:", *_off(inactive_global_stanza(name))]
        else:
            lines += _function(name, record, prototypes.get(name), spoken.get(name))
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _function(name: str, record: SymbolRecord, known: tuple[str, str] | None, spoken: str | None) -> list[str]:
    text, source = known or (None, "")
    if text is None and record.type is not None:
        text = guess_prototype(name, record.type)
        source = f"guessed from the type {record.type!r} in the bitcode: compare it with the header"
    prototype = None if text is None else _parsed(text)
    if prototype is None:
        stanza = derivative_stanza(name, record.type, spoken=spoken).partition("\n\n")[0]
        return [
            "## no C prototype is known; give the rule to a C function, or name functions that you write in C:",
            *_off(stanza),
            *_inactive(name),
        ]
    return [f"## the prototype is {source}", *_off(_stated(prototype)), *_inactive(name)]


def _parsed(text: str) -> Prototype | None:
    try:
        return parse_prototype(text)
    except ValueError:
        return None


def _inactive(name: str) -> list[str]:
    return [
        "## or, when nothing that it returns or writes depends on what is differentiated:",
        *_off(inactive_stanza(name)),
    ]


def _stated(prototype: Prototype) -> str:
    """Return a stanza with a key for each output and input that the prototype shows."""
    head = f'[[derivative]]\nprototype = "{prototype.text}"'
    pointers = [item for item in prototype.parameters if _points_to_numbers(item)]
    inputs = [item.name for item in prototype.parameters if item.kind == "floating"]
    inputs += [item.name for item in pointers if "const" in item.text.split()]
    outputs = [item.name for item in pointers if "const" not in item.text.split()]
    keys = [str(given) for given in inputs] if prototype.result_kind == "floating" else []
    keys += [f'"{output}/{given}"' for output in outputs for given in inputs or outputs]
    if prototype.variadic or not keys:
        return f'{head}\nvjp = """..."""   # C statements: read the shadows of outputs (d_out), add to those of inputs'
    formulas = ", ".join(f'{key} = "..."' for key in keys)
    lines = [head, f"partials = {{ {formulas} }}"]
    if pointers:
        shape = ", ".join(f'{item.name} = "..."' for item in pointers)
        lines.append(f"shape = {{ {shape} }}   # how many elements; leave out what points to one number")
    return "\n".join(lines)


def _points_to_numbers(parameter: PrototypeParameter) -> bool:
    words = parameter.text.replace("*", " * ").replace("[]", " * ").split()
    return parameter.kind == "pointer" and words.count("*") == 1 and bool({"float", "double"} & set(words))


def _where(record: SymbolRecord) -> str:
    used = [site.caller + (f" ({site.file}:{site.line})" if site.file else "") for site in record.sites[:_SITES]]
    more = "" if len(record.sites) <= _SITES else f" and {len(record.sites) - _SITES} more"
    said = f"used by {', '.join(used)}{more}" if used else "exported without bitcode"
    return said if record.library is None else f"{said}; its machine code is in {record.library}"


def _off(text: str) -> list[str]:
    return [f"# {line}".rstrip() for line in text.splitlines()]
