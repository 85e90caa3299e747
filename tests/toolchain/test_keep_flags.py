"""Which of gcc's flags reach clang."""

from __future__ import annotations

import sysconfig

import pytest

from enzyme_build import _run
from enzyme_build.toolchain import Toolchain, drop_harmful_flags, keep_accepted_flags


def test_flags_that_clang_refuses_or_ignores_are_dropped_with_its_reason(each_toolchain: Toolchain):
    flags = (
        "-Wall -O3 -mno-fused-madd -fuse-linker-plugin -fno-semantic-interposition -fno-plt -fstack-clash-protection "
        "-fcf-protection -isystem /usr/include -Wno-maybe-uninitialized -fno-var-tracking-assignments -Wl,-O1 -L/lib"
    )
    choice = keep_accepted_flags(each_toolchain, flags.split(), language="c")
    kept = (
        "-Wall -O3 -fno-semantic-interposition -fno-plt -fstack-clash-protection -fcf-protection -isystem /usr/include"
    )
    assert set(kept.split()) <= set(choice.kept)
    dropped = {flag.flag: flag.reason for flag in choice.dropped}
    assert dropped["-mno-fused-madd"] == "unknown argument: '-mno-fused-madd'"
    assert dropped["-fuse-linker-plugin"] == "optimization flag '-fuse-linker-plugin' is not supported"
    assert dropped["-Wl,-O1"] == "'linker' input unused"
    assert dropped["-L/lib"] == "argument unused during compilation: '-L/lib'"
    assert "-fno-var-tracking-assignments" in dropped
    assert not set(choice.kept) & set(dropped)


def test_what_is_kept_compiles_without_a_word(each_toolchain: Toolchain, tmp_path):
    choice = keep_accepted_flags(each_toolchain, ["-fuse-linker-plugin", "-O2", "-Wall", "-fno-plt"], language="c++")
    source = tmp_path / "a.cpp"
    source.write_text("int x;\n")
    done = _run.capture([*each_toolchain.command("c++"), *choice.kept, "-c", source, "-o", tmp_path / "a.o"])
    assert (done.stdout, done.stderr) == ("", "")
    assert choice.kept == ("-O2", "-Wall", "-fno-plt")


def test_when_all_are_accepted_clang_runs_once(each_toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch):
    runs = []
    real = _run.capture
    monkeypatch.setattr(_run, "capture", lambda command, **more: runs.append(command) or real(command, **more))
    flags = ["-O2", "-DONCE", "-I", "somewhere", "-std=c11"]
    assert keep_accepted_flags(each_toolchain, flags, language="c").kept == tuple(flags)
    assert keep_accepted_flags(each_toolchain, flags, language="c").dropped == ()
    assert len(runs) == 1


def test_a_complaint_that_names_no_flag_is_found_by_halving(each_toolchain: Toolchain):
    # clang quotes only a part of these: the value of -std, the file of -include
    flags = ["-O2", "-std=c99000", "-g", "-include", "no such file.h", "-Wall"]
    choice = keep_accepted_flags(each_toolchain, flags, language="c")
    assert choice.kept == ("-O2", "-g", "-Wall")
    assert [flag.flag for flag in choice.dropped] == ["-std=c99000", "-include no such file.h"]


@pytest.mark.parametrize(
    "flag",
    [
        "-flto", "-flto=thin", "-flto=auto", "-flto-partition=none", "-ffat-lto-objects",
        "-fembed-bitcode", "-fembed-bitcode=all",
        "-fsanitize=address", "-fsanitize=undefined,integer", "-fsanitize-coverage=trace-pc", "--coverage",
        "-fprofile-arcs", "-fprofile-instr-generate", "-ftest-coverage", "-fcoverage-mapping", "-finstrument-functions",
        "-finstrument-functions-after-inlining", "-pg", "-fmath-errno",
        "-D_FORTIFY_SOURCE=2", "-D_FORTIFY_SOURCE", "-Wp,-D_FORTIFY_SOURCE=3",
    ],
)  # fmt: skip
def test_flags_that_spoil_bitcode_are_always_dropped(flag: str):
    choice = drop_harmful_flags(["-O2", flag])
    assert choice.kept == ("-O2",)
    assert choice.dropped[0].flag == flag
    assert choice.dropped[0].reason


@pytest.mark.parametrize(
    "flag",
    [
        "-fno-lto",
        "-fno-sanitize=all",
        "-U_FORTIFY_SOURCE",
        "-D_FORTIFY_SOURCES",
        "-fno-profile-arcs",
        "-fno-math-errno",
        "-g",
    ],
)
def test_their_harmless_neighbours_are_kept(flag: str):
    assert drop_harmful_flags([flag]).kept == (flag,)


def test_a_harmful_definition_in_two_arguments_is_dropped_whole():
    choice = drop_harmful_flags(["-D", "_FORTIFY_SOURCE=2", "-D", "NDEBUG"])
    assert choice.kept == ("-D", "NDEBUG")
    assert choice.dropped[0].flag == "-D _FORTIFY_SOURCE=2"


def test_the_flags_of_this_python_can_be_used(each_toolchain: Toolchain):
    flags = str(sysconfig.get_config_var("CFLAGS")).split()
    choice = keep_accepted_flags(each_toolchain, flags, language="c")
    assert choice.kept
    assert not [flag for flag in choice.kept if flag.startswith(("-flto", "-fprofile"))]
