"""Derivative rules in the shapes that occur: seed reports, loops, statics, inlining, structs, several libraries."""

from __future__ import annotations

from math import cos, exp, sin
from pathlib import Path

import pytest

from enzyme_build.rules.model import DerivativeRule
from support.enzyme import AGGRESSIVE, CLEANED, OPTIMISED, Enzyme, EnzymeError
from support.library import ORIGIN, build_library, finalize, native_library

BOTH = pytest.mark.parametrize("typed", [False, True], ids=["opaque-pointers", "typed-pointers"])
PASSES = pytest.mark.parametrize("passes", [CLEANED, OPTIMISED, AGGRESSIVE], ids=["cleaned", "optimised", "aggressive"])

SQUARE = "void my_square(double *x, double *out) { *out = *x * *x; }"
RULE = """
#include <stdlib.h>
extern void my_square(double *x, double *out);
void *augmented_my_square(double *x, double *d_x, double *out, double *d_out) {
  double *tape = malloc(sizeof *tape);
  *tape = *x; /* before the call: out may be x itself */
  my_square(x, out);
  return tape;
}
void gradient_my_square(double *x, double *d_x, double *out, double *d_out, void *tape) {
  /* an inactive pointer has its primal as shadow; out may be x itself, so the seed is taken before it is cleared */
  if (d_out != out) {
    double seed = *d_out;
    *d_out = 0;
    if (d_x != x) *d_x += 2 * *(double *)tape * seed;
  }
  free(tape);
}
void tangent_my_square(double *x, double *d_x, double *out, double *d_out) {
  double value = *x;
  my_square(x, out);
  *d_out = 2 * value * *d_x;
}
"""
REGISTRATION = """
__attribute__((used)) void *__enzyme_register_gradient_my_square[3] = {
  (void *)my_square, (void *)augmented_my_square, (void *)gradient_my_square};
"""
SQUARE_RULE = DerivativeRule(
    function="my_square",
    augmented="augmented_my_square",
    gradient="gradient_my_square",
    tangent="tangent_my_square",
    origin=ORIGIN,
)
POINTER_HOST = """
void kernel(double *x, double *out);
double outer(double x) { double out = 0; kernel(&x, &out); return out; }
int main(void) {
  printf("%.17g ", __enzyme_autodiff((void *)outer, 1.3));
  printf("%.17g\\n", __enzyme_fwddiff((void *)outer, 1.3, 1.0));
}
"""
TWO_FILES = {
    "kernel.c": RULE + "double util(double);\n"
    "void kernel(double *x, double *out) { my_square(x, out); *out += util(*x); }",
    "util.c": "#include <math.h>\nstatic double helper(double v) { return sin(v) * exp(v); }\n"
    "double util(double v) { return helper(v); }",
}
EXPECTED = 2 * 1.3 + exp(1.3) * (sin(1.3) + cos(1.3))


@BOTH
@PASSES
def test_two_files_and_an_opaque_primal(enzyme: Enzyme, tmp_path: Path, typed: bool, passes: str) -> None:
    native = native_library(enzyme, tmp_path / "native", "my_square", SQUARE)
    library = build_library(enzyme, tmp_path, "kernel", TWO_FILES, typed=typed, link=[native])
    facts = finalize(enzyme, library, [SQUARE_RULE], typed=typed)
    assert facts.modules == 2
    found = enzyme.differentiate(
        POINTER_HOST, tmp_path / "host", imports=[(library, "kernel")], link=[native], typed=typed, passes=passes
    )
    assert found == pytest.approx([EXPECTED, EXPECTED], rel=1e-12)


@BOTH
def test_two_files_as_the_linker_left_them_cannot_be_imported(enzyme: Enzyme, tmp_path: Path, typed: bool) -> None:
    native = native_library(enzyme, tmp_path / "native", "my_square", SQUARE)
    library = build_library(enzyme, tmp_path, "kernel", TWO_FILES, typed=typed, link=[native])
    with pytest.raises(EnzymeError, match=r"import: .*Invalid encoding"):
        enzyme.differentiate(POINTER_HOST, tmp_path / "host", imports=[(library, "kernel")], link=[native], typed=typed)


