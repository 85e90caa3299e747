"""Put a finished module into a library's `.llvmbc`, leaving everything that is loaded untouched."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_build import _run
from enzyme_build.elf import native_fingerprint, read_elf
from enzyme_build.errors import BinaryError, ToolError

if TYPE_CHECKING:
    from enzyme_build._run import Runner

__all__ = ["SECTION", "embed_bitcode"]

SECTION = ".llvmbc"
_COMMAND_SECTION = ".llvmcmd"


def embed_bitcode(library: Path, bitcode: Path, *, objcopy: Path, run: Runner = _run.capture) -> None:
    """Replace `.llvmbc` of `library` by the file `bitcode` and drop `.llvmcmd`, in one step or not at all.

    `.llvmcmd` goes because it holds command lines, with the paths of the machine in them. Raises `ToolError` when
    objcopy or the folder does not allow it, `BinaryError` when objcopy changed anything that is loaded at run time.
    """
    before = read_elf(library)
    try:
        handle, temporary_name = tempfile.mkstemp(dir=library.parent, prefix=f".{library.name}.")
    except OSError as error:
        msg = f"{library}: cannot write beside the library: {error.strerror or error}"
        raise ToolError(msg, hint="make the folder writable, or build into another one") from error
    os.close(handle)
    temporary = Path(temporary_name)
    try:
        command: list[str | Path] = [objcopy]
        if before.bitcode_section:
            command.append(f"--remove-section={SECTION}")
        if before.has_command_section:
            command.append(f"--remove-section={_COMMAND_SECTION}")
        run([*command, f"--add-section={SECTION}={bitcode}", library, temporary])
        if native_fingerprint(temporary) != native_fingerprint(library):
            msg = f"{library}: {objcopy.name} changed the native code while it replaced {SECTION}"
            raise BinaryError(msg, hint="use another objcopy (llvm-objcopy of the same LLVM), and report this one")
        # ninja records when a linked file was written, newer CMake after the link and before this: an older time than
        # that of the finished file would make it link again and again
        shutil.copystat(library, temporary)
        temporary.replace(library)
    finally:
        temporary.unlink(missing_ok=True)
