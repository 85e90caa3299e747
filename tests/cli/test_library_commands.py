"""`finalize`, `check`, `inspect`, `extract` and `find` on real libraries, from the command line to the exit code."""

from __future__ import annotations

import json
import os
import shutil
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from enzyme_build.cli import main
from enzyme_build.manifest import read_manifest
from support.enzyme import Enzyme
from support.library import build_library, native_library, run

KERNEL = {
    "kernel.c": """
        #include <math.h>
        void my_square(const double *x, double *out);
        double helper(double);
        double kernel(double x) { double y; my_square(&x, &y); return sin(y) * helper(x); }
        void augmented_my_square(const double *x, double *dx, double *out, double *dout) { my_square(x, out); }
        void gradient_my_square(const double *x, double *dx, double *out, double *dout)
        { *dx += 2 * *x * *dout; *dout = 0; }
        void tangent_my_square(const double *x, const double *dx, double *out, double *dout)
        { my_square(x, out); *dout = 2 * *x * *dx; }
    """,
    "helper.c": "__attribute__((noinline)) double helper(double x) { return x + 1; }",
}
RULE = """
[[derivative]]
prototype = "void my_square(const double *x, double *out)"
reverse = { augmented = "augmented_my_square", gradient = "gradient_my_square" }
forward = { tangent = "tangent_my_square" }
"""


@pytest.fixture(scope="module")
def raw(enzyme: Enzyme, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `libkernel.so`, not finalized, and the native library that it calls."""
    folder = tmp_path_factory.mktemp("raw")
    square = native_library(enzyme, folder, "my_square", "void my_square(const double *x, double *o) { *o = *x * *x; }")
    build_library(enzyme, folder, "kernel", KERNEL, flags=["-g"], link=[square])
    (folder / "rules").mkdir()
    (folder / "rules" / "my_square.toml").write_text(RULE)
    return folder


@pytest.fixture
def folder(raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it that is the current folder."""
    copy = Path(shutil.copytree(raw, tmp_path / "a copy with blanks"))
    monkeypatch.chdir(copy)
    monkeypatch.delenv("ENZYME_BUILD_DEBUG", raising=False)
    return copy


FINALIZE = ["finalize", "libkernel.so", "--search", ".", "--consumer", "llvm-15"]


def test_finalize_without_the_rule_fails_with_the_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(FINALIZE) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "error EB001 opaque symbol\n    my_square has neither bitcode nor a rule\n" in said.err
    assert " -> my_square\n    used by: augmented_my_square (" in said.err
    assert "kernel.c:5" in said.err
    assert "held by: libmy_square.so" in said.err


def test_finalize_with_the_rule_is_silent_and_can_be_repeated(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [*FINALIZE, "--rules", "rules/*.toml"]
    assert main(command) == 0
    library, manifest = folder / "libkernel.so", folder / "libkernel.so.enzymebc.json"
    before = library.stat().st_mtime_ns, manifest.read_bytes()
    assert read_manifest(manifest).symbols["my_square"].status == "rule"
    assert main(command) == 0
    assert (library.stat().st_mtime_ns, manifest.read_bytes()) == before
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")


def test_finalize_without_check(folder: Path) -> None:
    assert main([*FINALIZE, "--no-check"]) == 0
    assert read_manifest(folder / "libkernel.so.enzymebc.json").symbols["my_square"].status == "opaque"


def test_finalize_for_a_consumer_that_nobody_knows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FINALIZE, "--consumer", "julia-1.1"]) == 3
    assert "unknown consumer 'julia-1.1'" in capsys.readouterr().err
    assert not (folder / "libkernel.so.enzymebc.json").exists()


def test_finalize_with_named_roots(folder: Path) -> None:
    assert main([*FINALIZE, "--root", "help*"]) == 0
    assert read_manifest(folder / "libkernel.so.enzymebc.json").roots == ("helper",)


def test_finalize_with_a_misspelt_root(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FINALIZE, "--root", "helpr"]) == 1
    assert "no function is named 'helpr'; did you mean 'helper'?" in capsys.readouterr().err


def test_finalize_native_only(folder: Path) -> None:
    assert main(["finalize", "libmy_square.so", "--native-only"]) == 0
    assert read_manifest(folder / "libmy_square.so.enzymebc.json").native


def test_finalize_what_is_no_library(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["finalize", "rules/my_square.toml"]) == 3
    assert "not an ELF file but text" in capsys.readouterr().err


def test_check_prints_on_standard_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FINALIZE, "--no-check"]) == 0
    assert main(["check", "libkernel.so"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("libkernel.so\n  error EB001")
    assert said.err == ""
    assert "\x1b" not in said.out


def test_check_of_a_clean_library_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FINALIZE, "--rules", "rules/*.toml"]) == 0
    assert main(["check", "."]) == 0
    assert capsys.readouterr().out == "checked 1 library and 1 native only, 3 symbols reached: no findings\n"


