"""The child process of finalize: everything that happens inside libLLVM, so that a crash there is not ours.

Named metadata `!enzymebc` marks a finished module; it mentions nothing in the module and survives the import.

Usage: `python -m enzyme_build.finalize.worker REQUEST ANSWER`, both JSON files.
The answer holds facts or an error; the exit code is 0 in both cases.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import msgspec

from enzyme_build.errors import BinaryError, EnzymeBuildError
from enzyme_build.finalize.attach import attach_rules, bypassed_rules
from enzyme_build.finalize.carrier import return_bodies
from enzyme_build.finalize.digest import rule_digests
from enzyme_build.finalize.facts import Answer, FinalizeRequest, ModuleFacts
from enzyme_build.finalize.imported import require_importable
from enzyme_build.finalize.merge import merge_linked, merge_modules
from enzyme_build.finalize.split import split_modules
from enzyme_build.finalize.survey import survey
from enzyme_build.finalize.tidy import (
    drop_constructor_lists,
    drop_registration_globals,
    drop_used_lists,
    make_local_names_unique,
)
from enzyme_build.llvm.binding import load_binding
from enzyme_build.llvm.context import Context
from enzyme_build.llvm.values import Values

__all__ = ["main", "make_module"]

_MARK = "enzymebc"


def make_module(request: FinalizeRequest) -> ModuleFacts:
    """Carry out `request`: write the finished module to `request.output` and return what is in it.

    Raises `BinaryError` when the bitcode cannot be read, merged, verified or imported, or was finalized before.
    """
    binding = load_binding(Path(request.libllvm))
    context = Context(binding, request.pointers, version=request.llvm_version)
    section = Path(request.section).read_bytes()
    parts = split_modules(section, shown=request.name)
    merged = merge_modules(parts, context=context, name=request.name)
    module = merged.module
    if module.has_named_metadata(_MARK):
        msg = f"{request.name}: the module is finalized already, and its rules or options are not those asked for now"
        raise BinaryError(msg, hint="link the library anew, then finalize it with the new rules")
    digest = _digest(request.name, module.write_bitcode())
    origins: dict[str, str] = {}
    for linked in request.linked:
        came = merge_linked(module, Path(linked.bitcode).read_bytes(), name=request.name, library=linked.library)
        origins.update(dict.fromkeys(came, linked.library))
    drop_used_lists(module)
    generated = None if request.rules_module is None else Path(request.rules_module).read_bytes()
    digests = rule_digests(module, request.rules)
    attached = attach_rules(module, request.rules, local_definitions=merged.local_definitions, generated=generated)
    registrations = drop_registration_globals(module)
    module.verify(what=f"{request.name}, rules attached")
    module.run_passes(f"default<{request.optimize}>")
    return_bodies(module, attached.bodies_to_return)
    module.verify(what=f"{request.name}, optimised")
    rules = bypassed_rules(module, request.rules, attached.rules)
    constructors = drop_constructor_lists(module)
    functions, variables = survey(module, stands_for=attached.stands_for, origins=origins)
    identity = f"{_identifier(request.name)}_{digest}"
    make_local_names_unique(module, identity=identity)
    module.add_named_metadata(_MARK, identity)
    data = module.write_bitcode()
    values = Values(module)
    surface = {
        values.name(item) for item in values.functions() if values.is_defined(item) and not values.is_local(item)
    }
    require_importable(data, binding=binding, pointers=request.pointers, name=request.name, surface=surface)
    Path(request.output).write_bytes(data)
    return ModuleFacts(
        llvm_version=context.version,
        pointers=request.pointers,
        triple=module.triple,
        datalayout=module.datalayout,
        optimization=f"default<{request.optimize}> without vectorization, interleaving and unrolling",
        modules=len(parts),
        sources=merged.sources,
        functions=functions,
        variables=variables,
        rules=tuple(msgspec.structs.replace(fact, digest=digests.get(fact.index)) for fact in rules),
        registrations=registrations,
        constructors=constructors,
    )


def _digest(name: str, merged: bytes) -> str:
    """Return eight hexadecimal digits that tell this library's modules from every other's.

    `merged` and not the section is looked at: there the sources' paths are gone, so where a library was built, and by
    which build system, makes no difference.
    """
    return hashlib.sha256(name.encode() + b"\0" + merged).hexdigest()[:8]


def _identifier(name: str) -> str:
    return "".join(character if character.isascii() and character.isalnum() else "_" for character in name)


def main(arguments: list[str]) -> int:
    """Read the request, answer it; expected errors are part of the answer."""
    request_file, answer_file = arguments
    request = msgspec.json.decode(Path(request_file).read_bytes(), type=FinalizeRequest)
    try:
        answer = Answer(facts=make_module(request))
    except EnzymeBuildError as error:
        answer = Answer(error=type(error).__name__, message=error.message, hint=error.hint)
    Path(answer_file).write_bytes(msgspec.json.encode(answer))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
