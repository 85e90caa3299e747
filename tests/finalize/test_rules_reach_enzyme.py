"""Each kind of rule, on a function with and without a body: Enzyme's answer changes because of the rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, sin
from pathlib import Path

import pytest

from enzyme_build.rules.model import (
    AllocationRule,
    DerivativeRule,
    InactiveGlobalRule,
    InactiveRule,
    LikeRule,
    NofreeRule,
    Rule,
)
from support.enzyme import AGGRESSIVE, CLEANED, OPTIMISED, Enzyme, EnzymeError
from support.library import HOST, ORIGIN, build_library, finalize, native_library

# what Enzyme says without the rule: a part of its message, or the numbers for reverse and forward
Answer = str | tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A kernel at x = 2, the function that the rule is for, and Enzyme's two answers (reverse, forward)."""

    kernel: str
    function: str
    rule: Rule
    opaque: Answer
    with_body: Answer | None = None
    expected: tuple[float, float]
    # `with_body` is None where a body of its own kind is tested below; where body and rule function together give another number than without the body
    expected_with_body: tuple[float, float] | None = None
    body: str | None = None
    extra: str = field(default="", repr=False)


RULE_FUNCTIONS = """
double aug_f(double x) { return f(x); }
double grad_f(double x, double seed) { return 100 * seed; }
typedef struct { double primal, tangent; } Pair;
Pair fwd_f(double x, double dx) { Pair pair = {f(x), 100 * dx}; return pair; }
"""
NO_RULE = "No augmented forward pass found for "
NO_SHADOW = "doesn't have marked shadow global"
NO_FREE = "No create nofree of empty function"

CASES = {
    "derivative": Case(
        kernel="double f(double x); double kernel(double x) { return x * f(x); }" + RULE_FUNCTIONS,
        function="double f(double x) { return x; }",
        rule=DerivativeRule(function="f", augmented="aug_f", gradient="grad_f", tangent="fwd_f", origin=ORIGIN),
        opaque=NO_RULE + "f",
        with_body=(4, 4),
        expected=(202, 202),
    ),
    "inactive": Case(
        kernel="double scale(double x); double kernel(double x) { return x * x * scale(x); }",
        function="double scale(double x) { return x; }",
        rule=InactiveRule(function="scale", origin=ORIGIN),
        opaque=NO_RULE + "scale",
        with_body=(12, 12),
        expected=(8, 8),
    ),
    "inactive_with_pointer": Case(
        kernel="void show(const double *x); double kernel(double x) { double y = x * x; show(&y); return y; }",
        function="void show(const double *x) { (void)x; }",
        rule=InactiveRule(function="show", origin=ORIGIN),
        opaque="No reverse pass found for show",
        expected=(4, 4),
    ),
    "like": Case(
        kernel="double my_sin(double x); double kernel(double x) { return x * my_sin(x); }",
        function="#include <math.h>\ndouble my_sin(double x) { return sin(x); }",
        body="double my_sin(double x) { return x; }",
        rule=LikeRule(function="my_sin", like="sin", origin=ORIGIN),
        opaque=NO_RULE + "my_sin",
        with_body=(4, 4),
        expected=(sin(2) + 2 * cos(2),) * 2,
        expected_with_body=(2 + 2 * cos(2),) * 2,
    ),
    "nofree": Case(
        kernel='void probe(const char *text); double kernel(double x) { probe("hello"); return x * x * x; }',
        function="void probe(const char *text) { (void)text; }",
        body="void inner(const char *text); void probe(const char *text) { inner(text); }",
        rule=NofreeRule(function="probe", origin=ORIGIN),
        opaque=NO_FREE + " (probe)",
        with_body=NO_FREE + " (inner)",
        expected=(12, 12),
        extra="void inner(const char *text) { (void)text; }",
    ),
    "allocation": Case(
        kernel="""#include <stddef.h>
            void *take(size_t n); void give(void *p);
            double kernel(double x) {
              double *b = take(32), s = 0;
              for (int i = 0; i < 4; i++) b[i] = x * i;
              for (int i = 0; i < 4; i++) s += b[i] * b[i];
              give(b);
              return s;
            }""",
        function="#include <stdlib.h>\nvoid *take(size_t n) { return malloc(n); } void give(void *p) { free(p); }",
        body="""void *pool_take(size_t n); void pool_give(void *p);
            void *take(size_t n) { return pool_take(n); } void give(void *p) { pool_give(p); }""",
        extra="""#include <stdlib.h>
            void *pool_take(size_t n) { return malloc(n); } void pool_give(void *p) { free(p); }""",
        rule=AllocationRule(function="take", deallocate="give", origin=ORIGIN),
        opaque="pass found for",
        with_body="pass found for",
        expected=(56, 56),
    ),
    "inactive_global": Case(
        kernel="extern double *table; double kernel(double x) { return x * table[0]; }",
        function="static double numbers[1] = {5}; double *table = numbers;",
        rule=InactiveGlobalRule(variable="table", origin=ORIGIN),
        opaque=NO_SHADOW,
        expected=(5, 5),
    ),
}
BOTH = pytest.mark.parametrize("typed", [False, True], ids=["opaque-pointers", "typed-pointers"])


