"""The C that is generated for stated derivatives: what it says, that compilers take it, where their errors point."""

from __future__ import annotations

import difflib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from enzyme_build._run import capture
from enzyme_build.codegen.compile_rules import compile_rules
from enzyme_build.codegen.derivative import FILE_NAME, GeneratedSource, render_derivatives
from enzyme_build.errors import RuleError
from enzyme_build.model import PointerMode
from enzyme_build.rules.load import load_rules
from enzyme_build.rules.model import RuleSet
from enzyme_build.toolchain import Toolchain, consumer, find_toolchain

if TYPE_CHECKING:
    from support.enzyme import Enzyme

GOLDEN = Path(__file__).parent / "derivative"
EXAMPLES = sorted(GOLDEN.glob("*.toml"))
STRICT = ("-Wall", "-Wextra", "-Werror")


def render(path: Path) -> GeneratedSource:
    source = render_derivatives(load_rules([path.name], root=path.parent))
    assert source is not None
    return source


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_golden(path: Path) -> None:
    found = render(path).text
    expected_path = path.with_suffix(".c")
    expected = expected_path.read_text(encoding="utf-8") if expected_path.exists() else ""
    difference = "\n".join(
        difflib.unified_diff(expected.splitlines(), found.splitlines(), "expected", "found", lineterm="")
    )
    how = f"PYTHONPATH=. python {Path(__file__).relative_to(Path(__file__).parents[2])}"
    assert found == expected, f"if the new text is right, update all of them with `{how}`:\n{difference}"


@pytest.fixture(scope="module")
def compilers(enzyme: Enzyme) -> list[Path | str]:
    return [enzyme.clang, find_toolchain().clang, "gcc"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_golden_compiles_without_a_warning(compilers: list[Path | str], tmp_path: Path, path: Path) -> None:
    for compiler in dict.fromkeys(compilers):
        source = path.with_suffix(".c")
        capture([compiler, *STRICT, f"-I{GOLDEN}", "-O1", "-c", source, "-o", tmp_path / "rules.o"])


def test_every_golden_has_a_rule_file() -> None:
    assert {path.stem for path in GOLDEN.glob("*.c")} == {path.stem for path in EXAMPLES}


def test_no_stated_derivative_is_no_file(tmp_path: Path) -> None:
    assert render_derivatives(RuleSet()) is None
    (tmp_path / "rules.toml").write_text("[[derivative]]\nfunction = 'f'\nforward.tangent = 'g'\n")
    assert render_derivatives(load_rules(["rules.toml"], root=tmp_path)) is None


def test_rules_know_their_lines() -> None:
    source = render(GOLDEN / "members.toml")
    first, second = source.rules
    assert (first.index, first.function, second.index, second.function) == (0, "rotate", 1, "spread")
    lines = source.text.splitlines()
    assert lines[first.first_line - 1] == "/* rotate: members.toml:1: derivative[0] */"
    assert lines[second.last_line - 1] == "}"
    assert source.rule_at(first.last_line) == first
    assert source.rule_at(1) is None


def test_a_rule_that_needs_no_value_has_no_tape() -> None:
    text = render(GOLDEN / "scalar_without_tape.toml").text
    assert "malloc" not in text
    assert re.search(r"void __enzymebc_augmented_twice\(", text)
    assert "void *memory" not in text


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return find_toolchain([consumer("julia-1.10")])


@pytest.mark.parametrize("pointers", PointerMode)
def test_compile(toolchain: Toolchain, tmp_path: Path, pointers: PointerMode) -> None:
    output = compile_rules(
        render(GOLDEN / "members.toml"),
        toolchain=toolchain,
        pointers=pointers,
        output=tmp_path / "rules.bc",
        include_directories=[GOLDEN],
    )
    assert output.read_bytes().startswith(b"BC\xc0\xde")
    assert (tmp_path / FILE_NAME).exists()


def compile_text(folder: Path, toolchain: Toolchain, text: str) -> RuleError:
    (folder / "rules.toml").write_text(text, encoding="utf-8")
    source = render(folder / "rules.toml")
    with pytest.raises(RuleError) as caught:
        compile_rules(source, toolchain=toolchain, pointers=PointerMode.OPAQUE, output=folder / "rules.bc")
    return caught.value


def test_an_error_in_a_block_points_into_the_rule_file(toolchain: Toolchain, tmp_path: Path) -> None:
    error = compile_text(
        tmp_path,
        toolchain,
        '[[derivative]]\nprototype = "double f(double x)"\njvp = "d_result = d_x;"\n'
        'vjp = """\nd_x += d_result;\nd_x += dx;\n"""\n',
    )
    assert "rules.toml:6:8: error: use of undeclared identifier 'dx'" in error.message
    assert error.hint == "the places are those of the rule file"


def test_an_error_elsewhere_names_the_rule(toolchain: Toolchain, tmp_path: Path) -> None:
    error = compile_text(
        tmp_path,
        toolchain,
        '[[derivative]]\nprototype = "double f(double x)"\npartials = { x = "1" }\n'
        '[[derivative]]\nprototype = "double g(const struct point *p)"\npartials = { "p.x" = "1" }\n',
    )
    assert "rules.toml:4: derivative[1]: the C code generated for 'g' does not compile" in error.message
    assert "derivative[0]" not in error.message
    assert "name the headers that define them in 'include'" in str(error)


if __name__ == "__main__":  # write the expected files anew
    for example in EXAMPLES:
        example.with_suffix(".c").write_text(render(example).text, encoding="utf-8")
        sys.stdout.write(f"{example.with_suffix('.c').name}\n")
