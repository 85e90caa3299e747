"""Bitcode beside what another compiler makes: reading its command, leaving out what clang does not know, joining."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

from enzyme_build.compile.companion import read_command
from enzyme_build.elf import read_section
from enzyme_build.finalize.split import split_modules
from support.commands import run


@pytest.fixture
def wrap(tmp_path, enzyme):
    """A function that runs `enzyme-build wrap` in a folder with a source."""
    (tmp_path / "a.c").write_text("double twice(double x) { return 2.0 * x; }\n")

    def execute(*command, **environment):
        wrapper = (sys.executable, "-m", "enzyme_build", "wrap", "--clang", enzyme.clang, "--")
        return run(*wrapper, *command, cwd=tmp_path, environment=environment)

    return execute


def test_a_command_is_taken_apart():
    command = "ccache gcc -DX=1 -I inc -O2 -MD -MT a.o -MF a.o.d -o out/a.o -c src/a.c -Wall"
    found = read_command(shlex.split(command))
    assert found is not None
    assert found.launcher == ("ccache",)
    assert (found.source, found.output, found.language) == ("src/a.c", Path("out/a.o"), "c")
    assert found.arguments == ("-DX=1", "-I", "inc", "-O2", "-Wall")


@pytest.mark.parametrize(
    ("command", "language"),
    [
        ("gcc -c a.cpp -o a.o", "c++"),
        ("g++ -x c++ -c a.c -o a.o", "c++"),
        ("gcc -include cmake_pch.c -c a.c -o a.o", "c"),
        ("gcc @flags.rsp -c a.c -o a.o", "c"),
    ],
)
def test_the_language(command, language):
    found = read_command(command.split())
    assert found is not None
    assert found.language == language


@pytest.mark.parametrize(
    "command",
    [
        "gcc a.o b.o -o program",
        "gcc -E a.c -o a.i -c",
        "gcc -S a.c -o a.s",
        "gcc -M -c a.c -o a.d",
        "gcc -c a.c b.c",
        "gcc -c a.S -o a.o",
        "gcc -x c++-header -c a.hxx -o a.hxx.gch",
        "gcc --version",
    ],
)
def test_other_commands_have_no_bitcode(command):
    assert read_command(command.split()) is None


def test_the_object_is_gcc_s_and_holds_a_module(wrap, tmp_path):
    wrap("gcc", "-O2", "-fPIC", "-fno-tree-vectorize", "-fconserve-stack", "-c", "a.c", "-o", "a.o").ok()
    run("gcc", "-shared", "-o", tmp_path / "a.so", tmp_path / "a.o").ok()
    assert len(split_modules(read_section(tmp_path / "a.so", ".llvmbc") or b"", shown="a.so")) == 1
    assert "GCC: (" in run("readelf", "--string-dump=.comment", tmp_path / "a.o").ok()


def test_a_source_that_does_not_compile_is_the_compiler_s_affair(wrap, tmp_path):
    (tmp_path / "a.c").write_text("double twice(double x) { return 2.0 * y; }\n")
    done = wrap("gcc", "-c", "a.c", "-o", "a.o", LC_ALL="C")
    assert done.code == 1
    assert "error: 'y' undeclared" in done.failed()
    assert "clang" not in done.output
    assert not (tmp_path / "a.o").exists()


def test_a_source_that_only_the_compiler_takes_leaves_no_object(wrap, tmp_path):
    (tmp_path / "a.c").write_text("double f(double x) { double g(void) { return x; } return g(); }\n")
    said = wrap("gcc", "-c", "a.c", "-o", "a.o").failed()
    assert "a.c compiles, but clang" in said
    assert "hint: " in said
    assert not (tmp_path / "a.o").exists()


def test_a_command_without_a_compile_just_runs(wrap):
    assert "gcc" in wrap("gcc", "--version").ok().lower()
    assert wrap("sh", "-c", "exit 7").code == 7
    assert "there is no command to run" in wrap().failed()
    assert os.sep not in wrap("no-such-compiler", "-c", "a.c", "-o", "a.o").failed().partition("hint")[0]
