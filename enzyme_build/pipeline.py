"""The one sequence that every front door calls: finalize a library, describe it, judge it."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from enzyme_build import __version__
from enzyme_build.check.classify import describe_library
from enzyme_build.codegen.compile_rules import compile_rules
from enzyme_build.codegen.derivative import render_derivatives
from enzyme_build.elf import read_elf, read_section
from enzyme_build.elf_objects import function_origins
from enzyme_build.errors import BinaryError, EnzymeBuildError
from enzyme_build.finalize.embed import SECTION, embed_bitcode
from enzyme_build.finalize.facts import FinalizeRequest, LinkedModule
from enzyme_build.finalize.run import finalize_module
from enzyme_build.manifest import manifest_path, read_manifest, write_manifest
from enzyme_build.needed import find_needed, native_holders
from enzyme_build.rules.model import DerivativeRule, RuleSet
from enzyme_build.rules.patterns import expand_patterns
from enzyme_build.toolchain import choose_pointer_mode, default_consumers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from enzyme_build.elf import ElfFacts
    from enzyme_build.finalize.facts import ModuleFacts
    from enzyme_build.manifest import CertificateRecord, Manifest, WaiverRecord
    from enzyme_build.model import Consumer
    from enzyme_build.toolchain import Toolchain

__all__ = ["LibraryOptions", "describe_native", "finalize_library", "restore_library"]


NO_RULES = RuleSet()


@dataclass(frozen=True, kw_only=True, slots=True)
class LibraryOptions:
    """What the user said of one library.

    `linked` are library files whose manifests lie beside them: their bitcode is merged. `search` are folders with
    libraries that are not yet where the run path points. Without `consumers` the toolchain's own LLVM is the consumer.
    `include_directories` and `defines` are those of its sources: stated derivatives may name their headers.
    Sources below one of `source_roots` are listed in the manifest relative to it. In `keep_linked`, a folder for this
    library alone, the linker's bitcode is kept: with it the library can be finalized again, with other options.
    """

    consumers: tuple[Consumer, ...] = ()
    rules: RuleSet = NO_RULES
    roots: tuple[str, ...] = ()
    linked: tuple[Path, ...] = ()
    search: tuple[Path, ...] = ()
    waivers: tuple[WaiverRecord, ...] = ()
    optimize: str = "O2"
    python_extension: bool = False
    include_directories: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    source_roots: tuple[Path, ...] = ()
    keep_linked: Path | None = None


def finalize_library(library: Path, options: LibraryOptions, *, toolchain: Toolchain) -> Manifest:
    """Make the one module of `library` out of what the linker left, embed it, write the manifest and return it.

    Works in place, in one step, and leaves a library alone that is finalized with the same options already. A library
    without `.llvmbc` is left alone too; its manifest says that it has no bitcode. Raises `BinaryError`, `ToolError` or
    `ManifestError`; what the rules and symbols are worth is not judged here.
    """
    elf = read_elf(library)
    options = _with_patterns_resolved(options, elf)
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
    options = _with_patterns_resolved(options, elf)
    linked = _linked_manifests(options.linked)
    return _describe(library, elf, None, options, consumers=options.consumers, linked=linked, native=True)


def restore_library(library: Path, *, built: Path, find_objcopy: Callable[[], Path]) -> bool:
    """Give `library`, a copy of the finalized `built`, its bitcode and manifest back; return whether it lacked bitcode.

    Raises `BinaryError` when it is a copy of another build or when the result is not what the manifest describes.
    """
    manifest = read_manifest(manifest_path(built))
    copy = read_elf(library)
    if manifest.library.build_id != copy.build_id:
        msg = f"{library}: not a copy of {built}: it has another build-id"
        raise BinaryError(msg, hint="install the library that was built, then restore")
    lost = manifest.library.section_sha256 is not None and not copy.bitcode_section
    if lost:
        with tempfile.TemporaryDirectory(prefix="enzyme-build-") as folder:
            bitcode = Path(folder, "module.bc")
            bitcode.write_bytes(read_section(built, SECTION) or b"")
            embed_bitcode(library, bitcode, objcopy=find_objcopy())
        copy = read_elf(library)
    if manifest.library.section_sha256 != copy.section_sha256:
        msg = f"{library}: the bitcode in it is not that of {built}"
        raise BinaryError(msg, hint="something changed the library after it was built; finalize it anew")
    write_manifest(manifest, manifest_path(library))
    return lost


def _with_patterns_resolved(options: LibraryOptions, elf: ElfFacts) -> LibraryOptions:
    """Return `options` with a rule for each function of the library that a rule's pattern fits."""
    names = {symbol.name for symbol in (*elf.exported, *elf.undefined)}
    return replace(options, rules=expand_patterns(options.rules, names))


