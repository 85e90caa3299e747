"""Read libraries' bitcode as their consumers will: with their own libLLVM, where it is installed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enzyme_build.check.finding import make_finding
from enzyme_build.errors import ConfigError
from enzyme_build.finalize.reader import why_unreadable
from enzyme_build.toolchain.consumers import consumer as find_consumer
from enzyme_build.toolchain.readers import find_reader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from enzyme_build.check.finding import Finding
    from enzyme_build.elf import ElfFacts
    from enzyme_build.manifest import Manifest
    from enzyme_build.model import Consumer, PointerMode

__all__ = ["Reading", "reader_findings"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What reading showed: findings, and for each library what else is to be said."""

    findings: tuple[Finding, ...]
    notes: dict[str, list[str]]


def reader_findings(
    libraries: Sequence[tuple[str, Manifest, ElfFacts | None]],
    bitcode: Mapping[str, bytes],
    *,
    environment: Mapping[str, str] = os.environ,
) -> Reading:
    """Return what the consumers' own libLLVMs say of the `bitcode` of each library, by its shown name.

    Each pair of libLLVM and pointer mode is asked once, for all consumers that it stands for.
    """
    found = []
    notes: dict[str, list[str]] = {}
    readers: dict[str, Path | None] = {}
    for shown, manifest, _ in libraries:
        if shown not in bitcode:
            continue
        answers: dict[tuple[Path, PointerMode], str | None] = {}
        for name in manifest.consumers:
            try:
                consumer = find_consumer(name)
            except ConfigError:
                continue  # the judge says so
            if name not in readers:
                readers[name] = find_reader(consumer, environment)
            libllvm = readers[name]
            if libllvm is None:
                note = f"not read as {name} would: libLLVM {consumer.llvm_major} is not installed here"
                notes.setdefault(shown, []).append(note)
                continue
            key = (libllvm, _pointer_mode(manifest, consumer))
            if key not in answers:
                answers[key] = why_unreadable(bitcode[shown], libllvm=libllvm, pointers=key[1])
            reason = answers[key]
            if reason is not None:
                message = f"{shown}: {name} (libLLVM {consumer.llvm_major}, {key[1].value} pointers): {reason}"
                found.append(make_finding("EB039", message, library=shown))
    return Reading(findings=tuple(found), notes=notes)


def _pointer_mode(manifest: Manifest, consumer: Consumer) -> PointerMode:
    """Return the mode that the consumer reads in: that of the bitcode if it has a choice, which LLVM 17 took away."""
    if manifest.bitcode is not None and manifest.bitcode.pointers in consumer.pointers:
        return manifest.bitcode.pointers
    return consumer.pointers[0]
