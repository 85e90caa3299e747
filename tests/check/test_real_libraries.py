"""The check on libraries that nobody here wrote, from the source archives of PyPI: libastro (of ephem) and qhull."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from enzyme_build.check import known
from enzyme_build.check.run import check_paths
from enzyme_build.check.status import is_intrinsic
from enzyme_build.elf import read_section
from enzyme_build.manifest import manifest_path, read_manifest
from enzyme_build.pipeline import LibraryOptions, finalize_library
from enzyme_build.toolchain import consumer, find_toolchain
from support.enzyme import Enzyme
from support.library import EMBED, run


@dataclass(frozen=True)
class Source:
    """A source archive on PyPI, and where in it the C files of the library are."""

    requirement: str
    folder: str
    minimum: int  # exported functions, so that a build of nothing is noticed
    opaque: tuple[str, ...]  # some that are known to be


SOURCES = [
    Source("ephem==4.2.1", "libastro", 100, ("strcspn", "strncpy")),
    Source("pyhull==2015.2.1", "src/libqhull", 300, ("qsort",)),
]


def fetch(source: Source, work: Path) -> Path:
    """Return the folder with the C files, downloading the archive when it is not there."""
    work.mkdir(parents=True, exist_ok=True)
    name = source.requirement.replace("==", "-")
    if not (work / f"{name}.tar.gz").exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*command, "--dest", str(work), source.requirement], check=True)
    if not (work / name).exists():
        with tarfile.open(work / f"{name}.tar.gz") as archive:
            archive.extractall(work, filter="data")
    return work / name / source.folder


def build(folder: Path, enzyme: Enzyme, target: Path) -> Path:
    def compile_one(path: Path) -> Path:
        compiler = [
            enzyme.clang,
            "-O2",
            "-g",
            "-w",
            "-fno-math-errno",
            "-fPIC",
            *EMBED,
            f"-I{folder}",
            f"-I{folder.parent}",
        ]
        run(*compiler, "-c", path, "-o", target / f"{path.stem}.o")
        return target / f"{path.stem}.o"

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compile_one, sorted(folder.glob("*.c"))))
    library = target / "libreal.so"
    run(enzyme.clang, "-shared", "-o", library, *objects, "-lm")
    return library


def undefined(library: Path, enzyme: Enzyme, folder: Path) -> set[str]:
    """Return what llvm-nm says that the merged module wants."""
    bitcode = folder / "module.bc"
    bitcode.write_bytes(read_section(library, ".llvmbc") or b"")
    command = [enzyme.llvm_tool("llvm-nm"), "--undefined-only", "--just-symbol-name", bitcode]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.strip() for line in said.splitlines() if line.strip()}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.requirement)
def test_the_list_is_that_of_llvm_nm(source: Source, enzyme: Enzyme, work_folder: Path, tmp_path: Path) -> None:
    folder = fetch(source, work_folder / "sources")
    library = build(folder, enzyme, tmp_path)
    options = LibraryOptions(consumers=(consumer("llvm-15"),))
    finalize_library(library, options, toolchain=find_toolchain(setting=str(enzyme.clang)))
    start = time.perf_counter()
    verdict = check_paths([library])
    seconds = time.perf_counter() - start
    manifest = read_manifest(manifest_path(library))
    wanted = {name for name in undefined(library, enzyme, tmp_path) if not is_intrinsic(name)}
    ours = {
        name
        for name, record in manifest.symbols.items()
        if not is_intrinsic(name) and record.status != "bitcode" and not record.exported
    }
    assert ours == wanted
    assert len(manifest.roots) >= source.minimum
    opaque = {name for name in wanted if manifest.symbols[name].status == "opaque"}
    assert opaque >= set(source.opaque)
    assert opaque == {
        name
        for name in wanted
        if manifest.symbols[name].kind == "function"
        and manifest.symbols[name].detail != "called only where the program does not come back"
        and not ((found := known.lookup(name)) and found.modes)
    } | {name for name in opaque if manifest.symbols[name].kind == "variable"}
    told = {finding.symbol for finding in verdict.findings if finding.id in ("EB001", "EB014")}
    noted = " ".join(note for library in verdict.summary.libraries for note in library.notes)
    assert all(name in told or re.search(rf"\b{name}\b|more", noted) for name in opaque)
    assert told <= opaque
    # generous: these machines are noisy; tests/benchmark_check.py measures
    assert seconds / len(manifest.symbols) * 10_000 < 20
    assert all(finding.callers for finding in verdict.findings if finding.id == "EB001")
    lines = [str(caller.location) for finding in verdict.findings for caller in finding.callers if caller.location]
    assert any(re.search(r"\.c:\d+$", line) for line in lines)
