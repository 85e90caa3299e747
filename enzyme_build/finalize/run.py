"""Run the finalize worker in a child process and bring its answer back."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from enzyme_build import _run, errors
from enzyme_build.errors import BinaryError, EnzymeBuildError
from enzyme_build.finalize.facts import Answer, FinalizeRequest, ModuleFacts

if TYPE_CHECKING:
    from enzyme_build._run import Runner

__all__ = ["finalize_module"]


def finalize_module(request: FinalizeRequest, *, run: Runner = _run.capture) -> ModuleFacts:
    """Return the facts of the module that the child wrote to `request.output`.

    Raises the child's own `BinaryError` or `ToolError`; a crash inside libLLVM becomes a `BinaryError` that names the
    library and shows what LLVM printed.
    """
    with tempfile.TemporaryDirectory(prefix="enzyme-build-") as folder:
        request_file, answer_file = Path(folder, "request.json"), Path(folder, "answer.json")
        request_file.write_bytes(msgspec.json.encode(request))
        # the child must see what this process sees, also where a build front end arranged sys.path by hand
        program = f"import sys; sys.path[:] = {sys.path!r}; from enzyme_build.finalize.worker import main"
        paths = [str(request_file), str(answer_file)]
        completed = run([sys.executable, "-c", f"{program}; sys.exit(main(sys.argv[1:]))", *paths], check=False)
        if completed.code or not answer_file.exists():
            said = completed.stderr.strip().splitlines()
            shown = "\n".join(f"  {line}" for line in said[-12:])
            ended = f"signal {-completed.code}" if completed.code < 0 else f"exit code {completed.code}"
            msg = f"{request.name}: LLVM {request.llvm_version} crashed while finalizing the bitcode ({ended})\n{shown}"
            raise BinaryError(msg, hint="try another LLVM (`llvm = ...` or ENZYME_BUILD_LLVM), and report the library")
        answer = msgspec.json.decode(answer_file.read_bytes(), type=Answer)
    if answer.facts is None:
        kind = getattr(errors, answer.error or "", BinaryError)
        error_class = kind if issubclass(kind, EnzymeBuildError) else BinaryError
        raise error_class(answer.message, hint=answer.hint)
    return answer.facts
