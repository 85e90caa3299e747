"""`enzyme-build check`: formats, settings of the project, baseline, and exit codes, each as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from enzyme_build.cli import main
from enzyme_build.pipeline import LibraryOptions, finalize_library
from enzyme_build.toolchain import consumer, find_toolchain
from support.enzyme import Enzyme
from support.library import build_library, native_library

KERNEL = "double square(double x);\ndouble kernel(double x) { return square(x); }\n"


@pytest.fixture(scope="module")
def library(enzyme: Enzyme, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with one opaque function."""
    folder = tmp_path_factory.mktemp("made")
    native = native_library(enzyme, folder / "native", "square", "double square(double x) { return x * x; }")
    made = build_library(enzyme, folder / "own", "kernel", {"kernel.c": KERNEL}, flags=["-g"], link=[native])
    options = LibraryOptions(consumers=(consumer("llvm-15"),), search=(native.parent,))
    finalize_library(made, options, toolchain=find_toolchain(setting=str(enzyme.clang)))
    return made


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a project without settings."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "start"),
    [
        ("text", "/"),
        ("json", "{"),
        ("sarif", '{\n  "$schema"'),
        ("junit", "<?xml"),
        ("github", "::error "),
        ("html", "<!DOCTYPE html>"),
    ],
)
def test_each_format_goes_to_the_output_and_the_code_tells(
    library: Path, elsewhere: Path, kind: str, start: str
) -> None:
    assert main(["check", str(library), "--format", kind, "--output", "report"]) == 1
    assert (elsewhere / "report").read_text("utf-8").startswith(start)


def test_a_page_besides_the_text(library: Path, elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(library), "--html", "report.html", "--fail-on", "never"]) == 0
    assert "error EB001 opaque symbol" in capsys.readouterr().out
    assert "<svg class=" in (elsewhere / "report.html").read_text("utf-8")


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--explain", "eb001"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("EB001 opaque symbol (error)\n  why: ")
    assert main(["check", "--explain", "all"]) == 0
    assert "EB031  error    variable that Enzyme cannot make a shadow for\n" in capsys.readouterr().out
    assert main(["check", "--explain", "EB0011"]) == 2
    assert "no finding is called 'EB0011'; did you mean 'EB" in capsys.readouterr().err


def test_nothing_named_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"]) == 2
    assert "nothing to check is named" in capsys.readouterr().err


def test_select_and_ignore(library: Path) -> None:
    assert main(["check", str(library), "--ignore", "EB002,EB001"]) == 0
    assert main(["check", str(library), "--select", "EB00?"]) == 1
    assert main(["check", str(library), "--select", "EB9*"]) == 3


def test_the_settings_of_the_project_count_unless_told_otherwise(library: Path, elsewhere: Path) -> None:
    settings = elsewhere / "pyproject.toml"
    settings.write_text('[tool.enzyme-build.check]\nlevels = { EB001 = "warning" }\n')
    assert main(["check", str(library)]) == 0
    assert main(["check", str(library), "--no-config"]) == 1
    assert main(["check", str(library), "--fail-on", "warning"]) == 1
    settings.write_text(
        '[tool.enzyme-build.check]\nwaivers = [{ symbol = "square", reason = "x", expires = "2999-01-01" }]\n'
    )
    assert main(["check", str(library)]) == 0
    settings.write_text('[tool.enzyme-build.check]\nlevels = { EB001 = "loud" }\n')
    assert main(["check", str(library)]) == 3


def test_a_baseline_lets_what_is_known_pass(library: Path, elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(library), "--write-baseline", "known.json"]) == 0
    assert json.loads((elsewhere / "known.json").read_text())["findings"] == [
        {"about": "square", "id": "EB001", "library": "libkernel.so"}
    ]
    capsys.readouterr()
    assert main(["check", str(library), "--baseline", "known.json"]) == 0
    assert "no new findings (1 in the baseline)" in capsys.readouterr().out
    assert main(["check", str(library), "--baseline", "none.json"]) == 3


def test_the_readers_are_asked(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(library), "--parse", "--select", "EB039"]) == 0
    assert "no findings" in capsys.readouterr().out
