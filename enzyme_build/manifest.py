"""The sidecar manifest `<library file name>.enzymebc.json`, schema `enzymebc-manifest/1`.

It says which symbols of a library an AD tool can see through, and why, without a compiler at hand.
Paths are relative to the manifest's own folder, keys are sorted, no time is recorded: same input, same bytes.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Literal

import msgspec

from enzyme_build.errors import ManifestError
from enzyme_build.model import Mode, PointerMode
from enzyme_build.rules.model import DerivativeRule

__all__ = [
    "SCHEMA",
    "SUFFIX",
    "BitcodeRecord",
    "CertificateRecord",
    "DependencyRecord",
    "LibraryRecord",
    "Manifest",
    "RuleProblemRecord",
    "RuleRecord",
    "SiteRecord",
    "Status",
    "SymbolRecord",
    "VariableRecord",
    "WaiverRecord",
    "encode_manifest",
    "json_schema",
    "manifest_path",
    "read_manifest",
    "write_manifest",
]

SCHEMA = "enzymebc-manifest/1"
SUFFIX = ".enzymebc.json"

Status = Literal["bitcode", "rule", "known", "inactive", "waived", "opaque"]


class _Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What all parts of the manifest have in common."""


class LibraryRecord(_Record, frozen=True, kw_only=True):
    """The library this manifest belongs to.

    `build_id` (GNU build-id note) and `section_sha256` (of `.llvmbc`) identify it: both survive a change of rpath or
    soname, where a hash of the file would not.
    """

    file: str
    machine: str
    soname: str | None = None
    build_id: str | None = None
    section_sha256: str | None = None


class BitcodeRecord(_Record, frozen=True, kw_only=True):
    """The embedded module: who wrote it, for which target, what was done to it."""

    llvm: str
    pointers: PointerMode
    triple: str
    datalayout: str
    optimization: str
    modules: int
    sources: tuple[str, ...] = ()


class SiteRecord(_Record, frozen=True, kw_only=True):
    """A use of a symbol: the function that uses it, and the source line if debug info told."""

    caller: str
    file: str | None = None
    line: int | None = None


class VariableRecord(_Record, frozen=True, kw_only=True):
    """A variable that code may change: who loads from it, stores to it, or hands its address on, each sorted.

    `indexed` says that some address inside it is computed, `initialised` that it starts as something else than zero,
    `holds` whether there is a floating-point number or a pointer in it.
    """

    readers: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    passers: tuple[str, ...] = ()
    indexed: bool = False
    initialised: bool = False
    thread_local: bool = False
    aggregate: bool = False
    holds: tuple[Literal["number", "pointer"], ...] = ()


class SymbolRecord(_Record, frozen=True, kw_only=True):
    """A symbol that the library exports or its bitcode mentions.

    `library` is the soname (or file name) of the library that natively holds it, `calls` what its bitcode mentions,
    `sites` where it is used; `detail` says why the status is what it is; `modes` limits a status to these modes.
    `indirect_calls` to `atomic_operations` count instructions of its body; `resolved` marks an ifunc, `weak` a symbol
    that need not be there when the library is loaded, `by_value` a parameter or result that is a struct handed over
    whole; `variable` is there for variables that may change.
    """

    status: Status
    kind: Literal["function", "variable"] = "function"
    exported: bool = False
    type: str | None = None
    library: str | None = None
    rule: int | None = None
    detail: str | None = None
    modes: tuple[Mode, ...] | None = None
    calls: tuple[str, ...] = ()
    sites: tuple[SiteRecord, ...] = ()
    indirect_calls: int = 0
    inline_assembly: int = 0
    vector_operations: int = 0
    atomic_operations: int = 0
    resolved: bool = False
    weak: bool = False
    version: str | None = None
    by_value: bool = False
    variable: VariableRecord | None = None


class RuleProblemRecord(_Record, frozen=True, kw_only=True):
    """What is wrong with a rule: the finding it becomes, and its words."""

    finding: str
    text: str
    fix: str


class RuleRecord(_Record, frozen=True, kw_only=True):
    """A rule: its kind, the symbol it is for, where it was written, the functions it names by role.

    `written` is a derivative rule as its file has it, so that it can be checked where the file is not; `digest` changes
    with the bitcode of the primal and of the rule's functions.
    """

    kind: str
    symbol: str
    file: str
    key: str
    line: int | None = None
    functions: dict[str, str] = {}
    modes: tuple[Mode, ...] = ()
    problems: tuple[RuleProblemRecord, ...] = ()
    written: DerivativeRule | None = None
    digest: str | None = None


