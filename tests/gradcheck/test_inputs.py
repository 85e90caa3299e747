"""What is passed to a function: what is written down, else guesses that are told."""

from __future__ import annotations

import pytest

from enzyme_build.gradcheck.inputs import CannotRunError, plan_arguments
from enzyme_build.model import FunctionType, IRType, Origin, TypeKind
from enzyme_build.rules.model import DerivativeRule, DerivativeTest, TestedArgument
from enzyme_build.rules.prototype import parse_prototype

KINDS = {
    "double": TypeKind.FLOATING,
    "float": TypeKind.FLOATING,
    "x86_fp80": TypeKind.FLOATING,
    "half": TypeKind.FLOATING,
}


def ir(text: str) -> IRType:
    if text in KINDS:
        return IRType(kind=KINDS[text], text=text)
    if text == "ptr" or text.endswith("*"):
        return IRType(kind=TypeKind.POINTER, text=text)
    if text.startswith("i"):
        return IRType(kind=TypeKind.INTEGER, text=text)
    return IRType(kind=TypeKind.STRUCT if text.startswith("{") else TypeKind.VOID, text=text)


def plan(prototype: str | None, *kinds: str, test: DerivativeTest | None = None, **more):
    parsed = None if prototype is None else parse_prototype(prototype)
    rule = DerivativeRule(
        function="f", origin=Origin(file="r.toml", key="derivative[0]"), prototype=parsed, tangent="t", test=test
    )
    function = FunctionType(result=ir("void"), parameters=tuple(ir(kind) for kind in kinds), **more)
    return {argument.name: argument for argument in plan_arguments(rule, function, symbol="f")}


def said(**arguments: TestedArgument) -> DerivativeTest:
    return DerivativeTest(arguments=arguments)


def test_one_size_makes_arrays_that_hold_a_matrix() -> None:
    found = plan("void f(int n, const double *a, float *y)", "i32", "ptr", "ptr")
    assert (found["n"].kind, found["n"].value, found["n"].guess) == ("integer", 4, "n = 4")
    assert (found["a"].kind, found["a"].element, found["a"].size) == ("array", "double", 16)
    assert (found["y"].element, found["y"].guess) == ("float", "y has 16 elements")


def test_several_sizes_differ_and_leading_dimensions_cover_them() -> None:
    found = plan("void f(int m, int n, int k, double *a, int lda)", "i32", "i32", "i32", "ptr", "i32")
    assert [found[name].value for name in ("m", "n", "k", "lda")] == [3, 4, 2, 4]
    assert found["a"].size == 24


def test_strides_are_one_and_by_reference_is_seen_through() -> None:
    found = plan(
        "void daxpy_(const int *n, const double *a, const double *x, const int *incx)", "ptr", "ptr", "ptr", "ptr"
    )
    assert (found["n"].kind, found["n"].element, found["n"].value) == ("constant", "int", 4)
    assert found["incx"].value == 1
    assert found["x"].kind == "array"


def test_dimensions_in_the_prototype_are_no_guess() -> None:
    found = plan("void solve(const double a[3][3], const double b[3], double *x)", "ptr", "ptr", "ptr")
    assert (found["b"].size, found["b"].guess) == (3, None)
    assert found["x"].size == 16


def test_what_the_rule_file_says_is_taken() -> None:
    test = DerivativeTest(
        range=(0.1, 0.2),
        arguments={
            "n": TestedArgument(value=7),
            "x": TestedArgument(size="n * 2", kept=True),
            "y": TestedArgument(range=(5.0, 6.0), size=3),
            "z": TestedArgument(value=2.5),
            "h": TestedArgument(type="double", size=3),
            "mode": TestedArgument(value="T"),
        },
    )
    found = plan(
        "void f(int n, double *x, double *y, double z, struct s *h, const char *mode)",
        *("i32", "ptr", "ptr", "double", "ptr", "ptr"),
        test=test,
    )
    assert (found["n"].value, found["n"].guess) == (7, None)
    assert (found["x"].size, found["x"].kept, found["x"].range) == (14, True, (0.1, 0.2))
    assert (found["y"].size, found["y"].range) == (3, (5.0, 6.0))
    assert found["z"].range == (2.5, 2.5)
    assert (found["h"].kind, found["h"].element, found["h"].size) == ("array", "double", 3)
    assert (found["mode"].kind, found["mode"].value, found["mode"].guess) == ("constant", "T", None)


def test_a_handle_is_zero_bytes_and_that_is_told() -> None:
    found = plan("double f(void *h, double x)", "ptr", "double")
    assert (found["h"].kind, found["h"].element) == ("constant", "void")
    assert "h points to 4096 zero bytes, inactive" in (found["h"].guess or "")


def test_a_struct_returned_through_memory_is_an_array_of_numbers() -> None:
    found = plan("struct v f(const double *x)", "ptr", "ptr", sret=(0,))
    assert (found["result"].kind, found["result"].element, found["result"].size) == ("array", "double", 16)
    assert found["x"].kind == "array"


def test_without_prototype_typed_pointers_tell_and_opaque_ones_are_guessed() -> None:
    typed = plan(None, "float*", "i32*", "i64")
    assert (typed["a0"].element, typed["a1"].element, typed["a2"].element) == ("float", "int", "int64_t")
    assert "every pointer of unknown type is taken for one to double" in (plan(None, "ptr")["a0"].guess or "")


@pytest.mark.parametrize(
    ("kinds", "more", "message"),
    [
        (("{ double, double }",), {}, "a0 is passed by value as { double, double }"),
        (("double",), {"variadic": True}, "f is variadic"),
        (("ptr",), {"byval": (0,)}, "f hands over a struct in memory"),
        (("half",), {}, "a0 is of type half"),
        (("i128",), {}, "a0 is of type i128"),
    ],
)
def test_what_cannot_be_called_says_so(kinds: tuple[str, ...], more: dict, message: str) -> None:
    with pytest.raises(CannotRunError) as caught:
        plan(None, *kinds, **more)
    assert message in str(caught.value)
