"""Link objects to a shared library with the toolchain's own clang as driver."""

from __future__ import annotations

import contextlib
import os
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enzyme_build import _run
from enzyme_build.compile.stamp import current_stamp, write_stamp
from enzyme_build.errors import ToolError

if TYPE_CHECKING:
    from pathlib import Path

    from enzyme_build.toolchain import Language, Toolchain

__all__ = ["LinkRequest", "link_library"]

# Variables that change what the linker finds and writes.
_VARIABLES = ("LIBRARY_PATH", "COMPILER_PATH", "LD_RUN_PATH", "SOURCE_DATE_EPOCH")


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkRequest:
    """Objects, and the shared library to make of them.

    `libraries` are names without `lib` (`m`), looked for in `library_directories` first; relative paths are relative
    to `root`. `origin_rpath` makes the library look for its libraries beside itself when it is loaded.
    """

    root: Path
    output: Path
    objects: tuple[Path, ...]
    library_directories: tuple[Path, ...] = ()
    libraries: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    language: Language = "c"
    origin_rpath: bool = False


def link_library(request: LinkRequest, *, toolchain: Toolchain) -> bool:
    """Link `request.output`, unless it is current, and tell whether it was linked.

    The file appears only when it is complete. A stamp beside it (`<output>.stamp`) also holds the state of the
    output: a library that was changed in place since, by finalize or by strip, is linked again.
    Raises `ToolError` with the linker's text.
    """
    output = request.root / request.output
    partial = output.with_name(f"{output.name}.partial")
    stamp = output.with_name(f"{output.name}.stamp")
    command = _command(request, toolchain, partial)
    recipe = [toolchain.identity(), *(f"{name}={os.environ.get(name, '')}" for name in _VARIABLES), *command]
    if current_stamp(stamp, output=output, recipe=recipe, root=request.root):
        return False
    started = time.time_ns()
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        stamp.unlink(missing_ok=True)
        done = _run.capture(command, cwd=request.root, check=False)
        if done.code:
            msg = f"{output.name} does not link: {_run.describe_failure(done)}"
            raise ToolError(msg, hint=_hint(done.stderr))
        partial.replace(output)
        write_stamp(stamp, output=output, recipe=recipe, root=request.root, inputs=_inputs(request), started=started)
    except OSError as error:
        msg = f"{error.filename or output} cannot be written: {error.strerror or error}"
        raise ToolError(msg, hint="the output folder must be writable") from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
    return True


def _command(request: LinkRequest, toolchain: Toolchain, partial: Path) -> tuple[str, ...]:
    return (
        *toolchain.command(request.language),
        "-shared",
        "-o",
        str(partial),
        *(str(item) for item in request.objects),
        *(f"-L{directory}" for directory in request.library_directories),
        *request.arguments,
        *(f"-l{library}" for library in request.libraries),
        *("-Xlinker", "-soname", "-Xlinker", request.output.name),  # not `-Wl,`: a name may hold a comma
        "-Wl,--build-id=sha1",
        *(("-Wl,-rpath,$ORIGIN",) if request.origin_rpath else ()),
        *toolchain.linker_arguments,
    )


def _inputs(request: LinkRequest) -> tuple[str, ...]:
    """Return every file that the link is known to read: objects, libraries found beside, files named in arguments."""
    found = [str(item) for item in request.objects]
    for directory in request.library_directories:
        for library in request.libraries:
            found += [str(directory / f"lib{library}{suffix}") for suffix in (".so", ".a")]
    for argument in request.arguments:
        found += re.split(r"[,=]", argument)
    return tuple(dict.fromkeys(name for name in found if name and (request.root / name).is_file()))


def _hint(said: str) -> str:
    if "cannot find -l" in said or "unable to find library" in said:
        return "name the library's directory, or install its development package"
    if 'Executable "ld" doesn\'t exist' in said:
        return "there is no linker: install binutils or lld"
    if "recompile with -fPIC" in said:
        return "an object or static archive among the inputs was not compiled with -fPIC"
    if "undefined reference" in said or "undefined symbol" in said:
        return "name the library that defines it in `libraries` or `links`"
    return "this is the linker's own report"