def _finalize(
    library: Path, options: LibraryOptions, consumers: Sequence[Consumer], toolchain: Toolchain
) -> ModuleFacts:
    """Run finalize in its child process and embed what it made."""
    with tempfile.TemporaryDirectory(prefix="enzyme-build-") as folder:
        section, output = Path(folder, "section"), Path(folder, "module.bc")
        section.write_bytes(_linked_bitcode(library, options.keep_linked))
        modules = []
        for number, path in enumerate(options.linked):
            bitcode = read_section(path, SECTION)
            if bitcode:
                copy = Path(folder, f"linked{number}.bc")
                copy.write_bytes(bitcode)
                modules.append(LinkedModule(library=path.name, bitcode=str(copy)))
        pointers = choose_pointer_mode(consumers, toolchain)
        bitcode = section.read_bytes() + b"".join(Path(module.bitcode).read_bytes() for module in modules)
        generated = render_derivatives(_named_in(options.rules, bitcode))
        rules_module = None
        if generated is not None:
            rules_module = compile_rules(
                generated,
                toolchain=toolchain,
                pointers=pointers,
                output=Path(folder, "rules.bc"),
                include_directories=options.include_directories,
                defines=options.defines,
            )
        request = FinalizeRequest(
            libllvm=str(toolchain.libllvm),
            llvm_version=toolchain.version,
            name=library.name,
            section=str(section),
            output=str(output),
            pointers=pointers,
            linked=tuple(modules),
            rules=options.rules.rules,
            rules_module=None if rules_module is None else str(rules_module),
            optimize=options.optimize,
        )
        facts = finalize_module(request)
        embed_bitcode(library, output, objcopy=toolchain.objcopy)
    sources = tuple(_relative(source, options.source_roots) for source in facts.sources)
    return msgspec.structs.replace(facts, sources=sources)


def _named_in(rules: RuleSet, bitcode: bytes) -> RuleSet:
    """Return `rules` without the stated derivatives of functions that `bitcode` does not mention.

    Rule files are often those of a whole project, and need headers that this library may not have. Bitcode has the
    names of its functions in plain text; more that looks like one does no harm.
    """
    kept = [
        rule
        for rule in rules.rules
        if not isinstance(rule, DerivativeRule)
        or rule.stated is None
        or any(name.encode() in bitcode for name in (rule.function, rule.function.lower()))
    ]
    return RuleSet(rules=tuple(kept), files=rules.files)


def _linked_bitcode(library: Path, kept: Path | None) -> bytes:
    """Return the bitcode as the linker left it: the library's, or what was kept of the link with this build-id."""
    current = read_section(library, SECTION) or b""
    build_id = read_elf(library).build_id
    if kept is None or build_id is None:
        return current
    file = kept / f"{build_id}.linked"
    if file.exists():
        return file.read_bytes()
    kept.mkdir(parents=True, exist_ok=True)
    for older in kept.glob("*.linked"):
        older.unlink()
    partial = file.with_suffix(".partial")
    partial.write_bytes(current)
    partial.replace(file)
    return current


def _relative(source: str, roots: Sequence[Path]) -> str:
    """Return `source` relative to the first of `roots` that it lies below: where it was built is no one's concern."""
    root = next((root for root in roots if Path(source).is_relative_to(root)), None)
    return source if root is None else Path(source).relative_to(root).as_posix()


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
        python_extension=options.python_extension or any(each.name.startswith("PyInit_") for each in elf.exported),
        native=native,
        inputs=inputs,
        find_origins=lambda addresses: function_origins(library, addresses),
    )
    manifest = msgspec.structs.replace(manifest, certificates=_certificates_before(library, manifest))
    write_manifest(manifest, manifest_path(library))
    return manifest


def _certificates_before(library: Path, manifest: Manifest) -> tuple[CertificateRecord, ...]:
    """Return the certificates that the manifest before this one had for rules that are still there.

    Whether they still hold is judged by the check: a rule's digest tells.
    """
    try:
        before = read_manifest(manifest_path(library))
    except EnzymeBuildError:
        return ()  # there was none, or one of another version
    symbols = {rule.symbol for rule in manifest.rules if rule.kind == "derivative"}
    return tuple(each for each in before.certificates if each.symbol in symbols)


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
        [str(root) for root in options.source_roots],
        options.defines,
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
