"""The child process of gradcheck: turn a finished module into one that can be linked beside its own native library.

What the library has as machine code becomes `available_externally`: no code is made for it, so calls go to the library.
The functions of rules that only the bitcode has get names of their own.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from enzyme_build.errors import EnzymeBuildError
from enzyme_build.gradcheck.carriers import find_carrier
from enzyme_build.gradcheck.facts import (
    ConsumerAnswer,
    ConsumerRequest,
    ExtractAnswer,
    ExtractedRule,
    ExtractRequest,
    RuleFunction,
)
from enzyme_build.gradcheck.imported import import_for_consumer
from enzyme_build.gradcheck.shim import PREFIX, local_anchors
from enzyme_build.llvm.binding import load_binding
from enzyme_build.llvm.context import Context
from enzyme_build.llvm.values import Linkage, Values

if TYPE_CHECKING:
    from enzyme_build.gradcheck.facts import RuleToExtract

__all__ = ["extract", "main"]

_AVAILABLE_EXTERNALLY = 1  # LLVMAvailableExternallyLinkage (llvm-c/Core.h)


def extract(request: ExtractRequest) -> tuple[ExtractedRule, ...]:
    """Write the module to `request.output` and return the rules that are in it; raises `BinaryError`."""
    binding = load_binding(Path(request.libllvm))
    context = Context(binding, request.pointers, version=request.llvm_version)
    module = context.parse_bitcode(Path(request.bitcode).read_bytes(), name=request.name)
    values = Values(module)
    extracted = []
    for wanted in request.rules:
        found = _extract_rule(values, wanted, set(request.native))
        if found is not None:
            extracted.append(found)
    anchors = {name for rule in request.rules for name in rule.anchors}
    for name, variable in local_anchors(values, sorted(anchors)).items():
        values.rename(variable, f"{PREFIX}{name}")
        binding.SetLinkage(variable, Linkage.EXTERNAL)
    for item in (*values.functions(), *values.variables()):
        if values.is_defined(item) and values.name(item) in request.native and not values.is_local(item):
            binding.SetComdat(item, None)
            binding.SetLinkage(item, _AVAILABLE_EXTERNALLY)
    module.verify(what=f"{request.name}, made ready to be linked")
    Path(request.output).write_bytes(module.write_bitcode())
    return tuple(extracted)


def _extract_rule(values: Values, wanted: RuleToExtract, native: set[str]) -> ExtractedRule | None:
    found = find_carrier(values, wanted)
    if found is None:
        return None
    carrier, roles = found
    primal = values.function(wanted.symbol)
    if primal is None:  # static in its source: only the bitcode has it, under the carrier's name
        primal = carrier
    return ExtractedRule(
        index=wanted.index,
        primal=_callable(values, primal, f"{PREFIX}{wanted.index}_primal", native),
        **{
            role: _callable(values, function, f"{PREFIX}{wanted.index}_{role}", native)
            for role, function in roles.items()
        },
    )


def _callable(values: Values, function: int, own_name: str, native: set[str]) -> RuleFunction:
    """Return how to call `function` from outside; one that no machine code has is given a name for that."""
    name = values.name(function)
    is_native = not values.is_defined(function) or (name in native and not values.is_local(function))
    if not is_native and not name.startswith(PREFIX):
        values.rename(function, own_name)
        values.binding.SetLinkage(function, Linkage.EXTERNAL)
        values.binding.SetVisibility(function, 0)
        name = values.name(function)
    return RuleFunction(symbol=name, type=values.function_type(function), native=is_native)


def main(arguments: list[str]) -> int:
    """Read the request, answer it; expected errors are part of the answer."""
    request_file, answer_file = arguments
    request = msgspec.json.decode(Path(request_file).read_bytes(), type=ExtractRequest | ConsumerRequest)
    answer: ExtractAnswer | ConsumerAnswer
    try:
        if isinstance(request, ConsumerRequest):
            answer = ConsumerAnswer(has_body=import_for_consumer(request))
        else:
            answer = ExtractAnswer(rules=extract(request))
    except EnzymeBuildError as error:
        kind = ConsumerAnswer if isinstance(request, ConsumerRequest) else ExtractAnswer
        answer = kind(error=type(error).__name__, message=error.message, hint=error.hint)
    Path(answer_file).write_bytes(msgspec.json.encode(answer))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