@BOTH
def test_registration_globals_alone_are_not_seen(enzyme: Enzyme, tmp_path: Path, typed: bool) -> None:
    native = native_library(enzyme, tmp_path / "native", "my_square", SQUARE)
    text = RULE + REGISTRATION + "void kernel(double *x, double *out) { my_square(x, out); }"
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": text}, typed=typed, link=[native])
    facts = finalize(enzyme, library, typed=typed)
    assert facts.registrations == ("__enzyme_register_gradient_my_square",)
    with pytest.raises(EnzymeError, match=r"enzyme: .*No reverse pass found for my_square"):
        enzyme.differentiate(POINTER_HOST, tmp_path / "host", imports=[(library, "kernel")], link=[native], typed=typed)


@BOTH
@PASSES
def test_loop_with_a_tape_whose_buffer_is_overwritten(enzyme: Enzyme, tmp_path: Path, typed: bool, passes: str) -> None:
    native = native_library(enzyme, tmp_path / "native", "my_square", SQUARE)
    text = (
        RULE
        + "void kernel(double *x, double *out) { double v = *x; for (int i = 0; i < 3; i++) my_square(&v, &v); *out = v; }"
    )
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": text}, typed=typed, link=[native])
    finalize(enzyme, library, [SQUARE_RULE], typed=typed)
    found = enzyme.differentiate(
        POINTER_HOST, tmp_path / "host", imports=[(library, "kernel")], link=[native], typed=typed, passes=passes
    )
    assert found == pytest.approx([8 * 1.3**7] * 2, rel=1e-12)


SCALAR_HOST = """
double kernel(double x);
double outer(double x) { return kernel(x); }
int main(void) {
  printf("%.17g ", __enzyme_autodiff((void *)outer, 2.0));
  printf("%.17g\\n", __enzyme_fwddiff((void *)outer, 2.0, 1.0));
}
"""
SCALAR_RULE = """
double aug_f(double x) { return f(x); }
double grad_f(double x, double seed) { return 100 * seed; }
typedef struct { double primal, tangent; } Pair;
Pair fwd_f(double x, double dx) { Pair pair = {f(x), 100 * dx}; return pair; }
"""
F_RULE = DerivativeRule(function="f", augmented="aug_f", gradient="grad_f", tangent="fwd_f", origin=ORIGIN)
REVERSE_ONLY = DerivativeRule(function="f", augmented="aug_f", gradient="grad_f", origin=ORIGIN)
FORWARD_ONLY = DerivativeRule(function="f", tangent="fwd_f", origin=ORIGIN)
BODIES = {
    "external": "double f(double x) { return x * x; }",
    "static": "static double f(double x) { return x * x; }",
    "always inlined": "static inline __attribute__((always_inline)) double f(double x) { return x * x; }",
    "returns its argument": "double f(double x) { return x; }",
    "recursive": "double f(double x) { return x > 10 ? x : f(2 * x); }",
    "weak": "__attribute__((weak)) double f(double x) { return x * x; }",
    "hidden": '__attribute__((visibility("hidden"))) double f(double x) { return x * x; }',
}
VALUES = {"returns its argument": 2.0, "recursive": 16.0}


@BOTH
@PASSES
@pytest.mark.parametrize("body", BODIES)
def test_primal_with_a_body(enzyme: Enzyme, tmp_path: Path, body: str, typed: bool, passes: str) -> None:
    text = f"{BODIES[body]}\n{SCALAR_RULE}\ndouble kernel(double x) {{ return x * f(x); }}"
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": text}, typed=typed)
    finalize(enzyme, library, [F_RULE], typed=typed)
    found = enzyme.differentiate(
        SCALAR_HOST, tmp_path / "host", imports=[(library, "kernel")], typed=typed, passes=passes
    )
    assert found == pytest.approx([VALUES.get(body, 4.0) + 200] * 2, rel=1e-12)


@BOTH
@pytest.mark.parametrize(
    ("rule", "expected"), [(REVERSE_ONLY, [204, 12]), (FORWARD_ONLY, [12, 204])], ids=["reverse", "forward"]
)
def test_mode_without_rule_differentiates_the_body(
    enzyme: Enzyme, tmp_path: Path, rule: DerivativeRule, expected: list[float], typed: bool
) -> None:
    text = f"{BODIES['external']}\n{SCALAR_RULE}\ndouble kernel(double x) {{ return x * f(x); }}"
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": text}, typed=typed)
    finalize(enzyme, library, [rule], typed=typed)
    found = enzyme.differentiate(SCALAR_HOST, tmp_path / "host", imports=[(library, "kernel")], typed=typed)
    assert found == expected