def answer(enzyme: Enzyme, folder: Path, library: Path, link: list[Path], *, typed: bool, passes: str) -> Answer:
    try:
        reverse, forward = enzyme.differentiate(
            HOST, folder, imports=[(library, "kernel")], link=link, typed=typed, passes=passes
        )
    except EnzymeError as failure:
        assert failure.step == "enzyme"
        return failure.text
    return reverse, forward


def differs(expected: Answer, found: Answer) -> str | None:
    if isinstance(expected, str):
        return None if isinstance(found, str) and expected in found else f"{expected!r} is not in {found!r}"
    return None if found == pytest.approx(expected, rel=1e-12) else f"{found!r} is not {expected!r}"


@BOTH
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("passes", [CLEANED, OPTIMISED, AGGRESSIVE], ids=["cleaned", "optimised", "aggressive"])
def test_rule_on_opaque_function(enzyme: Enzyme, tmp_path: Path, name: str, passes: str, typed: bool) -> None:
    case = CASES[name]
    native = native_library(enzyme, tmp_path / "native", "native", case.function)
    answers = []
    for rules in ((), (case.rule,)):
        folder = tmp_path / f"rules{len(rules)}"
        library = build_library(enzyme, folder, "kernel", {"kernel.c": case.kernel}, typed=typed, link=[native])
        facts = finalize(enzyme, library, rules, typed=typed)
        assert [fact.problems for fact in facts.rules] == [()] * len(rules)
        answers.append(answer(enzyme, folder / "host", library, [native], typed=typed, passes=passes))
    assert differs(case.opaque, answers[0]) is None
    assert differs(case.expected, answers[1]) is None


@BOTH
@pytest.mark.parametrize("name", [name for name in CASES if CASES[name].with_body is not None])
@pytest.mark.parametrize("passes", [CLEANED, OPTIMISED], ids=["cleaned", "optimised"])
def test_rule_on_function_with_body(enzyme: Enzyme, tmp_path: Path, name: str, passes: str, typed: bool) -> None:
    case = CASES[name]
    native = native_library(enzyme, tmp_path / "native", "native", case.extra or "int nothing;")
    answers = []
    for rules in ((), (case.rule,)):
        folder = tmp_path / f"rules{len(rules)}"
        text = f"{case.kernel}\n{case.body or case.function}\n"
        library = build_library(enzyme, folder, "kernel", {"kernel.c": text}, typed=typed, link=[native])
        facts = finalize(enzyme, library, rules, typed=typed)
        assert [(fact.problems, fact.primal_has_body) for fact in facts.rules] == [((), True)] * len(rules)
        answers.append(answer(enzyme, folder / "host", library, [native], typed=typed, passes=passes))
    assert case.with_body is not None
    assert differs(case.with_body, answers[0]) is None
    assert differs(case.expected_with_body or case.expected, answers[1]) is None


@BOTH
def test_inactive_global_with_definition(enzyme: Enzyme, tmp_path: Path, typed: bool) -> None:
    kernel = """double state; __attribute__((noinline)) void set(double x) { state = x; }
        double kernel(double x) { set(x); return state * x; }"""
    rule = InactiveGlobalRule(variable="state", origin=ORIGIN)
    forwards = []
    for rules in ((), (rule,)):
        library = build_library(enzyme, tmp_path / str(len(rules)), "kernel", {"kernel.c": kernel}, typed=typed)
        finalize(enzyme, library, rules, typed=typed)
        found = answer(enzyme, tmp_path / "host", library, [], typed=typed, passes=CLEANED)
        assert isinstance(found, tuple)
        forwards.append(found[1])
    assert forwards == [4, 2]
