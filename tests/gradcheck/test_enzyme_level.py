"""The second level: Enzyme's own derivative of a caller, with the rule and, where there is one, of the body."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rule_cases import ONE, PRELUDE, PRODUCT, RIGHT, SQUARE, SQUARE_PROTOTYPE, Case, case

from enzyme_build import pipeline
from enzyme_build.cli import main
from enzyme_build.rules.load import load_rules
from enzyme_build.toolchain import Toolchain
from support.enzyme import Enzyme
from support.library import build_library, native_library


def check(capsys: pytest.CaptureFixture[str], library: Path, *arguments: object) -> tuple[dict[str, dict], dict]:
    """Return the verdicts of the second level by symbol, and the report on the library."""
    code = main(["gradcheck", str(library), "--format", "json", *(str(argument) for argument in arguments)])
    written = capsys.readouterr()
    assert code in (0, 1), written.err
    library_report = json.loads(written.out)["libraries"][0]
    return {rule["symbol"]: rule for rule in library_report["rules"] if rule["level"] == 2}, library_report


def test_right_rules_pass_and_are_compared_with_the_body(
    enzyme: Enzyme, right: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, _ = check(capsys, right, "--plugin", enzyme.plugin, "--seeds", 3)
    assert set(found) == {each.name for each in RIGHT}
    for each in RIGHT:
        rule = found[each.name]
        assert (rule["state"], rule["complaints"]) == ("passed", []), each.name
        assert "Enzyme's own derivative of the body agrees within" in rule["notes"][0]
        assert "with the rule)" in rule["notes"][0]
        assert set(rule["nanoseconds"]) == {"primal", *rule["modes"]}


OPAQUE = case(
    "opaque",
    SQUARE_PROTOTYPE,
    SQUARE.replace(SQUARE.splitlines()[1], "void NAME(const double *x, double *out);"),
    test=ONE,
)


def test_the_rule_of_an_opaque_function_is_what_enzyme_uses(
    enzyme: Enzyme, toolchain_15: Toolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is no body that Enzyme could differentiate instead."""
    native = native_library(
        enzyme, tmp_path / "native", "opaque", "void opaque(const double *x, double *out) { *out = *x * *x; }"
    )
    text = PRELUDE + OPAQUE.code + "void kernel(double *x, double *out) { opaque(x, out); }"
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": text}, link=[native])
    (tmp_path / "rules.toml").write_text(OPAQUE.toml())
    options = pipeline.LibraryOptions(rules=load_rules(["rules.toml"], root=tmp_path))
    pipeline.finalize_library(library, options, toolchain=toolchain_15)
    found, report = check(capsys, library, "--plugin", enzyme.plugin, "--seeds", 5)
    assert (found["opaque"]["state"], found["opaque"]["notes"]) == ("passed", [])
    assert [rule["state"] for rule in report["rules"]] == ["passed", "passed"]


BLIND = case(
    "blind",
    "double NAME(const double *table, double x)",
    """
    __attribute__((noinline)) double NAME(const double *table, double x) { return table[0] * x; }
    double aug_NAME(const double *table, double *d_table, double x) { return NAME(table, x); }
    double grad_NAME(const double *table, double *d_table, double x, double seed) {
      if (d_table != table) d_table[0] += x * seed;
      return table[0] * seed;
    }
    """,
    forward=False,
    test="arguments = { table = { size = 1, kept = true } }",
)
BODY_BEYOND_ENZYME = case(
    "assembly",
    "double NAME(double x, double y)",
    PRODUCT,
    ("return x * x * sin(y); }", 'double z = y; __asm__ volatile("" : "+x"(z)); return x * x * sin(z); }'),
)


def test_a_promise_and_a_body_that_enzyme_cannot_differentiate(
    enzyme: Enzyme, make: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = make(tmp_path, [BLIND, BODY_BEYOND_ENZYME])
    found, _ = check(capsys, library, "--plugin", enzyme.plugin, "--seeds", 2)
    assert found["blind"]["state"] == "passed"
    assert found["assembly"]["state"] == "passed"
    assert "the body" in found["assembly"]["notes"][0]


INACTIVE_IN_FORWARD = Case(
    name="named",
    prototype="double named(const char *what, double x)",
    code="""
    double named(const char *what, double x);
    Pair fwd_named(const char *what, const char *d_what, double x, double d_x) { return (Pair){named(what, x), d_x}; }
    double kernel(double x) { return named("x", x); }
    """,
    reverse=False,
)


def test_what_enzyme_refuses_is_a_complaint_in_its_own_words(
    enzyme: Enzyme, toolchain_15: Toolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In forward mode no rule is used where a pointer is inactive, and an opaque function then has no derivative."""
    native = native_library(
        enzyme, tmp_path / "native", "named", "double named(const char *what, double x) { return *what ? x : 0; }"
    )
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": PRELUDE + INACTIVE_IN_FORWARD.code}, link=[native])
    (tmp_path / "rules.toml").write_text(INACTIVE_IN_FORWARD.toml())
    options = pipeline.LibraryOptions(rules=load_rules(["rules.toml"], root=tmp_path))
    pipeline.finalize_library(library, options, toolchain=toolchain_15)
    found, report = check(capsys, library, "--plugin", enzyme.plugin, "--seeds", 2)
    assert report["rules"][0]["state"] == "passed"
    rule = found["named"]
    assert rule["state"] == "failed"
    assert rule["complaints"][0]["kind"] == "enzyme"
    assert "No forward mode derivative found for" in rule["complaints"][0]["text"]


def test_rules_that_failed_are_not_given_to_enzyme(
    enzyme: Enzyme, wrong: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, report = check(capsys, wrong, "--plugin", enzyme.plugin, "--seeds", 2, "--symbol", "wrong_factor")
    assert found == {}
    assert [rule["level"] for rule in report["rules"]] == [1]


def test_a_plugin_of_another_llvm_is_a_note(
    enzyme: Enzyme, right: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = tmp_path / "LLVMEnzyme-99.so"
    plugin.write_bytes(b"")
    _, report = check(capsys, right, "--plugin", plugin, "--symbol", "square", "--seeds", 1)
    assert report["notes"] == [
        "Enzyme was not asked: no clang of LLVM 99 was found, which reads the bitcode of libcases.so"
    ]
