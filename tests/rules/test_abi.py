"""Each line of Enzyme's rule convention, once as it must be and once as it must not be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from ir_text import function, functions_of

from enzyme_build._run import capture
from enzyme_build.model import Origin
from enzyme_build.rules.abi import (
    allocation_problems,
    declared_problems,
    forward_problems,
    prototype_problems,
    reverse_problems,
)
from enzyme_build.rules.model import AllocationRule, DerivativeRule
from enzyme_build.rules.prototype import parse_prototype
from enzyme_build.rules.spelling import spell_augmented, spell_gradient, spell_tangent

if TYPE_CHECKING:
    from pathlib import Path

    from support.enzyme import Enzyme

REVERSE_FITS = [
    # (a) pointers, with and without tape
    ("void (ptr, ptr)", "ptr (ptr, ptr, ptr, ptr)", "void (ptr, ptr, ptr, ptr, ptr)"),
    ("void (ptr, ptr)", "void (ptr, ptr, ptr, ptr)", "void (ptr, ptr, ptr, ptr)"),
    # whole-value tapes that are no pointer
    ("void (ptr, ptr)", "double (ptr, ptr, ptr, ptr)", "void (ptr, ptr, ptr, ptr, double)"),
    ("void (ptr, ptr)", "i64 (ptr, ptr, ptr, ptr)", "void (ptr, ptr, ptr, ptr, i64)"),
    ("void (ptr, ptr)", "[2 x i64] (ptr, ptr, ptr, ptr)", "void (ptr, ptr, ptr, ptr, [2 x i64])"),
    # typed pointers: what they point to is of no matter
    (
        "void (double*, double*)",
        "i8* (double*, double*, double*, double*)",
        "void (double*, double*, double*, double*, double*)",
    ),
    ("double (double)", "{ i8*, double } (double)", "double (double, double, double*)"),
    ("double* (double*)", "{ double*, double* } (double*, i8*)", "void (i8*, double*)"),
    # (b) one scalar
    ("double (double)", "double (double)", "double (double, double)"),
    ("double (double)", "double (double)", "{ double } (double, double)"),
    ("double (double)", "{ ptr, double } (double)", "double (double, double, ptr)"),
    ("double (double)", "{ i64, double } (double)", "double (double, double, i64)"),
    ("double (double)", "{ float, double } (double)", "double (double, double, float)"),
    ("double (double)", "{ ptr, double, double } (double)", "double (double, double, ptr)"),
    ("double (double)", "{ double, double } (double)", "double (double, double)"),
    ("x86_fp80 (x86_fp80)", "x86_fp80 (x86_fp80)", "x86_fp80 (x86_fp80, x86_fp80)"),
    # (c, i) several scalars
    ("double (double, double)", "double (double, double)", "{ double, double } (double, double, double)"),
    (
        "double (double, float, double)",
        "double (double, float, double)",
        "{ double, float, double } (double, float, double, double)",
    ),
    # (d) integers are doubled
    ("double (ptr, i32)", "double (ptr, ptr, i32, i32)", "void (ptr, ptr, i32, i32, double)"),
    ("void (i1, i8, i64)", "void (i1, i1, i8, i8, i64, i64)", "void (i1, i1, i8, i8, i64, i64)"),
    # (g) sret and byval are pointers with a shadow right behind
    ("void (ptr sret, ptr)", "void (ptr, ptr, ptr, ptr)", "void (ptr, ptr, ptr, ptr)"),
    ("double (ptr byval)", "double (ptr, ptr)", "void (ptr, ptr, double)"),
    # (h) pointer returned
    ("ptr (ptr, i32)", "{ ptr, ptr } (ptr, ptr, i32, i32)", "void (ptr, ptr, i32, i32)"),
    ("ptr (ptr, i32)", "{ ptr, ptr, ptr } (ptr, ptr, i32, i32)", "void (ptr, ptr, i32, i32, ptr)"),
    # mixed
    ("void (double, ptr, ptr)", "void (double, ptr, ptr, ptr, ptr)", "double (double, ptr, ptr, ptr, ptr)"),
    # a struct returned whole, which only hand-written IR can take
    ("{ double, double } (double)", "{ double, double } (double)", "double (double, { double, double })"),
    ("void ()", "void ()", "void ()"),
]


@pytest.mark.parametrize(("primal", "augmented", "gradient"), REVERSE_FITS)
def test_reverse_rule_fits(primal: str, augmented: str, gradient: str) -> None:
    assert reverse_problems(function(primal), function(augmented), function(gradient)) == ()


REVERSE_MISFITS = [
    # arity and types
    (
        "void (ptr, ptr)",
        "void (ptr, ptr)",
        "void (ptr, ptr, ptr, ptr)",
        "augmented does not fit f: it takes 2 parameters, 4 are needed",
    ),
    (
        "void (ptr, ptr)",
        "void (ptr, ptr, ptr, ptr)",
        "void (ptr, ptr)",
        "gradient does not fit f: it takes 2 parameters, 4 are needed",
    ),
    (
        "double (double)",
        "double (float)",
        "double (double, double)",
        "augmented does not fit f: parameter 0 is 'float', 'double' is needed",
    ),
    (
        "double (double)",
        "double (double)",
        "double (float, double)",
        "gradient does not fit f: parameter 0 is 'float', 'double' is needed",
    ),
    (
        "double (ptr, i32)",
        "double (ptr, ptr, i32, i64)",
        "void (ptr, ptr, i32, i32, double)",
        "parameter 3 is 'i64', 'i32' is needed",
    ),
    # integers need their second copy, scalars have none
    (
        "double (ptr, i32)",
        "double (ptr, ptr, i32)",
        "void (ptr, ptr, i32, i32, double)",
        "it takes 3 parameters, 4 are needed",
    ),
    (
        "double (double)",
        "double (double, double)",
        "double (double, double)",
        "augmented does not fit f: a floating-point scalar has no shadow parameter",
    ),
    (
        "double (double, ptr)",
        "double (double, ptr, ptr)",
        "double (double, double, ptr, ptr, double)",
        "gradient does not fit f: a floating-point scalar has no shadow parameter; its adjoint is returned",
    ),
    # sret and byval need their shadows
    (
        "void (ptr sret, ptr)",
        "void (ptr, ptr, ptr)",
        "void (ptr, ptr, ptr, ptr)",
        "augmented does not fit f: it takes 3 parameters, 4 are needed",
    ),
    (
        "double (ptr byval)",
        "double (ptr, ptr)",
        "void (ptr, double)",
        "gradient does not fit f: it takes 2 parameters, 3 are needed",
    ),
    # the tape: present in both or in none, of one type
    (
        "void (ptr)",
        "ptr (ptr, ptr)",
        "void (ptr, ptr)",
        "gradient does not fit f: it takes no tape, and augmented returns one, 'ptr'",
    ),
    (
        "void (ptr)",
        "void (ptr, ptr)",
        "void (ptr, ptr, ptr)",
        "gradient does not fit f: it takes a tape, 'ptr', and augmented returns none",
    ),
    (
        "void (ptr)",
        "ptr (ptr, ptr)",
        "void (ptr, ptr, i64)",
        "gradient does not fit f: its tape is 'i64', and augmented returns 'ptr'",
    ),
    (
        "double (double)",
        "{ double, double } (double)",
        "double (double, double, double)",
        "it takes a tape, 'double', and augmented returns none (two members of one type are the result and its shadow)",
    ),
    # what the augmented function returns
    (
        "double (double)",
        "void (double)",
        "double (double, double)",
        "it must return the result 'double': Enzyme calls it in the function's place",
    ),
    (
        "double (double)",
        "ptr (double)",
        "double (double, double, ptr)",
        "Enzyme takes all of 'ptr' for the tape, and the result 'double' is missing",
    ),
    (
        "double (double)",
        "{ double, ptr } (double)",
        "double (double, double, ptr)",
        "augmented does not fit f: the tape comes first, then the result",
    ),
    (
        "double (double)",
        "{ ptr, float } (double)",
        "double (double, double, ptr)",
        "Enzyme looks for the result 'double' in the second member of '{ ptr, float }'",
    ),
    (
        "double (double)",
        "{ ptr, ptr } (double)",
        "double (double, double, ptr)",
        "Enzyme looks for the result 'double' in the second member of '{ ptr, ptr }'",
    ),
    (
        "double (double)",
        "{ ptr, ptr, double } (double)",
        "double (double, double, ptr)",
        "Enzyme reads '{ ptr, ptr, double }' as tape, result and shadow",
    ),
    (
        "double (double)",
        "[2 x i64] (double)",
        "double (double, double, ptr)",
        "this target returns the struct as '[2 x i64]', all of which Enzyme takes for the tape",
    ),
    (
        "double (double)",
        "<2 x float> (double)",
        "double (double, double, ptr)",
        "this target returns the struct as '<2 x float>'",
    ),
    (
        "double (double)",
        "void (ptr sret, double)",
        "double (double, double, ptr)",
        "augmented does not fit f: its struct is returned through memory (sret)",
    ),
    (
        "void (ptr)",
        "{ double, double } (ptr, ptr)",
        "void (ptr, ptr)",
        "in '{ double, double }', and the function returns 'void'; return the tape as a pointer",
    ),
    ("void (ptr)", "{ i64, ptr } (ptr, ptr)", "void (ptr, ptr, i64)", "Enzyme looks for a result in '{ i64, ptr }'"),
    ("ptr (ptr)", "ptr (ptr, ptr)", "void (ptr, ptr)", "it must return the pointer and the shadow of that pointer"),
    (
        "ptr (ptr)",
        "{ i64, ptr } (ptr, ptr)",
        "void (ptr, ptr, i64)",
        "it must return the pointer and the shadow of that pointer",
    ),
    ("ptr (ptr)", "void (ptr, ptr)", "void (ptr, ptr)", "it must return the pointer and the shadow of that pointer"),
    # with typed pointers these are two types, hence tape and result
    (
        "double* (i8*)",
        "{ i8*, double* } (i8*, i8*)",
        "void (i8*, i8*, i8*)",
        "it must return the pointer and the shadow of that pointer",
    ),
    # the adjoint of the result
    ("double (double)", "double (double)", "double (double, float)", "parameter 1 is 'float', 'double' is needed"),
    (
        "double (ptr)",
        "double (ptr, ptr)",
        "void (double, ptr, ptr)",
        "the adjoint of the result, 'double', comes after all parameters, not first",
    ),
    (
        "double (ptr)",
        "double (ptr, ptr)",
        "void (ptr, ptr)",
        "it does not take the adjoint of the result, 'double', after the parameters",
    ),
    (
        "double (double)",
        "{ ptr, double } (double)",
        "double (double, ptr, double)",
        "parameter 1 is 'ptr', 'double' is needed",
    ),
    # what the gradient returns
    (
        "double (double)",
        "double (double)",
        "void (double, double)",
        "it must return the adjoints of the floating-point scalars, 'double', not 'void'",
    ),
    ("double (double)", "double (double)", "float (double, double)", "'double', not 'float'"),
    (
        "double (double, double)",
        "double (double, double)",
        "double (double, double, double)",
        "'{ double, double }', not 'double'",
    ),
    (
        "float (float, float)",
        "float (float, float)",
        "<2 x float> (float, float, float)",
        "this target returns the struct as '<2 x float>', in which Enzyme finds no adjoints '{ float, float }'",
    ),
    (
        "double (double, double)",
        "double (double, double)",
        "[2 x double] (double, double, double)",
        "this target returns the struct as '[2 x double]'",
    ),
    (
        "double (double, double, double)",
        "double (double, double, double)",
        "void (ptr sret, double, double, double, double)",
        "gradient does not fit f: its struct is returned through memory (sret)",
    ),
    (
        "void (ptr)",
        "void (ptr, ptr)",
        "i32 (ptr, ptr)",
        "it must return nothing: there is no floating-point scalar among the parameters",
    ),
    # variadic rule functions
    ("void (ptr)", "void (ptr, ptr, ...)", "void (ptr, ptr)", "augmented does not fit f: it is variadic"),
    ("void (ptr)", "void (ptr, ptr)", "void (ptr, ptr, ...)", "gradient does not fit f: it is variadic"),
]


@pytest.mark.parametrize(("primal", "augmented", "gradient", "message"), REVERSE_MISFITS)
def test_reverse_rule_does_not_fit(primal: str, augmented: str, gradient: str, message: str) -> None:
    problems = reverse_problems(function(primal), function(augmented), function(gradient), primal_name="f")
    assert len(problems) == 1
    (problem,) = problems
    assert problem.finding == "EB010"
    assert message in problem.text


FORWARD_FITS = [
    ("void (ptr, ptr)", "void (ptr, ptr, ptr, ptr)"),
    ("double (double)", "{ double, double } (double, double)"),
    ("double (double, double)", "{ double, double } (double, double, double, double)"),
    ("double (ptr, i32)", "{ double, double } (ptr, ptr, i32, i32)"),
    ("float (float)", "{ float, float } (float, float)"),
    ("void (ptr sret, ptr)", "void (ptr, ptr, ptr, ptr)"),
    ("ptr (ptr, i32)", "{ ptr, ptr } (ptr, ptr, i32, i32)"),
    ("double* (double*)", "{ double*, i8* } (double*, i8*)"),
    ("i32 (ptr)", "void (ptr, ptr)"),
    ("{ double, double } (double)", "{ { double, double }, { double, double } } (double, double)"),
]


@pytest.mark.parametrize(("primal", "tangent"), FORWARD_FITS)
def test_forward_rule_fits(primal: str, tangent: str) -> None:
    assert forward_problems(function(primal), function(tangent)) == ()


FORWARD_MISFITS = [
    ("void (ptr, ptr)", "void (ptr, ptr)", "it takes 2 parameters, 4 are needed"),
    ("double (double)", "{ double, double } (double)", "it takes 1 parameters, 2 are needed"),
    ("double (double)", "{ double, double } (double, float)", "parameter 1 is 'float', 'double' is needed"),
    (
        "double (double)",
        "double (double, double)",
        "it must return the result and its tangent, '{ double, double }', not one of them",
    ),
    ("ptr (ptr)", "ptr (ptr, ptr)", "it must return the result and its tangent, '{ ptr, ptr }', not one of them"),
    (
        "double (double)",
        "void (double, double)",
        "it must return the result and its tangent, '{ double, double }', not 'void'",
    ),
    (
        "float (float)",
        "<2 x float> (float, float)",
        "this target returns the struct as '<2 x float>', in which Enzyme does not find '{ float, float }'",
    ),
    ("ptr (ptr)", "[2 x i64] (ptr, ptr)", "this target returns the struct as '[2 x i64]'"),
    ("x86_fp80 (x86_fp80)", "void (ptr sret, x86_fp80, x86_fp80)", "its struct is returned through memory (sret)"),
    ("void (ptr)", "double (ptr, ptr)", "it must return nothing: the function returns 'void'"),
    ("i32 (ptr)", "i32 (ptr, ptr)", "where the function returns an integer, this must return nothing"),
    ("void (ptr)", "void (ptr, ptr, ...)", "it is variadic"),
]


@pytest.mark.parametrize(("primal", "tangent", "message"), FORWARD_MISFITS)
def test_forward_rule_does_not_fit(primal: str, tangent: str, message: str) -> None:
    (problem,) = forward_problems(function(primal), function(tangent), primal_name="f")
    assert problem.finding == "EB010"
    assert f"tangent does not fit f: {message}" in problem.text


HOPELESS = [
    ("i32 (ptr, ...)", "is variadic, and Enzyme cannot call a rule for it", "fixed parameters"),
    ("void ([2 x double])", "takes parameter 0 by value, as '[2 x double]'", "through pointers"),
    ("void (ptr, <2 x float>)", "takes parameter 1 by value, as '<2 x float>'", "through pointers"),
    ("void ({ double, double })", "takes parameter 0 by value, as '{ double, double }'", "through pointers"),
    ("{ double, double } (double)", "returns '{ double, double }' in registers", "through pointers"),
    ("<2 x float> (float)", "returns '<2 x float>' in registers", "through pointers"),
    ("[2 x i64] (ptr)", "returns '[2 x i64]' in registers", "through pointers"),
]


@pytest.mark.parametrize(("primal", "message", "fix"), HOPELESS)
def test_no_rule_at_all(primal: str, message: str, fix: str) -> None:
    reverse = reverse_problems(function(primal), function("void ()"), function("void ()"), primal_name="f")
    forward = forward_problems(function(primal), function("void ()"), primal_name="f")
    for problems in (reverse, forward):
        assert {problem.finding for problem in problems} == {"EB011"}
        assert message in problems[0].text
        assert f"f ({primal})" in problems[0].text
        assert fix in problems[0].fix


def test_no_reverse_rule_for_an_integer_result() -> None:
    primal = function("i32 (ptr)")
    (problem,) = reverse_problems(primal, function("i32 (ptr, ptr)"), function("void (ptr, ptr)"), primal_name="f")
    assert problem.finding == "EB011"
    assert problem.text == "f (i32 (ptr)) returns an integer, and no reverse rule works for such a function"
    assert "through a pointer" in problem.fix


def test_whole_messages() -> None:
    prototype = parse_prototype("void my_square(const double *x, double *out)")
    augmented, gradient = reverse_problems(
        function("void (ptr, ptr)"),
        function("void (ptr, ptr)"),
        function("void (ptr, ptr, ptr)"),
        primal_name="my_square",
        augmented_name="augmented_my_square",
        gradient_name="gradient_my_square",
        prototype=prototype,
    )
    assert augmented.text == (
        "augmented_my_square does not fit my_square: it takes 2 parameters, 4 are needed; "
        "expected ptr (ptr, ptr, ptr, ptr) or void (ptr, ptr, ptr, ptr), found void (ptr, ptr)"
    )
    assert augmented.fix == (
        "declare it as: void *augmented_my_square(const double *x, double *d_x, double *out, double *d_out) or: "
        "void augmented_my_square(const double *x, double *d_x, double *out, double *d_out)"
    )
    assert gradient.text.endswith("expected void (ptr, ptr, ptr, ptr), found void (ptr, ptr, ptr)")
    assert gradient.fix == (
        "declare it as: void gradient_my_square(const double *x, double *d_x, double *out, double *d_out)"
    )


def test_what_c_cannot_spell_is_said() -> None:
    primal = function("float (float, float)")
    (problem,) = reverse_problems(
        primal, function("float (float, float)"), function("<2 x float> (float, float, float)")
    )
    assert problem.fix.startswith("C has no such function on common targets; let a function that takes")


SPELT = [
    "void my_square(const double *x, double *out)",
    "double f(double x)",
    "double f(double x, double y)",
    "float f(float x)",
    "double f(const double *x, int n)",
    "void f(double a, const double *x, double *out, _Bool flag, long n)",
    "double *f(double *x, int i)",
    "void *f(void *handle)",
    "void f(void)",
    "long double f(long double x)",
]


@pytest.mark.parametrize("typed", [False, True], ids=["opaque", "typed"])
@pytest.mark.parametrize("declaration", SPELT)
@pytest.mark.parametrize("tape", [True, False], ids=["tape", "no tape"])
def test_the_prototypes_that_fixes_propose_fit(
    enzyme: Enzyme, tmp_path: Path, declaration: str, typed: bool, tape: bool
) -> None:
    prototype = parse_prototype(declaration)
    mode = ["-Xclang", "-no-opaque-pointers"] if typed else []

    def types(*declared: str) -> list[object]:
        names = [text.rpartition("(")[0].replace("*", " ").split()[-1] for text in declared]
        uses = "".join(f"void *use_{name} = (void *){name};\n" for name in names)
        (tmp_path / "rule.c").write_text("".join(f"{text};\n" for text in declared) + uses)
        command = [enzyme.clang, "-S", "-emit-llvm", *mode, "-Wall", "-Werror", "rule.c", "-o", "-"]
        found = functions_of(capture(command, cwd=tmp_path).stdout)
        return [found[name] for name in names]

    (primal,) = types(declaration)
    augmented = spell_augmented(primal, prototype, "augmented_f", tape=tape)
    gradient = spell_gradient(primal, prototype, "gradient_f", tape="void *" if tape else None)
    assert gradient is not None
    if augmented is not None:
        assert reverse_problems(primal, *types(augmented, gradient)) == ()
    else:  # 24 bytes and more go through memory
        assert tape
        assert prototype.result_text in ("double *", "void *", "long double")
    tangent = spell_tangent(primal, prototype, "tangent_f")
    if tangent is not None:
        assert forward_problems(primal, *types(tangent)) == ()
    else:  # two floats share a vector, two long doubles go through memory
        assert prototype.result_text in ("float", "long double")


@pytest.mark.parametrize(
    ("declaration", "found"),
    [
        ("void f(const double *x, double *out)", "void (ptr, ptr)"),
        ("void f(const double *x, double *out)", "void (double*, double*)"),
        ("long f(_Bool b, size_t n, enum E e, float x)", "i64 (i1, i64, i32, float)"),
        ("long double f(long double x)", "x86_fp80 (x86_fp80)"),
        ("struct V f(struct V v)", "void (ptr sret, ptr byval)"),
        ("my_type f(my_type x)", "double (double)"),
        ("int f(const char *format, ...)", "i32 (ptr, ...)"),
    ],
)
def test_prototype_agrees_with_the_bitcode(declaration: str, found: str) -> None:
    assert prototype_problems(parse_prototype(declaration), function(found)) == ()


@pytest.mark.parametrize(
    ("declaration", "found", "message"),
    [
        ("void f(double *x)", "void (ptr, ptr)", "it has 1 parameters, the function 2"),
        ("void f(double x)", "void (float)", "parameter 0 is 'double', the function's is 'float'"),
        ("void f(int n, double x)", "void (double, i32)", "parameter 0 is 'int', the function's is 'double'"),
        ("double f(double *x)", "void (ptr)", "it returns 'double', the function 'void'"),
        ("float f(double *x)", "double (ptr)", "it returns 'float', the function 'double'"),
        ("int f(const char *format)", "i32 (ptr, ...)", "it is not variadic"),
    ],
)
def test_prototype_contradicts_the_bitcode(declaration: str, found: str, message: str) -> None:
    problem, *_ = prototype_problems(parse_prototype(declaration), function(found))
    assert problem.finding == "EB010"
    assert problem.text == f"the prototype of f is not the one in the bitcode: {message}; found {function(found)}"
    assert 'function = "f"' in problem.fix


def test_no_prototype_contradicts_nothing() -> None:
    assert prototype_problems(None, function("void (ptr)")) == ()


def allocation(**changes: object) -> AllocationRule:
    values = {"function": "take", "deallocate": "give", "origin": Origin(file="a.toml", key="allocation[0]"), **changes}
    return AllocationRule(**values)


def test_allocation_fits() -> None:
    rule = allocation(size_argument=1, deallocate_arguments=(-1, 0, 2))
    assert allocation_problems(function("ptr (ptr, i64, i32)"), rule) == ()


@pytest.mark.parametrize(
    ("primal", "changes", "message"),
    [
        ("i32 (i64)", {}, "an allocation returns a pointer, this returns 'i32'"),
        ("ptr (i64)", {"size_argument": 1}, "'size-argument' is 1, but there are 1 arguments, counted from 0"),
        ("ptr (ptr, i64)", {}, "argument 0 is 'ptr', not an integer"),
        ("ptr (i64)", {"deallocate_arguments": (-1, 1)}, "'deallocate-arguments' has 1, but there are 1 arguments"),
    ],
)
def test_allocation_does_not_fit(primal: str, changes: dict[str, object], message: str) -> None:
    (problem,) = allocation_problems(function(primal), allocation(**changes))
    assert problem.finding == "EB010"
    assert problem.text.startswith(f"take ({function(primal)}): {message}")


@pytest.mark.parametrize(
    ("deallocate", "arguments"),
    [("void (ptr)", (-1,)), ("i32 (ptr, i32, ptr)", (-1, 2, 0))],
)
def test_deallocation_fits(deallocate: str, arguments: tuple[int, ...]) -> None:
    rule = allocation(size_argument=1, deallocate_arguments=arguments)
    assert allocation_problems(function("ptr (ptr, i64, i32)"), rule, deallocate=function(deallocate)) == ()


@pytest.mark.parametrize(
    ("deallocate", "arguments", "given"),
    [("void (ptr, ptr)", (-1,), "ptr"), ("void (ptr)", (-1, 0), "ptr, ptr"), ("void (ptr, i64)", (-1, 2), "ptr, i32")],
)
def test_deallocation_does_not_fit(deallocate: str, arguments: tuple[int, ...], given: str) -> None:
    rule = allocation(size_argument=1, deallocate_arguments=arguments)
    (problem,) = allocation_problems(function("ptr (ptr, i64, i32)"), rule, deallocate=function(deallocate))
    assert problem.text.endswith(f"give ({deallocate}) cannot be called with ({given}), which the rule gives it")


@pytest.mark.parametrize(
    ("declaration", "reverse", "findings"),
    [
        ("double f(double x)", True, []),
        ("int f(double *x)", False, []),
        ("int f(double *x)", True, ["EB011"]),
        ("double f(double x, ...)", False, ["EB011"]),
        ("int f(double x, ...)", True, ["EB011", "EB011"]),
    ],
)
def test_what_a_prototype_alone_tells(declaration: str, reverse: bool, findings: list[str]) -> None:
    rule = DerivativeRule(
        function="f",
        prototype=parse_prototype(declaration),
        origin=Origin(file="a.toml", key="derivative[0]"),
        augmented="augmented_f" if reverse else None,
        gradient="gradient_f" if reverse else None,
        tangent=None if reverse else "tangent_f",
    )
    assert [problem.finding for problem in declared_problems(rule)] == findings
