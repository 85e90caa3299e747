"""`enzyme-build rules` and `enzyme-build schema`, as functions of their arguments."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from enzyme_build.cli import rules, schema
from enzyme_build.errors import EnzymeBuildError, ManifestError, RuleError, UsageError
from enzyme_build.pipeline import LibraryOptions, finalize_library
from enzyme_build.toolchain import consumer, find_toolchain
from support.library import build_library

if TYPE_CHECKING:
    from types import ModuleType

    from support.enzyme import Enzyme


def run(module: ModuleType, *words: str) -> int:
    parser = argparse.ArgumentParser()
    module.configure(parser)
    return module.execute(parser.parse_args(words))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.toml").write_text("[[inactive]]\nfunction = 'log_step'\n")
    (tmp_path / "bad.toml").write_text("[[inactive]]\nfunktion = 'log_step'\n")
    (tmp_path / "hopeless.toml").write_text(
        "[[derivative]]\nprototype = 'int f(double *x, ...)'\n"
        "reverse = { augmented = 'augmented_f', gradient = 'gradient_f' }\n"
    )
    return tmp_path


def test_check_of_right_rules(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(rules, "check", "good.toml") == 0
    assert capsys.readouterr().out == "1 rule in 1 file: no problem found\n"


def test_check_of_wrong_rules(folder: Path) -> None:
    with pytest.raises(RuleError) as caught:
        run(rules, "check", "good.toml", "bad.toml", "missing.toml")
    assert caught.value.problems == (
        "bad.toml:1: inactive[0].funktion: unknown key; did you mean 'function'?",
        "missing.toml: cannot be read: No such file or directory",
    )
    assert caught.value.exit_code == 3


def test_check_of_rules_that_cannot_work(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(rules, "check", "good.toml", "hopeless.toml") == 1
    lines = capsys.readouterr().out.splitlines()
    place = "hopeless.toml:1: derivative[0]: EB011: f (int f(double *x, ...))"
    assert lines[0] == f"{place} is variadic, and Enzyme cannot call a rule for it"
    assert lines[2] == f"{place} returns an integer, and no reverse rule works for such a function"
    assert lines[3].startswith("  fix: let a noinline function")


def test_generate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(rules, "generate", "good.toml") == 0
    printed = capsys.readouterr().out
    assert "void *__enzyme_inactivefn_log_step = " in printed
    assert run(rules, "generate", "good.toml", "-o", "rules.c") == 0
    assert capsys.readouterr().out == ""
    assert (folder / "rules.c").read_text() == printed


def test_generate_with_a_suffix(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(rules, "generate", "good.toml", "--suffix", "kernel") == 0
    assert "void *__enzyme_inactivefn_log_step_kernel = " in capsys.readouterr().out
    with pytest.raises(UsageError, match="--suffix: 'a-b' cannot be part of a C name"):
        run(rules, "generate", "good.toml", "--suffix", "a-b")


def test_generate_leaves_nothing_behind_when_rules_are_wrong(folder: Path) -> None:
    with pytest.raises(RuleError):
        run(rules, "generate", "bad.toml", "-o", "rules.c")
    assert not (folder / "rules.c").exists()


def test_generate_into_a_folder_that_is_not_there(folder: Path) -> None:
    with pytest.raises(EnzymeBuildError, match=r"out/rules\.c: cannot be written: No such file or directory"):
        run(rules, "generate", "good.toml", "-o", "out/rules.c")


def test_an_action_is_needed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run(rules)
    assert caught.value.code == 2
    assert "ACTION" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("document", "title"),
    [("config", "[tool.enzyme-build]"), ("rules", "enzyme-build rules"), ("manifest", "enzymebc-manifest/1")],
)
def test_schema(document: str, title: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(schema, document) == 0
    assert json.loads(capsys.readouterr().out)["title"] == title


def test_schema_of_an_unknown_document(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run(schema, "wheel")
    assert caught.value.code == 2
    assert "invalid choice: 'wheel'" in capsys.readouterr().err


HOST = """
double slope(double x, const double *w);
double helper(double);
extern int flags;
void fill(int n, double x, double *out);
double kernel(double x, double *out) { fill(flags, x, out); return slope(x, out) + helper(x); }
"""
NATIVE = """
struct state { int n; };
int flags = 3;
double slope(double x, const double *w) { return x * w[0]; }
void fill(int n, double x, double *out) { for (int i = 0; i < n; i++) out[i] = x; }
double helper(double x) { return x; }
"""


def build(enzyme: Enzyme, folder: Path, *flags: str) -> Path:
    native = build_library(enzyme, folder, "native", {"native.c": NATIVE}, embed=(), flags=flags)
    library = build_library(enzyme, folder, "kernel", {"kernel.c": HOST}, link=[native])
    reader = consumer("llvm-15")
    finalize_library(library, LibraryOptions(consumers=(reader,)), toolchain=find_toolchain([reader]))
    return library


@pytest.fixture(scope="module")
def finalized(enzyme: Enzyme, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(enzyme, tmp_path_factory.mktemp("init"), "-g")


def test_init_takes_prototypes_from_debug_information(finalized: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(rules, "init", str(finalized)) == 0
    text = capsys.readouterr().out
    assert all(line.startswith("#") or not line for line in text.splitlines())
    assert "## slope: used by kernel; its machine code is in libnative.so" in text
    assert "## the prototype is that of the debug information in libnative.so" in text
    assert '# prototype = "double slope(double x, const double *w)"' in text
    assert '# partials = { x = "...", w = "..." }' in text
    assert '# partials = { "out/x" = "..." }' in text
    assert '# shape = { out = "..." }' in text


def test_init_guesses_from_types_without_debug_information(
    enzyme: Enzyme, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(rules, "init", str(build(enzyme, tmp_path))) == 0
    text = capsys.readouterr().out
    assert "## the prototype is guessed from the type 'double (double)' in the bitcode: compare it with" in text
    assert '# prototype = "double helper(double a0)"' in text


def test_a_finished_draft_is_a_rule_file(
    finalized: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(rules, "init", str(finalized), "-o", "draft.toml") == 0
    draft = tmp_path / "draft.toml"
    assert run(rules, "check", "draft.toml") == 0
    assert capsys.readouterr().out.startswith("0 rules in 1 file")
    text = re.sub("^# (?!function|\\[\\[ina)", "", draft.read_text(), flags=re.MULTILINE)
    with pytest.raises(RuleError, match="not C"):  # a formula that nobody wrote is no rule
        draft.write_text(text)
        run(rules, "check", "draft.toml")
    draft.write_text(
        text.replace('out = "..."', 'out = "n"').replace('w = "..." }  ', 'w = "1" }').replace('"..."', '"1"')
    )
    assert run(rules, "check", "draft.toml") == 0
    with pytest.raises(EnzymeBuildError, match=r"draft\.toml: cannot be written: File exists"):
        run(rules, "init", str(finalized), "-o", "draft.toml")


def test_init_needs_a_manifest(finalized: Path) -> None:
    with pytest.raises(ManifestError, match=r"there is no manifest libnative\.so\.enzymebc\.json beside it"):
        run(rules, "init", str(finalized.with_name("libnative.so")))
