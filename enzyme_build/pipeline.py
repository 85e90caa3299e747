"""The one sequence that every front door calls: finalize a library, describe it, judge it."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from enzyme_build import __version__
from enzyme_build.check.classify import describe_library
from enzyme_build.elf import read_elf, read_section
from enzyme_build.errors import BinaryError, EnzymeBuildError
from enzyme_build.finalize.embed import SECTION, embed_bitcode
from enzyme_build.finalize.facts import FinalizeRequest, LinkedModule
from enzyme_build.finalize.run import finalize_module
from enzyme_build.manifest import manifest_path, read_manifest, write_manifest
from enzyme_build.needed import find_needed, native_holders
from enzyme_build.rules.model import RuleSet
from enzyme_build.toolchain import choose_pointer_mode, default_consumers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enzyme_build.elf import ElfFacts
    from enzyme_build.finalize.facts import ModuleFacts
    from enzyme_build.manifest import Manifest, WaiverRecord
    from enzyme_build.model import Consumer
    from enzyme_build.toolchain import Toolchain

__all__ = ["LibraryOptions", "describe_native", "finalize_library"]


NO_RULES = RuleSet()


@dataclass(frozen=True, kw_only=True, slots=True)
class LibraryOptions:
    """What the user said of one library.

    `linked` are library files whose manifests lie beside them: their bitcode is merged. `search` are folders with
    libraries that are not yet where the run path points. Without `consumers` the toolchain's own LLVM is the consumer.
    """

    consumers: tuple[Consumer, ...] = ()
    rules: RuleSet = NO_RULES
    roots: tuple[str, ...] = ()
    linked: tuple[Path, ...] = ()
    search: tuple[Path, ...] = ()
    waivers: tuple[WaiverRecord, ...] = ()
    optimize: str = "O2"
    python_extension: bool = False


def finalize_library(library: Path, options: LibraryOptions, *, toolchain: Toolchain) -> Manifest:
    """Make the one module of `library` out of what the linker left, embed it, write the manifest and return it.

    Works in place, in one step, and leaves a library alone that is finalized with the same options already. A library
    without `.llvmbc` is left alone too; its manifest says that it has no bitcode. Raises `BinaryError`, `ToolError` or
    `ManifestError`; what the rules and symbols are worth is not judged here.
    """
    elf = read_elf(library)
    consumers = options.consumers or default_consumers(toolchain)
    linked = _linked_manifests(options.linked)
    inputs = _inputs_digest(options, consumers, linked, toolchain)
    written = _finished_before(library, elf, inputs)
    if written is not None:
        return written
    facts: ModuleFacts | None = None
    if elf.bitcode_section:
        facts = _finalize(library, options, consumers, toolchain)
        elf = read_elf(library)
    return _describe(library, elf, facts, options, consumers=consumers, linked=linked, inputs=inputs)


def describe_native(library: Path, options: LibraryOptions) -> Manifest:
    """Write and return the manifest of a library that is meant to have no bitcode."""
    elf = read_elf(library)
    linked = _linked_manifests(options.linked)
    return _describe(library, elf, None, options, consumers=options.consumers, linked=linked, native=True)


def _finalize(
    library: Path, options: LibraryOptions, consumers: Sequence[Consumer], toolchain: Toolchain
) -> ModuleFacts:
    """Run finalize in its child process and embed what it made."""
    with tempfile.TemporaryDirectory(prefix="enzyme-build-") as folder:
        section, output = Path(folder, "section"), Path(folder, "module.bc")
        section.write_bytes(read_section(library, SECTION) or b"")
        modules = []
        for number, path in enumerate(options.linked):
            bitcode = read_section(path, SECTION)
            if bitcode:
                copy = Path(folder, f"linked{number}.bc")
                copy.write_bytes(bitcode)
                modules.append(LinkedModule(library=path.name, bitcode=str(copy)))
        request = FinalizeRequest(
            libllvm=str(toolchain.libllvm),
            llvm_version=toolchain.version,
            name=library.name,
            section=str(section),
            output=str(output),
            pointers=choose_pointer_mode(consumers, toolchain),
            linked=tuple(modules),
            rules=options.rules.rules,
            optimize=options.optimize,
        )
        facts = finalize_module(request)
        embed_bitcode(library, output, objcopy=toolchain.objcopy)
    return facts


def _describe(
    library: Path,
    elf: ElfFacts,
    facts: ModuleFacts | None,
    options: LibraryOptions,
    *,
    consumers: Sequence[Consumer],
    linked: Sequence[tuple[Path, Manifest]],
    inputs: str | None = None,
    native: bool = False,
) -> Manifest:
    """Write the manifest of a library and return it."""
    needed = find_needed(library, elf, search=(*options.search, *(path.parent for path in options.linked)))
    wanted = {symbol.name for symbol in elf.undefined}
    if facts is not None:
        wanted |= {function.name for function in facts.functions if not function.defined}
    manifest = describe_library(
        library_file=library.name,
        elf=elf,
        facts=facts,
        rules=options.rules,
        consumers=consumers,
        roots=options.roots,
        linked=[manifest for _, manifest in linked],
        holders=native_holders(wanted, needed),
        waivers=options.waivers,
        python_extension=options.python_extension,
        native=native,
        inputs=inputs,
    )
    write_manifest(manifest, manifest_path(library))
    return manifest


def _linked_manifests(paths: Sequence[Path]) -> list[tuple[Path, Manifest]]:
    """Return the manifests of the linked libraries; raises `BinaryError` for one that was not finalized."""
    found = []
    for path in paths:
        beside = manifest_path(path)
        if not beside.exists():
            msg = f"{path}: a linked library has no manifest {beside.name} beside it"
            raise BinaryError(msg, hint="build it with enzyme-build too, or run `enzyme-build finalize` on it")
        found.append((path, read_manifest(beside)))
    return found


def _inputs_digest(
    options: LibraryOptions,
    consumers: Sequence[Consumer],
    linked: Sequence[tuple[Path, Manifest]],
    toolchain: Toolchain,
) -> str:
    """Return a digest of all that shapes the module and the manifest besides the library itself."""
    parts = (
        __version__,
        toolchain.version,
        [consumer.name for consumer in consumers],
        options.rules,
        options.roots,
        options.waivers,
        options.optimize,
        options.python_extension,
        [manifest for _, manifest in linked],
    )
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()


def _finished_before(library: Path, elf: ElfFacts, inputs: str) -> Manifest | None:
    """Return the manifest beside `library` if it was written for this very library and the same inputs."""
    beside = manifest_path(library)
    if not beside.exists():
        return None
    try:
        manifest = read_manifest(beside)
    except EnzymeBuildError:
        return None  # of another version, or damaged: it is written anew
    same = manifest.inputs == inputs and manifest.library.section_sha256 == elf.section_sha256
    return manifest if same and manifest.library.build_id == elf.build_id else None
