"""Compile the generated C to one bitcode module, and say of every error which rule it comes from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from enzyme_build import _run
from enzyme_build.codegen.derivative import FILE_NAME
from enzyme_build.errors import RuleError
from enzyme_build.model import PointerMode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from enzyme_build.codegen.derivative import GeneratedSource
    from enzyme_build.toolchain import Toolchain

__all__ = ["compile_rules"]

_PLACE = re.compile(rf"(?:^|[\s/]){re.escape(FILE_NAME)}:(\d+)", re.MULTILINE)


def compile_rules(
    source: GeneratedSource,
    *,
    toolchain: Toolchain,
    pointers: PointerMode,
    output: Path,
    include_directories: Sequence[Path] = (),
    defines: Sequence[str] = (),
) -> Path:
    """Write the bitcode of `source` to the file `output` and return it; the C text is written beside it.

    Raises `RuleError` with the compiler's own text; its places are those of the rule file for what the user wrote in a
    block, and for generated code the rule is named.
    """
    folder = output.parent
    text = folder / FILE_NAME
    text.write_text(source.text, encoding="utf-8")
    command = [
        *toolchain.command("c"),
        "-O2",
        "-std=gnu11",
        "-fPIC",
        "-fno-math-errno",
        *(("-Xclang", "-no-opaque-pointers") if pointers is PointerMode.TYPED else ()),
        *(f"-I{directory.absolute()}" for directory in include_directories),
        *(f"-D{define}" for define in defines),
        # finalize optimises, once everything is in one module
        *("-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", FILE_NAME, "-o", str(output.absolute())),
        *toolchain.compiler_arguments,
    ]
    done = _run.capture(command, cwd=folder, check=False)
    if done.code:
        lines = dict.fromkeys(int(match[1]) for match in _PLACE.finditer(done.stderr))
        found = {rule.index: rule for rule in map(source.rule_at, lines) if rule is not None}
        said = done.stderr.rstrip()
        named = [
            f"{rule.origin}: the C code generated for {rule.function!r} does not compile" for rule in found.values()
        ]
        hint = "the types in the prototype must be known: name the headers that define them in 'include'"
        if not named:
            named, hint = ["a C block of a rule does not compile"], "the places are those of the rule file"
        raise RuleError([*named[:-1], f"{named[-1]}:\n{said}"], hint=hint)
    return output