def test_check_as_json_to_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FINALIZE, "--no-check"]) == 0
    assert main(["check", "libkernel.so", "--format", "json", "--output", "report.json"]) == 1
    assert capsys.readouterr().out == ""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    schema = resources.files("enzyme_build.resources").joinpath("report.schema.json").read_text("utf-8")
    jsonschema.validate(report, json.loads(schema))
    assert [finding["symbol"] for finding in report["findings"]] == ["my_square"]


def test_check_with_a_mode_and_a_level(folder: Path) -> None:
    reverse_only = RULE.replace('forward = { tangent = "tangent_my_square" }', "")
    (folder / "rules" / "my_square.toml").write_text(reverse_only)
    assert main([*FINALIZE, "--rules", "rules/*.toml"]) == 0  # a warning
    assert main(["check", "libkernel.so"]) == 0
    assert main(["check", "libkernel.so", "--fail-on", "warning"]) == 1
    assert main(["check", "libkernel.so", "--mode", "reverse", "--fail-on", "warning"]) == 0
    assert main(["check", "libkernel.so", "--mode", "forward"]) == 1
    assert main(["check", "libkernel.so", "--mode", "forward", "--fail-on", "never"]) == 0


def test_check_needs_no_compiler(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([*FINALIZE, "--rules", "rules/*.toml"]) == 0
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.setenv("ENZYME_BUILD_LLVM", "/nowhere")
    assert main(["check", "libkernel.so"]) == 0


def test_check_of_a_path_that_is_not_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "none.so"]) == 2
    assert capsys.readouterr().err.startswith("enzyme-build: none.so: no such file or folder\n")


def test_inspect_before_and_after(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "libkernel.so"]) == 0
    said = capsys.readouterr().out
    assert "bitcode    2 modules" in said
    assert ".llvmcmd   present" in said
    assert "manifest   none" in said
    assert main([*FINALIZE, "--rules", "rules/*.toml"]) == 0
    assert main(["inspect", "libkernel.so"]) == 0
    said = capsys.readouterr().out
    assert "bitcode    1 module," in said
    assert ".llvmcmd" not in said
    assert "made from  2 modules, optimised with " in said


def test_inspect_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FINALIZE, "--rules", "rules/*.toml"]) == 0
    assert main(["inspect", "--json", "libkernel.so"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["bitcode"]["modules"] == 1
    assert document["manifest"]["matches"] is True
    assert "kernel" in document["exported"]
    assert "my_square" in document["undefined"]
    assert main(["inspect", "--json", "libmy_square.so"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["bitcode"], document["manifest"]) == (None, None)


def test_extract_several_modules_and_one(folder: Path, enzyme: Enzyme, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["extract", "libkernel.so"]) == 0
    assert capsys.readouterr().out.split() == ["libkernel.so.1.bc", "libkernel.so.2.bc"]
    for file in ("libkernel.so.1.bc", "libkernel.so.2.bc"):
        run(enzyme.opt, "-passes=verify", "-disable-output", folder / file)
    assert main(["extract", "libkernel.so", "--output", "all.bc"]) == 2
    assert "2 modules do not fit in one file all.bc" in capsys.readouterr().err
    assert main([*FINALIZE, "--rules", "rules/*.toml"]) == 0
    assert main(["extract", "libkernel.so", "--output", "all.bc"]) == 0
    run(enzyme.opt, "-passes=verify", "-disable-output", folder / "all.bc")


def test_extract_from_a_library_without_bitcode(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["extract", "libmy_square.so"]) == 3
    assert "the library has no section .llvmbc" in capsys.readouterr().err


def test_find(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["find", "my_square", "."]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "libkernel.so: uses my_square",
        "libmy_square.so: defines my_square; no bitcode in the library",
    ]
    assert main(["find", "kernel", "libkernel.so"]) == 0
    assert "the library holds bitcode that was not finalized" in capsys.readouterr().out
    assert main([*FINALIZE, "--rules", "rules/*.toml"]) == 0
    assert main(["find", "kernel", "libkernel.so"]) == 0
    assert capsys.readouterr().out == "libkernel.so: defines kernel; with bitcode\n"


def test_find_what_nobody_defines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["find", "nothing", "."]) == 1
    assert capsys.readouterr().out == "no library here defines 'nothing'\n"
    assert main(["find", "sin", "libkernel.so"]) == 1
    assert "it is only used" in capsys.readouterr().out
    assert main(["find", "x", "nowhere"]) == 2