STRUCTS = "typedef struct { double a, b, c; } V;\n"
STRUCT_KERNELS = {
    "returned through memory": (
        "V f(const double *x);",
        "V f(const double *x) { V v = {x[0] * x[0], 3 * x[0], 1}; return v; }",
        """double kernel(double x) { V v = f(&x); return v.a + v.b; }
        void aug_f(V *r, V *d_r, const double *x, double *d_x) { *r = f(x); }
        void grad_f(V *r, V *d_r, const double *x, double *d_x) {
          *d_x += 2 * *x * d_r->a + 3 * d_r->b; d_r->a = d_r->b = d_r->c = 0; }
        void fwd_f(V *r, V *d_r, const double *x, const double *d_x) {
          *r = f(x); d_r->a = 2 * *x * *d_x; d_r->b = 3 * *d_x; d_r->c = 0; }""",
        7.0,
    ),
    "passed through memory": (
        "double f(V v);",
        "double f(V v) { return v.a * v.b; }",
        """double kernel(double x) { V v = {x, 2 * x, 3}; return f(v); }
        double aug_f(V v, V *d_v) { return f(v); }
        void grad_f(V v, V *d_v, double seed) { d_v->a += v.b * seed; d_v->b += v.a * seed; }
        typedef struct { double primal, tangent; } Pair;
        Pair fwd_f(V v, V *d_v) { Pair p = {f(v), d_v->a * v.b + d_v->b * v.a}; return p; }""",
        8.0,
    ),
}


@BOTH
@PASSES
@pytest.mark.parametrize(
    ("has_body", "modes"),
    [(False, "both"), (True, "both"), (True, "reverse"), (True, "forward")],
    ids=["opaque", "body", "body-reverse", "body-forward"],
)
@pytest.mark.parametrize("shape", STRUCT_KERNELS)
def test_structs(
    enzyme: Enzyme, tmp_path: Path, shape: str, modes: str, has_body: bool, typed: bool, passes: str
) -> None:
    declaration, definition, rest, expected = STRUCT_KERNELS[shape]
    native = native_library(
        enzyme, tmp_path / "native", "native", STRUCTS + ("int nothing;" if has_body else definition)
    )
    text = STRUCTS + (definition if has_body else declaration) + "\n" + rest
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": text}, typed=typed, link=[native])
    rule = {"both": F_RULE, "reverse": REVERSE_ONLY, "forward": FORWARD_ONLY}[modes]
    finalize(enzyme, library, [rule], typed=typed)
    found = enzyme.differentiate(
        SCALAR_HOST, tmp_path / "host", imports=[(library, "kernel")], link=[native], typed=typed, passes=passes
    )
    assert found == pytest.approx([expected] * 2, rel=1e-12)


@BOTH
def test_two_rules_in_one_library(enzyme: Enzyme, tmp_path: Path, typed: bool) -> None:
    second = SCALAR_RULE.replace("_f(", "_g(").replace("f(x)", "g(x)").replace("100", "1000").replace("Pair", "Other")
    text = f"double f(double x); double g(double x);{SCALAR_RULE}{second}double kernel(double x) {{ return f(x) + g(f(x)); }}"
    native = native_library(
        enzyme, tmp_path / "native", "native", "double f(double x) { return x; } double g(double x) { return x; }"
    )
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": text}, typed=typed, link=[native])
    g_rule = DerivativeRule(function="g", augmented="aug_g", gradient="grad_g", tangent="fwd_g", origin=ORIGIN)
    finalize(enzyme, library, [F_RULE, g_rule], typed=typed)
    found = enzyme.differentiate(
        SCALAR_HOST, tmp_path / "host", imports=[(library, "kernel")], link=[native], typed=typed
    )
    assert found == pytest.approx([100 + 1000 * 100] * 2)


TWO_LIBRARY_HOST = """
double first(double x), second(double x);
double outer(double x) { return first(x) * second(x); }
int main(void) {
  printf("%.17g ", __enzyme_autodiff((void *)outer, 2.0));
  printf("%.17g\\n", __enzyme_fwddiff((void *)outer, 2.0, 1.0));
}
"""


@BOTH
@PASSES
@pytest.mark.parametrize("body", ["opaque", "external", "static"])
def test_two_libraries_with_the_same_rule(enzyme: Enzyme, tmp_path: Path, body: str, typed: bool, passes: str) -> None:
    native = native_library(enzyme, tmp_path / "native", "native", "double f(double x) { return x * x; }")
    libraries = []
    for name in ("first", "second"):
        table = 'static const double table[] = {1, 2}; static double count; const char *text(void) { return "text"; }'
        primal = BODIES.get(body, "double f(double x);")
        kernel = f"double {name}(double x) {{ count += 1; return f(x) * table[(int)x - 1] / 2; }}"
        parts = {f"{name}.c": f"{table}\n{primal}\n{SCALAR_RULE}\n{kernel}"}
        library = build_library(enzyme, tmp_path / name, name, parts, typed=typed, link=[native])
        finalize(enzyme, library, [F_RULE], typed=typed)
        libraries.append((library, name))
    found = enzyme.differentiate(
        TWO_LIBRARY_HOST, tmp_path / "host", imports=libraries, link=[native], typed=typed, passes=passes
    )
    assert found == pytest.approx([2 * 4 * 100] * 2, rel=1e-12)


