from __future__ import annotations

import sys

import pytest

from enzyme_build.check.stanza import (
    brief_name,
    derivative_stanza,
    guess_prototype,
    inactive_global_stanza,
    inactive_stanza,
)
from enzyme_build.rules.prototype import parse_prototype

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@pytest.mark.parametrize(
    ("kind", "prototype"),
    [
        ("double (double)", "double f(double a0)"),
        ("void ()", "void f(void)"),
        ("void (double*, i64, i8*)", "void f(double *a0, long a1, void *a2)"),
        ("void (ptr, ptr)", "void f(double *a0, double *a1)"),
        ("double** (float**)", "double **f(float **a0)"),
        ("x86_fp80 (i1, i8, i16, i32)", "long double f(_Bool a0, char a1, short a2, int a3)"),
    ],
)
def test_a_prototype_is_guessed_that_the_rule_parser_reads(kind: str, prototype: str) -> None:
    assert guess_prototype("f", kind) == prototype
    assert parse_prototype(prototype).name == "f"


@pytest.mark.parametrize(
    "kind",
    ["void (i32, ...)", "{ double, double } (double)", "void (<2 x double>)", "void (void (double)*)", "void ([2 x i64])",
     "void (%struct.point*)", "i128 (i128)"],
)  # fmt: skip
def test_no_prototype_is_guessed_where_c_cannot_tell_it(kind: str) -> None:
    assert guess_prototype("f", kind) is None


def test_a_mangled_name_gets_no_c_prototype() -> None:
    assert guess_prototype("_ZN3geo3farEd", "double (double)") is None


def test_the_stanza_is_toml_with_a_rule() -> None:
    table = tomllib.loads(derivative_stanza("my_square", "void (ptr, ptr)"))["derivative"][0]
    assert table["prototype"] == "void my_square(double *a0, double *a1)"
    assert table["reverse"] == {"augmented": "augmented_my_square", "gradient": "gradient_my_square"}
    assert table["forward"] == {"tangent": "tangent_my_square"}


def test_the_commented_choice_is_toml_as_well() -> None:
    text = derivative_stanza("f", None)
    uncommented = "\n".join(line.removeprefix("# ") for line in text.splitlines()[-2:])
    assert tomllib.loads(uncommented) == {"inactive": [{"function": "f"}]}


def test_a_cxx_function_gets_readable_names() -> None:
    table = tomllib.loads(derivative_stanza("_ZN3geo3farEd", "double (double)", spoken="geo::far(double)"))
    assert table["derivative"][0]["function"] == "_ZN3geo3farEd"
    assert table["derivative"][0]["forward"] == {"tangent": "tangent_far"}


def test_other_stanzas() -> None:
    assert tomllib.loads(inactive_stanza("log_step")) == {"inactive": [{"function": "log_step"}]}
    assert tomllib.loads(inactive_global_stanza("table")) == {"inactive-global": [{"variable": "table"}]}


@pytest.mark.parametrize(
    ("spoken", "brief"),
    [
        ("geo::far(double)", "geo::far"),
        ("std::vector<double, std::allocator<double> >::push_back(double const&)", "std::vector<...>::push_back"),
        ("double scaled<double>(double)", "scaled<...>"),
        ("(anonymous namespace)::inner(int)", "{anonymous}::inner"),
        ("geo::operator<<(std::ostream&, int)", "geo::operator<<"),
        ("plain_c", "plain_c"),
    ],
)
def test_long_names_are_cut(spoken: str, brief: str) -> None:
    assert brief_name(spoken) == brief
