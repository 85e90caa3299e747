"""Give the objects of another compiler bitcode: run its command, then clang on the same source, and join the results.

This is for compilers that write no LLVM bitcode (gcc), or write bitcode too new for its readers. The native code stays
what the build system asked for; the bitcode is the module before optimisation, as `-fembed-bitcode` would embed it.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_build import _run
from enzyme_build.compile.objects import bitcode_compile_flags, language_of
from enzyme_build.errors import ToolError
from enzyme_build.toolchain import drop_harmful_flags, keep_accepted_flags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enzyme_build._run import Completed
    from enzyme_build.model import PointerMode
    from enzyme_build.toolchain import Language, Toolchain

__all__ = ["Compilation", "compile_with_companion", "read_command"]

_SECTION = ".llvmbc"
_EMBED = ("-Xclang", "-fembed-bitcode=bitcode")
_OUTPUT_WITH_VALUE = frozenset({"-o", "-MF", "-MT", "-MQ"})
_OUTPUT = frozenset({"-c", "-MD", "-MMD", "-MP", "-MG"})
_NO_OBJECT = frozenset({"-E", "-S", "-M", "-MM", "-fsyntax-only"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Compilation:
    """A compile command, taken apart: what comes before the compiler (ccache, distcc), and the compiler's arguments.

    `arguments` are without the source, the output and what makes dependency files.
    """

    launcher: tuple[str, ...]
    source: str
    output: Path
    language: Language
    arguments: tuple[str, ...]


def read_command(command: Sequence[str]) -> Compilation | None:
    """Return the parts of a command that compiles one C or C++ source to an object, `None` for any other command."""
    options = next((index for index, word in enumerate(command) if word.startswith(("-", "@"))), len(command))
    arguments: list[str] = []
    sources: list[str] = []
    output, waiting, given = None, "", ""
    for word in command[options:]:
        if waiting:
            output = word if waiting == "-o" else output
            waiting = ""
        elif word in _OUTPUT_WITH_VALUE:
            waiting = word
        elif word in _NO_OBJECT:
            return None
        elif word not in _OUTPUT:
            takes_source = not word.startswith("-") and language_of(word) is not None
            following = bool(arguments) and arguments[-1] in {"-include", "-imacros", "-Xclang"}
            if takes_source and not following:
                sources.append(word)
            else:
                given = word if arguments and arguments[-1] == "-x" else given
                arguments.append(word)
    if "-c" not in command or output is None or len(sources) != 1 or given.endswith("-header"):
        return None
    languages: dict[str, Language] = {"c": "c", "c++": "c++"}
    return Compilation(
        launcher=tuple(command[: options - 1]),
        source=sources[0],
        output=Path(output),
        language=languages.get(given) or language_of(sources[0]) or "c",
        arguments=tuple(arguments),
    )


def compile_with_companion(
    command: Sequence[str], *, toolchain: Toolchain, pointers: PointerMode, extra: Sequence[str] = ()
) -> Completed:
    """Run `command`; when it made an object, add the bitcode of its source; return what the command printed.

    `extra` are arguments for clang only. Raises `ToolError` when clang or objcopy fails; the object is then removed,
    so that it is made again.
    """
    native = _run.capture(command, check=False)
    found = read_command(command)
    if native.code or found is None:
        return native
    try:
        with tempfile.TemporaryDirectory(prefix="enzyme-build-") as folder:
            # in a folder of its own, but under the same name always: ccache and distcc look at the name
            bitcode = Path(folder, "module.o")
            _compile(found, bitcode, toolchain=toolchain, pointers=pointers, extra=extra)
            _join(found.output, bitcode, Path(folder, "joined.o"), objcopy=toolchain.objcopy)
    except BaseException:
        found.output.unlink(missing_ok=True)
        raise
    return native


def _compile(
    found: Compilation, bitcode: Path, *, toolchain: Toolchain, pointers: PointerMode, extra: Sequence[str]
) -> None:
    """Write the bitcode; flags that clang does not know are found only when there is one: it costs a run."""
    flags = tuple(flag for flag in bitcode_compile_flags(pointers) if flag not in _EMBED[1:])
    flags = flags[1:] if flags[:1] == _EMBED[:1] else flags
    # The native compiler has warned already, and its -Werror is not about clang's warnings.
    ours = (*extra, *flags, *toolchain.compiler_arguments, "-w", "-Xclang", "-disable-O0-optnone")
    ours = (*ours, "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-c", found.source, "-o", str(bitcode))
    start = (*found.launcher, *toolchain.command(found.language))
    arguments = drop_harmful_flags(found.arguments).kept
    done = _run.capture((*start, *arguments, *ours), check=False)
    if done.code:
        choice = keep_accepted_flags(toolchain, arguments, language=found.language)
        if choice.dropped:
            done = _run.capture((*start, *choice.kept, *ours), check=False)
    if done.code:
        msg = f"{found.source} compiles, but clang {toolchain.version} makes no bitcode of it: "
        hint = "give the target a compiler that is the toolchain's clang, or leave this source out of its bitcode"
        raise ToolError(msg + _run.describe_failure(done), hint=hint)


def _join(output: Path, bitcode: Path, joined: Path, *, objcopy: Path) -> None:
    """Add the bitcode to the object, as a section that the linker keeps and the loader ignores."""
    _run.capture([objcopy, f"--remove-section={_SECTION}", f"--add-section={_SECTION}={bitcode}", output, joined])
    handle, partial = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name}.")
    with os.fdopen(handle, "wb") as stream:
        stream.write(joined.read_bytes())
    Path(partial).chmod(output.stat().st_mode)
    Path(partial).replace(output)
