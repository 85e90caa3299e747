"""Run the gradcheck worker in a child process, and compile what it wrote to an object."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from enzyme_build import _run, errors
from enzyme_build.elf import SECTION, read_elf, read_section
from enzyme_build.errors import BinaryError, EnzymeBuildError, ToolError
from enzyme_build.gradcheck.facts import (
    ConsumerAnswer,
    ExtractAnswer,
    ExtractedRule,
    ExtractRequest,
    RuleToExtract,
)
from enzyme_build.gradcheck.shim import read_shim
from enzyme_build.model import PointerMode
from enzyme_build.needed import find_needed
from enzyme_build.toolchain import survey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enzyme_build.elf import ElfFacts
    from enzyme_build.gradcheck.facts import RuleUnderTest
    from enzyme_build.manifest import Manifest
    from enzyme_build.toolchain import Toolchain

__all__ = ["Extracted", "choose_toolchain", "extract_rules", "pointers_for", "run_child", "wanted_rule"]

AnswerT = TypeVar("AnswerT", ExtractAnswer, ConsumerAnswer)


@dataclass(frozen=True, kw_only=True, slots=True)
class Extracted:
    """The rules of one library, and what a program that calls them is linked from, in order."""

    rules: tuple[ExtractedRule, ...]
    inputs: tuple[str, ...]


def choose_toolchain(manifest: Manifest, *, setting: str | None = None, major: int | None = None) -> Toolchain:
    """Return the clang whose LLVM wrote the bitcode (or is `major`), else the nearest newer one; raises `ToolError`."""
    assert manifest.bitcode is not None  # noqa: S101 - libraries without have nothing to extract
    written = major or int(manifest.bitcode.llvm.partition(".")[0])
    found = [candidate.toolchain for candidate in survey(setting=setting) if candidate.toolchain is not None]
    fit = sorted((each for each in found if each.major >= written), key=lambda each: each.major)
    if not fit or (major is not None and fit[0].major != major):
        wanted = f"LLVM {written}" if major is not None else f"LLVM {written} or newer"
        msg = f"no clang of {wanted} was found, which reads the bitcode of {manifest.library.file}"
        raise ToolError(msg, hint="`enzyme-build doctor` shows which toolchains were found")
    return fit[0]


def extract_rules(
    library: Path,
    manifest: Manifest,
    rules: Sequence[RuleUnderTest],
    *,
    toolchain: Toolchain,
    folder: Path,
    search: Sequence[Path] = (),
) -> Extracted:
    """Return the functions of `rules`, compiled into objects in `folder`; raises `BinaryError` or `ToolError`."""
    elf = read_elf(library)
    section = read_section(library, SECTION)
    if section is None:
        msg = f"{library}: there is no bitcode in it, so there are no rules to run"
        raise BinaryError(msg, hint="run gradcheck on the library as it was finalized")
    bitcode, output = folder / "library.bc", folder / "rules.bc"
    bitcode.write_bytes(section)
    wanted = [wanted_rule(index, rule) for index, rule in enumerate(rules)]
    request = ExtractRequest(
        libllvm=str(toolchain.libllvm),
        llvm_version=toolchain.version,
        name=library.name,
        bitcode=str(bitcode),
        output=str(output),
        pointers=pointers_for(manifest, toolchain),
        native=tuple(symbol.name for symbol in (*elf.exported, *elf.undefined)),
        rules=tuple(wanted),
    )
    answer = run_child("enzyme_build.gradcheck.worker", request, ExtractAnswer, name=library.name)
    objects = [folder / "rules.o"]
    _run.capture([*toolchain.command("c"), "-x", "ir", "-O1", "-w", "-c", output, "-o", objects[0]])
    stubs = _stubs(elf, manifest)
    if stubs:
        (folder / "stubs.c").write_text(stubs, encoding="utf-8")
        objects.append(folder / "stubs.o")
        _run.capture([*toolchain.command("c"), "-w", "-fno-builtin", "-c", folder / "stubs.c", "-o", objects[1]])
    needed = find_needed(library, elf, search=search)
    linked = [library.absolute(), *(path.absolute() for path in needed.values() if path is not None)]
    runpaths = dict.fromkeys(str(path.parent) for path in linked)
    return Extracted(
        rules=answer.rules,
        inputs=(
            *(str(each) for each in objects),
            *(str(each) for each in linked),
            *(f"-Wl,-rpath,{each}" for each in runpaths),
        ),
    )


def pointers_for(manifest: Manifest, toolchain: Toolchain) -> PointerMode:
    """Return the mode in which this LLVM reads the library's bitcode: newer ones turn typed pointers into opaque."""
    assert manifest.bitcode is not None  # noqa: S101 - as in `choose_toolchain`
    return manifest.bitcode.pointers if toolchain.supports(manifest.bitcode.pointers) else PointerMode.OPAQUE


def run_child(module: str, request: msgspec.Struct, answer: type[AnswerT], *, name: str) -> AnswerT:
    """Run the `main` of `module` on `request` and return what it answers; a crash is a `BinaryError`.

    The answer's own error is raised.
    """
    with tempfile.TemporaryDirectory(prefix="enzyme-build-") as folder:
        request_file, answer_file = Path(folder, "request.json"), Path(folder, "answer.json")
        request_file.write_bytes(msgspec.json.encode(request))
        program = f"import sys; sys.path[:] = {sys.path!r}; from {module} import main"
        program = f"{program}; sys.exit(main(sys.argv[1:]))"
        completed = _run.capture([sys.executable, "-c", program, request_file, answer_file], check=False)
        if completed.code or not answer_file.exists():
            msg = f"{name}: LLVM crashed while reading the bitcode\n{_run.describe_failure(completed)}"
            raise BinaryError(msg, hint="try another LLVM (ENZYME_BUILD_LLVM), and report the library")
        answered = msgspec.json.decode(answer_file.read_bytes(), type=answer)
    if answered.error is not None:
        kind = getattr(errors, answered.error, BinaryError)
        error_class = kind if issubclass(kind, EnzymeBuildError) else BinaryError
        raise error_class(answered.message, hint=answered.hint)
    return answered


def wanted_rule(index: int, rule: RuleUnderTest) -> RuleToExtract:
    """Return how the worker finds the rule; a stated one is attached to its packet function."""
    if rule.rule is None or rule.rule.stated is None or rule.rule.prototype is None:
        return RuleToExtract(index=index, symbol=rule.symbol)
    shim = read_shim(rule.rule)
    return RuleToExtract(index=index, symbol=rule.symbol, packet=shim.packet, anchors=shim.anchors)


def _stubs(elf: ElfFacts, manifest: Manifest) -> str:
    """Return definitions of CPython's names, without which an extension module cannot be loaded outside Python.

    Nothing may be called through them; the dynamic linker only wants to see the names.
    """
    if not manifest.python_extension:
        return ""
    names = [symbol.name for symbol in elf.undefined if symbol.name.startswith(("Py", "_Py"))]
    return "".join(f"char {name}[64];\n" for name in names)
