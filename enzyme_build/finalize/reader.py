"""Read bitcode with a consumer's own libLLVM, in a child process: the one judge of whether it can.

Usage of the child: `python -m enzyme_build.finalize.reader LIBLLVM POINTERS BITCODE`; exit code 0 when the module was
read and is well-formed, 1 with the reason on standard output when not.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_build import _run
from enzyme_build.errors import EnzymeBuildError
from enzyme_build.model import PointerMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enzyme_build._run import Runner

__all__ = ["main", "why_unreadable"]

_NAME = "bitcode"


def why_unreadable(bitcode: bytes, *, libllvm: Path, pointers: PointerMode, run: Runner = _run.capture) -> str | None:
    """Return why `libllvm` cannot read the module in this pointer mode, `None` when it can."""
    with tempfile.TemporaryDirectory(prefix="enzyme-build-") as folder:
        module = Path(folder, "module.bc")
        module.write_bytes(bitcode)
        # the child must see what this process sees, also where a build front end arranged sys.path by hand
        program = f"import sys; sys.path[:] = {sys.path!r}; from enzyme_build.finalize.reader import main"
        arguments = [str(libllvm), pointers.value, str(module)]
        done = run([sys.executable, "-c", f"{program}; sys.exit(main(sys.argv[1:]))", *arguments], check=False)
    if done.code == 0:
        return None
    if done.code == 1 and done.stdout.strip():
        return done.stdout.strip().removeprefix(f"{_NAME}: ")
    ended = f"signal {-done.code}" if done.code < 0 else f"exit code {done.code}"
    said = done.stderr.strip().splitlines()
    return f"LLVM crashed ({ended}){': ' + said[-1] if said else ''}"


def main(arguments: Sequence[str]) -> int:
    """Read and verify the module; see the head of this file."""
    from enzyme_build.llvm.binding import load_binding  # noqa: PLC0415 - only the child needs LLVM
    from enzyme_build.llvm.context import Context  # noqa: PLC0415 - as above

    libllvm, pointers, path = arguments
    try:
        context = Context(load_binding(Path(libllvm)), PointerMode(pointers))
        context.parse_bitcode(Path(path).read_bytes(), name=_NAME).verify(what=_NAME)
    except EnzymeBuildError as error:
        sys.stdout.write(f"{error.message}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
