"""The examples of docs/rules.md load, and the page speaks of every kind and key."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, get_args, get_type_hints

import msgspec
import pytest

from enzyme_build._run import capture
from enzyme_build.cli import main
from enzyme_build.codegen.registration import render_registration
from enzyme_build.pipeline import LibraryOptions, finalize_library
from enzyme_build.rules.documents import RuleDocument
from enzyme_build.rules.load import load_rules
from enzyme_build.rules.patterns import expand_patterns
from enzyme_build.toolchain import consumer, find_toolchain
from support.library import build_library

if TYPE_CHECKING:
    from support.enzyme import Enzyme

PAGE = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
STATED = re.findall(r"^```toml stated\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FUNCTIONS = re.findall(r"^```c function\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
C_EXAMPLES = re.findall(r"^```c\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 10
    assert len(C_EXAMPLES) == 2


@pytest.mark.parametrize("text", EXAMPLES, ids=range(len(EXAMPLES)))
def test_example_loads_and_renders(tmp_path: Path, text: str) -> None:
    (tmp_path / "example.toml").write_text(text, encoding="utf-8")
    names = {"trace_a", "trace_b", "my_dgemm_"}
    rules = expand_patterns(load_rules(["example.toml"], root=tmp_path), names)
    assert rules.rules
    symbols = {"ns::log_state(double)": "_ZN2ns9log_stateEd"}
    assert "__enzyme_" in render_registration(rules, symbols=symbols)


@pytest.mark.parametrize("text", C_EXAMPLES, ids=range(len(C_EXAMPLES)))
def test_c_example_compiles(tmp_path: Path, text: str) -> None:
    source = "#include <stdlib.h>\nvoid my_square(const double *x, double *out);\n" + text
    (tmp_path / "example.c").write_text(source)
    flags = ("-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror")
    capture(["cc", *flags, "-c", "example.c", "-o", "example.o"], cwd=tmp_path)


HOST = """
extern int enzyme_dup;
double __enzyme_autodiff(void *, ...);
double __enzyme_fwddiff(void *, ...);
static void kernel(const double *x, double *out) { my_square(x, out); }
int main(void) {
    double x = 3.0, d_x = 0.0, out = 0.0, d_out = 1.0, tangent = 1.0;
    __enzyme_autodiff((void *)kernel, &x, &d_x, &out, &d_out);
    __enzyme_fwddiff((void *)kernel, &x, &tangent, &out, &d_out);
    printf("%g %g\\n", d_x, d_out);
    return 0;
}
__attribute__((noinline)) void my_square(const double *x, double *out) { *out = *x * *x; }
"""


def test_c_example_differentiates(enzyme: Enzyme, tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(next(text for text in EXAMPLES if "forward" in text))
    registration = render_registration(load_rules(["rules.toml"], root=tmp_path))
    start = "#include <stdio.h>\n#include <stdlib.h>\nvoid my_square(const double *x, double *out);\n"
    rule = C_EXAMPLES[0].replace("2.0 *", "200.0 *")  # so that the number tells the rule from the body
    (tmp_path / "a.c").write_text(start + rule + HOST + registration)
    capture([enzyme.clang, "-O1", "-fno-math-errno", "-emit-llvm", "-c", "a.c", "-o", "a.bc"], cwd=tmp_path)
    passes = "-passes=preserve-nvvm,enzyme,preserve-nvvm-end"
    capture([enzyme.opt, "-load-pass-plugin", enzyme.plugin, passes, "a.bc", "-o", "b.bc"], cwd=tmp_path)
    capture([enzyme.clang, "-O1", "b.bc", "-o", "a.out"], cwd=tmp_path)
    assert capture([tmp_path / "a.out"]).stdout == "600 600\n"


def test_the_page_has_every_kind_and_key() -> None:
    kinds = get_type_hints(RuleDocument)
    for kind in msgspec.structs.fields(RuleDocument):
        assert f"`[[{kind.encode_name}]]`" in PAGE
        for key in msgspec.structs.fields(get_args(kinds[kind.name])[0]):
            assert re.search(rf"`{key.encode_name}[`.]", PAGE), f"{kind.encode_name}.{key.encode_name} is not explained"


SPRING = "struct spring { double stiffness, length; };\n"


@pytest.fixture(scope="module")
def stated(enzyme: Enzyme, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of the functions on the page, finalized with all stated rules on it."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "spring.h").write_text("#ifndef SPRING\n#define SPRING\n" + SPRING + "#endif\n")
    (folder / "rules.toml").write_text("\n".join(STATED))
    text = "#include <math.h>\n" + "\n".join(FUNCTIONS)
    library = build_library(enzyme, folder, "page", {"page.c": text}, flags=[f"-I{folder}"])
    rules = load_rules(["rules.toml"], root=folder)
    reader = consumer("llvm-15")
    options = LibraryOptions(consumers=(reader,), rules=rules, include_directories=(folder,))
    manifest = finalize_library(library, options, toolchain=find_toolchain([reader]))
    assert len(manifest.rules) == len(rules.rules) > len(STATED)
    assert [rule.problems for rule in manifest.rules if rule.problems] == []
    return library


def test_stated_examples_are_right(
    stated: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CPATH", str(stated.parent))
    code = main(["gradcheck", str(stated), "--no-plugin", "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert code == 0, json.dumps(report, indent=1)


def test_gradcheck_would_tell_if_they_were_not(
    enzyme: Enzyme, stated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = STATED[0].replace("y * pow", "2 * y * pow")
    assert wrong != STATED[0]
    (tmp_path / "rules.toml").write_text(wrong)
    library = build_library(enzyme, tmp_path, "page", {"page.c": "#include <math.h>\n" + FUNCTIONS[0]})
    reader = consumer("llvm-15")
    options = LibraryOptions(consumers=(reader,), rules=load_rules(["rules.toml"], root=tmp_path))
    finalize_library(library, options, toolchain=find_toolchain([reader]))
    assert main(["gradcheck", str(library), "--no-plugin"]) == 1
    assert "my_pow" in capsys.readouterr().out