def test_second_order_through_a_rule(enzyme: Enzyme, tmp_path: Path) -> None:
    """Forward over reverse: Enzyme differentiates the rule's own functions, which call the primal."""
    rule = """double aug_f(double x) { return f(x); }
        double grad_f(double x, double seed) { return 3 * x * x * seed; }
        typedef struct { double primal, tangent; } Pair;
        Pair fwd_f(double x, double dx) { Pair pair = {f(x), 3 * x * x * dx}; return pair; }"""
    text = f"double f(double x);{rule} double kernel(double x) {{ return x * f(x); }}"
    native = native_library(enzyme, tmp_path / "native", "native", "double f(double x) { return x * x * x; }")
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": text}, link=[native])
    finalize(enzyme, library, [F_RULE])
    host = """double kernel(double x);
        double outer(double x) { return kernel(x); }
        double slope(double x) { return __enzyme_autodiff((void *)outer, x); }
        int main(void) { printf("%.17g\\n", __enzyme_fwddiff((void *)slope, 2.0, 1.0)); }"""
    found = enzyme.differentiate(host, tmp_path / "host", imports=[(library, "kernel")], link=[native])
    assert found == pytest.approx([12 * 2**2], rel=1e-12)


@BOTH
def test_rule_on_a_function_that_returns_a_number_is_refused(enzyme: Enzyme, tmp_path: Path, typed: bool) -> None:
    """LLVM folds the result of such a call away, so Enzyme's answer would be silently that of a constant."""
    text = f"double f(double x) {{ return 7; }}{SCALAR_RULE}double kernel(double x) {{ return x * f(x); }}"
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": text}, typed=typed)
    facts = finalize(enzyme, library, [F_RULE], typed=typed)
    assert [problem.finding for problem in facts.rules[0].problems] == ["EB011"]
    assert "f always returns the same number" in facts.rules[0].problems[0].text


@BOTH
@PASSES
def test_body_in_a_loop_whose_buffers_are_used_again(enzyme: Enzyme, tmp_path: Path, typed: bool, passes: str) -> None:
    """Enzyme must not conclude from the body that a buffer can be read again in the reverse pass."""
    text = """#include <math.h>
        #include <stdlib.h>
        __attribute__((noinline)) void vexp(int n, const double *x, double *y) {
          for (int i = 0; i < n; i++) y[i] = exp(x[i]);
        }
        void *aug(int n, int m, const double *x, double *d_x, double *y, double *d_y) {
          double *tape = malloc(8 * n);
          for (int i = 0; i < n; i++) tape[i] = x[i];
          vexp(n, x, y);
          return tape;
        }
        void grad(int n, int m, const double *x, double *d_x, double *y, double *d_y, void *tape) {
          for (int i = 0; i < n; i++) { double s = d_y[i]; d_y[i] = 0; d_x[i] += s * exp(((double *)tape)[i]); }
          free(tape);
        }
        static double use(double u, double v) { double x[2] = {u, v}, y[2]; vexp(2, x, y); return y[0] * y[1] + x[0]; }
        double kernel(double x) {
          double u = x, total = 0;
          for (int i = 0; i < 3; i++) { u = 0.5 + 0.125 * use(u, 1.3); total += u * x; }
          return total;
        }"""
    rule = DerivativeRule(function="vexp", augmented="aug", gradient="grad", origin=ORIGIN)
    answers = []
    for rules in ((), (rule,)):
        library = build_library(enzyme, tmp_path / str(len(rules)), "kernel", {"kernel.c": text}, typed=typed)
        finalize(enzyme, library, rules, typed=typed)
        imports = [(library, "kernel")]
        answers.append(
            enzyme.differentiate(SCALAR_HOST, tmp_path / "host", imports=imports, typed=typed, passes=passes)
        )
    assert answers[1] == pytest.approx(answers[0], rel=1e-12)
    assert answers[1][0] == pytest.approx(answers[1][1], rel=1e-12)
