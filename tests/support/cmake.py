"""Run CMake on real projects, as a user does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from enzyme_build.elf import read_elf, read_section
from enzyme_build.manifest import Manifest, manifest_path, read_manifest
from support import commands


class Done(commands.Done):
    """What a command printed."""

    def failed(self) -> str:
        """Return the output of a command that had to fail, on one line: CMake wraps its messages."""
        return " ".join(super().failed().split())


def run(*command: object, cwd: Path | None = None, environment: Mapping[str, str] | None = None) -> Done:
    done = commands.run(*command, cwd=cwd, environment=environment)
    return Done(done.code, done.output)


@dataclass(frozen=True)
class CMakeBuild:
    """A source folder and its build folder."""

    source: Path
    folder: Path
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    cmake: str = "cmake"

    def configure(self, *options: object) -> Done:
        command = (self.cmake, "-S", self.source, "-B", self.folder, *self.options, *options)
        return run(*command, environment=self.environment)

    def build(self, *options: object) -> Done:
        return run(self.cmake, "--build", self.folder, *options, environment=self.environment)

    def explained(self) -> Done:
        """Build with ninja's own reasons for what it does."""
        return run("ninja", "-d", "explain", "-C", self.folder, environment=self.environment)

    def test(self, *options: object) -> Done:
        return run("ctest", "--output-on-failure", *options, cwd=self.folder, environment=self.environment)

    def install(self, prefix: Path, *options: object) -> Done:
        command = (self.cmake, "--install", self.folder, "--prefix", prefix, *options)
        return run(*command, environment=self.environment)

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.source / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} is not once in {name}"
        path.write_text(text.replace(old, new), encoding="utf-8")


def manifest_of(library: Path) -> Manifest:
    return read_manifest(manifest_path(library))


def bitcode_sources(library: Path) -> tuple[str, ...]:
    """Return the sources in the finished module of a library whose manifest describes it."""
    manifest, elf = manifest_of(library), read_elf(library)
    assert manifest.bitcode is not None
    assert manifest.library.section_sha256 == elf.section_sha256
    assert read_section(library, ".llvmbc")
    assert not elf.has_command_section
    return manifest.bitcode.sources


def compile_commands(build: CMakeBuild) -> list[dict[str, str]]:
    return json.loads((build.folder / "compile_commands.json").read_text(encoding="utf-8"))
