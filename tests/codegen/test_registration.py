"""The registration C file: what it says, that compilers take it, that Enzyme's plugin does what it says."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from enzyme_build._run import capture
from enzyme_build.codegen.registration import render_registration
from enzyme_build.errors import RuleError
from enzyme_build.rules.load import load_rules

if TYPE_CHECKING:
    from support.enzyme import Enzyme

GOLDEN = Path(__file__).parent / "golden"
EXAMPLES = sorted(GOLDEN.glob("*.toml"))
STRICT = ("-Wall", "-Wextra", "-Werror")


def render(folder: Path, text: str, **options: object) -> str:
    (folder / "rules.toml").write_text(text, encoding="utf-8")
    return render_registration(load_rules(["rules.toml"], root=folder), **options)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_golden(path: Path) -> None:
    found = render_registration(load_rules([path.name], root=GOLDEN))
    expected_path = path.with_suffix(".c")
    expected = expected_path.read_text(encoding="utf-8") if expected_path.exists() else ""
    difference = "\n".join(
        difflib.unified_diff(expected.splitlines(), found.splitlines(), "expected", "found", lineterm="")
    )
    how = (
        f"cd {GOLDEN.relative_to(GOLDEN.parents[2])} && enzyme-build rules generate {path.name} -o {expected_path.name}"
    )
    assert found == expected, f"if the new text is right, update it with `{how}`:\n{difference}"


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.c")), ids=lambda path: path.stem)
@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_golden_compiles_without_a_warning(enzyme: Enzyme, tmp_path: Path, path: Path, compiler: str) -> None:
    program = enzyme.clang if compiler == "clang" else "gcc"
    capture([program, *STRICT, "-c", path, "-o", tmp_path / "rules.o"])


def test_plugin_reads_every_global(enzyme: Enzyme, tmp_path: Path) -> None:
    bitcode = tmp_path / "rules.bc"
    capture([enzyme.clang, "-O1", "-emit-llvm", "-c", GOLDEN / "every_kind.c", "-o", bitcode])
    passes = "-passes=preserve-nvvm,enzyme,preserve-nvvm-end"
    module = capture([enzyme.opt, "-load-pass-plugin", enzyme.plugin, passes, "-S", bitcode, "-o", "-"]).stdout
    assert "__enzyme_" not in module  # each global was understood and taken away
    attributes = dict(re.findall(r"^attributes (#\d+) = \{ (.*) \}$", module, re.MULTILINE))
    metadata = dict(re.findall(r"^(!\d+) = (!\{.*\})$", module, re.MULTILINE))

    def declaration(name: str) -> str:
        (line,) = re.findall(
            rf"^(?:declare|@){'' if name.startswith('@') else '.*@'}{name.lstrip('@')}\b.*$", module, re.MULTILINE
        )
        return re.sub(r"#\d+|!\d+", lambda match: attributes.get(match[0]) or metadata.get(match[0], match[0]), line)

    square = declaration("my_square")
    assert "!enzyme_augment !{ptr @augmented_my_square}" in square
    assert "!enzyme_gradient !{ptr @gradient_my_square}" in square
    assert "!enzyme_derivative !{ptr @tangent_my_square}" in square
    assert "nofree" in declaration("log_step")
    assert '"enzyme_inactive"' in declaration("log_step")
    assert "!enzyme_inactive" in declaration("@verbosity")
    assert '"enzyme_math"="sin"' in declaration("fast_sin")
    take = declaration("pool_take")
    assert '"enzyme_allocator"="1" "enzyme_deallocator"="-1,2,0"' in take
    assert "!enzyme_deallocator_fn !{ptr @pool_give}" in take
    assert '"enzyme_math"="free"' in declaration("pool_give")
    assert "nofree" in declaration("checksum")
    assert '"enzyme_inactive"' not in declaration("checksum")


PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
extern int enzyme_dup;
double __enzyme_autodiff(void *, ...);
double __enzyme_fwddiff(void *, ...);

void my_square(const double *x, double *out);
double *augmented_my_square(const double *x, double *d_x, double *out, double *d_out) {
    double *tape = malloc(sizeof *tape);
    (void)d_x; (void)d_out;
    *tape = *x;
    my_square(x, out);
    return tape;
}
void gradient_my_square(const double *x, double *d_x, double *out, double *d_out, double *tape) {
    (void)x; (void)out;
    *d_x += 200.0 * *tape * *d_out;  /* a hundredfold: the number shows that the rule was used */
    *d_out = 0.0;
    free(tape);
}
void tangent_my_square(const double *x, const double *d_x, double *out, double *d_out) {
    my_square(x, out);
    *d_out = 200.0 * *x * *d_x;
}
static void kernel(const double *x, double *out) { my_square(x, out); }
int main(void) {
    double x = 3.0, d_x = 0.0, out = 0.0, d_out = 1.0;
    __enzyme_autodiff((void *)kernel, &x, &d_x, &out, &d_out);
    double reverse = d_x;
    d_x = 1.0;
    __enzyme_fwddiff((void *)kernel, &x, &d_x, &out, &d_out);
    printf("%g %g\\n", reverse, d_out);
    return 0;
}
__attribute__((noinline)) void my_square(const double *x, double *out) { *out = *x * *x; }
"""