class CertificateRecord(_Record, frozen=True, kw_only=True):
    """What `enzyme-build gradcheck` found of the rule for `symbol`, and of what exactly.

    `level` 1 is the rule by itself against differences of the native function, 2 the rule as Enzyme uses it; `seeds`
    are how many random points were tried. `digest` is that of the rule when it was checked, `section_sha256` that of
    the library's bitcode.
    """

    symbol: str
    modes: tuple[Mode, ...]
    seeds: int
    level: int
    passed: bool
    digest: str | None = None
    section_sha256: str | None = None
    complaints: tuple[str, ...] = ()


class DependencyRecord(_Record, frozen=True, kw_only=True):
    """A library that the dynamic linker loads with this one; `manifest` is relative, if it has one beside it."""

    soname: str
    manifest: str | None = None
    merged: bool = False


class WaiverRecord(_Record, frozen=True, kw_only=True):
    """An opaque symbol that the user accepts, and why; `expires` is the last day on which that counts (ISO 8601)."""

    symbol: str
    reason: str
    expires: str | None = None


class Manifest(_Record, frozen=True, kw_only=True, omit_defaults=False):
    """The whole document; `symbols` is keyed by the name in the object file.

    `inputs` is a digest of all rules and options the module was made with; a build compares it to see nothing is to do.
    `native` says that the library is meant to have no bitcode; `registrations` are Enzyme's registration globals that
    were found in the sources, which do nothing after an import; `constructors` are the functions that run when the
    library is loaded, and which no consumer runs for its own copy of the bitcode. `certificates` are those of
    `enzyme-build gradcheck`.
    """

    schema: str
    generator: str
    library: LibraryRecord
    bitcode: BitcodeRecord | None
    consumers: tuple[str, ...]
    roots: tuple[str, ...]
    symbols: dict[str, SymbolRecord]
    rules: tuple[RuleRecord, ...]
    dependencies: tuple[DependencyRecord, ...]
    waivers: tuple[WaiverRecord, ...]
    inputs: str | None = None
    native: bool = False
    python_extension: bool = False
    registrations: tuple[str, ...] = ()
    certificates: tuple[CertificateRecord, ...] = ()
    constructors: tuple[str, ...] = ()


def manifest_path(library: Path) -> Path:
    """Return where the manifest of `library` lies: beside it, under its file name plus `.enzymebc.json`."""
    return library.with_name(library.name + SUFFIX)


def encode_manifest(manifest: Manifest) -> bytes:
    """Return the document as bytes: sorted keys, two spaces, a final newline."""
    plain = msgspec.to_builtins(manifest, order="sorted")
    return msgspec.json.format(msgspec.json.encode(plain, order="sorted"), indent=2) + b"\n"


def read_manifest(path: Path, *, shown: str | None = None) -> Manifest:
    """Return the manifest in `path`; `shown` is the name for messages.

    Raises `ManifestError` when it cannot be read, is of another schema, or a key is wrong (with its path).
    """
    name = shown or str(path)
    try:
        return decode_manifest(path.read_bytes(), shown=name)
    except OSError as error:
        msg = f"{name}: cannot read the manifest: {error.strerror or error}"
        raise ManifestError(msg) from error


def decode_manifest(data: bytes, *, shown: str) -> Manifest:
    """Return the manifest in `data`; raises `ManifestError` as `read_manifest` does."""
    hint = "rebuild the library with this version of enzyme-build"
    try:
        head: Any = msgspec.json.decode(data)
        schema = head.get("schema") if isinstance(head, dict) else None
        if schema != SCHEMA:
            msg = f"{shown}: schema is {schema!r}, this version reads {SCHEMA!r}"
            raise ManifestError(msg, hint=hint)
        return msgspec.convert(head, Manifest)
    except msgspec.DecodeError as error:
        msg = f"{shown}: not a manifest: {error}"
        raise ManifestError(msg, hint=hint) from error


def write_manifest(manifest: Manifest, path: Path) -> bool:
    """Write the document in one step; return whether the file changed. Equal content is left untouched."""
    data = encode_manifest(manifest)
    if path.exists() and path.read_bytes() == data:
        return False
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return True


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the manifest, made from the structs above."""
    schema = msgspec.json.schema(Manifest)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA, **schema}
