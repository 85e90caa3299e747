"""Rules in formulas and blocks are tried as they are in the library: generated, compiled, attached."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from enzyme_build import pipeline
from enzyme_build.cli import main
from enzyme_build.rules.load import load_rules
from enzyme_build.toolchain import Toolchain, consumer
from support.enzyme import Enzyme
from support.library import build_library, native_library

NATIVE = """
#include <math.h>
double my_pow(double x, double y) { return pow(x, y); }
void my_square(const double *x, double *out) { *out = *x * *x; }
void squares(int n, const double *x, int incx, double *y) { for (int i = 0; i < n; i++) y[i] = x[i * incx] * x[i * incx]; }
int status(double x, double *y) { *y = 2 * x * x; return 0; }
void matvec(int n, const double *a, const double *x, double *y) {
  for (int i = 0; i < n; i++) { double s = 0; for (int j = 0; j < n; j++) s += a[i * n + j] * x[j]; y[i] = s; }
}
float multiply(float a, float b) { return a * b; }
double scaled(void *handle, double x) { return handle ? x * 3 : 0; }
"""
CODE = """
double my_pow(double x, double y); void my_square(const double *x, double *out);
void squares(int n, const double *x, int incx, double *y); int status(double x, double *y);
void matvec(int n, const double *a, const double *x, double *y);
float multiply(float a, float b); double scaled(void *handle, double x);
__attribute__((noinline)) double body(double x, double y) { return x * x * y; }
double kernel(double x) {
  double y, a[4] = {x, x, x, x}, b[2] = {x, x}, c[2];
  my_square(&x, &y); status(x, &y); squares(2, b, 1, c); matvec(2, a, b, c);
  return my_pow(x, y) + body(x, c[0]) + multiply(x, 2) + scaled(&y, x);
}
"""
RULES = '''
[[derivative]]
prototype = "double my_pow(double x, double y)"
partials = { x = "y * pow(x, y - 1)", y = "result * log(x)" }
[[derivative]]
prototype = "void my_square(const double *x, double *out)"
partials = { "out/x" = "2.0 * x" }
[[derivative]]
prototype = "void squares(int n, const double *x, int incx, double *y)"
shape = { x = "n, incx", y = "n" }
partials = { "y/x" = "2.0 * x" }
[derivative.test]
arguments = { n = 3, incx = 2 }
[[derivative]]
prototype = "int status(double x, double *y)"
partials = { "y/x" = "4.0 * x" }
[[derivative]]
prototype = "double body(double x, double y)"
partials = { x = "2 * x * y", y = "x * x" }
[[derivative]]
prototype = "float multiply(float a, float b)"
partials = { a = "b", b = "a" }
[[derivative]]
prototype = "double scaled(void *handle, double x)"
partials = { x = "3" }
[[derivative]]
prototype = "void matvec(int n, const double *a, const double *x, double *y)"
shape = { a = "n * n", x = "n", y = "n" }
vjp = """
for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) { d_a[i * n + j] += d_y[i] * x[j]; d_x[j] += d_y[i] * a[i * n + j]; }
"""
jvp = """
for (int i = 0; i < n; i++) {
    d_y[i] = 0;
    for (int j = 0; j < n; j++) d_y[i] += d_a[i * n + j] * x[j] + a[i * n + j] * d_x[j];
}
"""
'''
SYMBOLS = {"my_pow", "my_square", "squares", "status", "body", "multiply", "scaled", "matvec"}
# symbol: what is written, what is written instead, and a complaint that must come
MISTAKES = {
    "my_pow": ("result * log(x)", "-result * log(x)", "wrong-gradient", "the sign is wrong"),
    "my_square": (
        '2.0 * x" }\n[[derivative]]\nprototype = "void squares',
        '2 * 2.0 * x" }\n[[derivative]]\nprototype = "void squares',
        "wrong-gradient",
        "it is twice that",
    ),
    "squares": ('shape = { x = "n, incx", y = "n" }', 'shape = { x = "n", y = "n" }', "wrong-gradient", "x["),
    "status": ("4.0 * x", "2.0 * x", "wrong-tangent", "it is half of that"),
    "body": ('x = "2 * x * y", y = "x * x"', 'x = "x * x", y = "2 * x * y"', "wrong-gradient", "the adjoint of"),
    "multiply": ('a = "b", b = "a"', 'a = "b", b = "b"', "wrong-tangent", "the tangent of result"),
    "matvec": (
        "d_x[j] += d_y[i] * a[i * n + j]",
        "d_x[j] += d_y[i] * a[j * n + i]",
        "wrong-gradient",
        "the adjoint of x[",
    ),
}


def build(enzyme: Enzyme, toolchain: Toolchain, folder: Path, rules: str, *, typed: bool = False) -> Path:
    native = native_library(enzyme, folder / "native", "native", NATIVE)
    library = build_library(enzyme, folder, "kernel", {"kernel.c": CODE}, link=[native], typed=typed)
    (folder / "rules.toml").write_text(rules)
    options = pipeline.LibraryOptions(
        rules=load_rules(["rules.toml"], root=folder), consumers=(consumer("julia-1.10"),) if typed else ()
    )
    manifest = pipeline.finalize_library(library, options, toolchain=toolchain)
    assert [rule.problems for rule in manifest.rules] == [()] * len(manifest.rules)
    return library


def check(capsys: pytest.CaptureFixture[str], library: Path, *arguments: object) -> dict[tuple[str, int], dict]:
    code = main(["gradcheck", str(library), "--format", "json", *(str(argument) for argument in arguments)])
    written = capsys.readouterr()
    assert code in (0, 1), written.err
    report = json.loads(written.out)
    assert code == (0 if report["ok"] else 1)
    return {(rule["symbol"], rule["level"]): rule for rule in report["libraries"][0]["rules"]}


@pytest.mark.parametrize("typed", [False, True], ids=["opaque-pointers", "typed-pointers"])
def test_stated_rules_pass_by_themselves_and_by_enzyme(
    enzyme: Enzyme, toolchain_15: Toolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str], typed: bool
) -> None:
    library = build(enzyme, toolchain_15, tmp_path, RULES, typed=typed)
    found = check(capsys, library, "--plugin", enzyme.plugin, "--seeds", 5)
    assert set(found) == {(symbol, level) for symbol in SYMBOLS for level in (1, 2)}
    for rule in found.values():
        assert (rule["state"], rule["complaints"]) == ("passed", [])
        assert rule["modes"] == ["reverse", "forward"]
    assert "Enzyme's own derivative of the body agrees" in found["body", 2]["notes"][0]
    assert found["my_pow", 2]["notes"] == []  # it has no body


def test_stated_rules_pass_200_points(
    enzyme: Enzyme, toolchain_15: Toolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = build(enzyme, toolchain_15, tmp_path, RULES)
    found = check(capsys, library, "--no-plugin", "--seeds", 200)
    assert {rule["state"] for rule in found.values()} == {"passed"}
    assert {rule["seeds"] for rule in found.values()} == {200}


def test_wrong_statements_are_rejected(
    enzyme: Enzyme, toolchain_15: Toolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = RULES
    for right, wrong, _, _ in MISTAKES.values():
        assert rules.count(right) == 1, right
        rules = rules.replace(right, wrong)
    found = check(capsys, build(enzyme, toolchain_15, tmp_path, rules), "--no-plugin", "--seeds", 5)
    for symbol, (_, _, kind, words) in MISTAKES.items():
        rule = found[symbol, 1]
        assert rule["state"] == "failed", symbol
        texts = [complaint["text"] for complaint in rule["complaints"] if complaint["kind"] == kind]
        assert any(words in text for text in texts), rule["complaints"]
    assert found["scaled", 1]["state"] == "passed"