RULE = """
[[derivative]]
{named}
reverse = {{ augmented = "augmented_my_square", gradient = "gradient_my_square" }}
forward = {{ tangent = "tangent_my_square" }}
"""


def numbers(enzyme: Enzyme, folder: Path, source: str) -> list[float]:
    (folder / "program.c").write_text(source)
    compiled, derived, program = folder / "a.bc", folder / "b.bc", folder / "program"
    capture([enzyme.clang, "-O1", "-fno-math-errno", "-emit-llvm", "-c", folder / "program.c", "-o", compiled])
    passes = "-passes=preserve-nvvm,enzyme,preserve-nvvm-end"
    capture([enzyme.opt, "-load-pass-plugin", enzyme.plugin, passes, compiled, "-o", derived])
    capture([enzyme.clang, "-O1", derived, "-o", program])
    return [float(word) for word in capture([program]).stdout.split()]


@pytest.mark.parametrize(
    "named",
    ['function = "my_square"', 'prototype = "void my_square(const double *x, double *out)"'],
    ids=["name", "prototype"],
)
def test_derivative_comes_from_the_rule_when_the_file_is_included(enzyme: Enzyme, tmp_path: Path, named: str) -> None:
    text = render(tmp_path, RULE.format(named=named))
    (tmp_path / "rules.c").write_text(text)
    assert numbers(enzyme, tmp_path, PROGRAM + '#include "rules.c"\n') == [600.0, 600.0]


def test_derivative_comes_from_the_body_without_the_file(enzyme: Enzyme, tmp_path: Path) -> None:
    assert numbers(enzyme, tmp_path, PROGRAM) == [6.0, 6.0]


def test_a_wrong_prototype_is_seen_by_the_compiler(enzyme: Enzyme, tmp_path: Path) -> None:
    text = render(tmp_path, RULE.format(named='prototype = "void my_square(const float *x, double *out)"'))
    (tmp_path / "rules.c").write_text(PROGRAM + text)
    completed = capture([enzyme.clang, "-c", tmp_path / "rules.c", "-o", tmp_path / "rules.o"], check=False)
    assert completed.code
    assert "conflicting types for 'my_square'" in completed.stderr


def test_suffix_lets_two_files_meet_in_one_program(enzyme: Enzyme, tmp_path: Path) -> None:
    objects = []
    for suffix in ("one", "two"):
        source = tmp_path / f"{suffix}.c"
        source.write_text(render(tmp_path, "[[inactive]]\nfunction = 'puts'\n", suffix=suffix))
        assert f"__enzyme_inactivefn_puts_{suffix} = " in source.read_text()
        objects.append(source.with_suffix(".o"))
        capture([enzyme.clang, *STRICT, "-c", source, "-o", objects[-1]])
    capture([enzyme.clang, "-r", *objects, "-o", tmp_path / "both.o"])


def test_demangled_names_need_the_symbol(tmp_path: Path) -> None:
    rule = "[[inactive]]\nfunction = 'ns::f(double)'\n"
    with pytest.raises(RuleError) as caught:
        render(tmp_path, rule)
    assert caught.value.problems == ("rules.toml:1: inactive[0]: 'ns::f(double)' is no name of an object file",)
    assert caught.value.hint == "write the mangled name, which `nm` shows, in the rule"
    resolved = render(tmp_path, rule, symbols={"ns::f(double)": "_ZN2ns1fEd"})
    assert 'extern void enzymebc__ZN2ns1fEd(void) __asm__("_ZN2ns1fEd");' in resolved


def test_no_rules_are_an_empty_file(enzyme: Enzyme, tmp_path: Path) -> None:
    (tmp_path / "rules.c").write_text(render(tmp_path, "", header="Nothing here."))
    assert (tmp_path / "rules.c").read_text() == "/*\n * Nothing here.\n */\n"
    capture([enzyme.clang, *STRICT, "-c", tmp_path / "rules.c", "-o", tmp_path / "rules.o"])


def test_a_stated_derivative_has_no_registration(tmp_path: Path) -> None:
    with pytest.raises(RuleError) as caught:
        render(tmp_path, "[[derivative]]\nprototype = 'double f(double x)'\npartials = { x = '1' }\n")
    assert caught.value.problems == (
        "rules.toml:1: derivative[0]: a stated derivative needs a function in the place of 'f'",
    )
    assert caught.value.hint == (
        "finalize puts it there; for Enzyme's plugin of clang write C functions and name them in the rule"
    )


def test_a_pattern_has_no_registration(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match=r"rules\.toml:1: inactive\[0\]: 'log_\*' is a pattern, which only a library"):
        render(tmp_path, "[[inactive]]\nfunction = 'log_*'\n")
