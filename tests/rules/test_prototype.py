"""C declarations as people paste them."""

from __future__ import annotations

import pytest

from enzyme_build.rules.prototype import parse_prototype


@pytest.mark.parametrize(
    ("text", "result", "parameters"),
    [
        ("double f(double x);", "floating", ["floating"]),
        ("double f(double x)", "floating", ["floating"]),
        ("long double f(float, double)", "floating", ["floating", "floating"]),
        ("void f(void)", "void", []),
        ("void f()", "void", []),
        ("void f(const double *restrict x, double *__restrict__ out)", "void", ["pointer", "pointer"]),
        ("size_t f(int64_t n, uint8_t b, _Bool c, bool d, unsigned long long e)", "integer", ["integer"] * 5),
        ("int f(FILE *stream, const char *format)", "integer", ["pointer", "pointer"]),
        ("void f(double x[], double y[3], double z[static 4], double w[][3])", "void", ["pointer"] * 4),
        ("void f(double (*callback)(double), int g(int), void (*)(void))", "void", ["pointer"] * 3),
        ("real_t f(real_t x, const vector_t *v, vector_t[2])", "other", ["other", "pointer", "pointer"]),
        ("void f(struct S *s, struct S t, union U u, enum E e)", "void", ["pointer", "other", "other", "integer"]),
        ("double _Complex f(float _Complex z)", "other", ["other"]),
        ("double *f(double *const x, int n)", "pointer", ["pointer", "integer"]),
        ("extern double f(double x) __attribute__((const, nothrow));", "floating", ["floating"]),
        ('extern "C" double f(double x);', "floating", ["floating"]),
        ("double f(double x /* in */); // pure", "floating", ["floating"]),
        ("static inline double f(volatile double x)", "floating", ["floating"]),
        ("float (*f(int n))(double)", "pointer", ["integer"]),
        ("void (f)(my_type a, double b)", "void", ["other", "floating"]),
    ],
)
def test_kinds(text: str, result: str, parameters: list[str]) -> None:
    prototype = parse_prototype(text)
    assert prototype.name == "f"
    assert prototype.result_kind == result
    assert [parameter.kind for parameter in prototype.parameters] == parameters
    assert not prototype.variadic


def test_names_and_texts() -> None:
    prototype = parse_prototype("\nvoid  my_square( const double * x,\n double out[] , size_t);\n")
    assert prototype.text == "void my_square(const double *x, double out[], size_t)"
    assert [parameter.name for parameter in prototype.parameters] == ["x", "out", None]
    assert [parameter.text for parameter in prototype.parameters] == ["const double *", "double []", "size_t"]
    assert prototype.result_text == "void"


def test_variadic() -> None:
    prototype = parse_prototype("int printf(const char *format, ...)")
    assert prototype.variadic
    assert len(prototype.parameters) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("void f(double &x)", "column 15: '&' is a C++ reference; name the function with 'function'"),
        ("void f(double &&x)", "column 15: '&' is a C++ reference"),
        ("double ns::f(double)", "column 10: '::' is C++; name the function with 'function'"),
        ("double f(vector<double> x)", "column 16: '<' is C++"),
        ("class Solver *f(void)", "column 1: 'class' is C++"),
        ("double f(double x", "column 18: not a C declaration: it ends too early"),
        ("double f(double x))", "column 19: not a C declaration: unexpected ')'"),
        ("double f(double x,)", "column 19: a parameter is missing before ')'"),
        ("void f(\n  double x,\n  , int n)", "line 3, column 3: a parameter is missing before ','"),
        ("int counter", "expected one function declaration, found not a function: 'int counter'"),
        ("double f(double x) { return x; }", "expected one function declaration, found a function definition"),
        ("double f(int); double g(int)", "expected one function declaration, found several"),
        ("EXPORT double f(double x)", "'EXPORT' beside 'double' is no type; leave macros out"),
        ("void f(int n, void x)", "parameter 1 is 'void'; a pointer is written 'void *'"),
        ("void f(void x)", "parameter 0 is 'void'; a pointer is written 'void *'"),
        ("#define f(x) x", "column 1: preprocessor lines are not read"),
        (" ; ", "is empty; write the function's C declaration"),
        ("void f(int) __attribute__((pure)", "column 26: this parenthesis is never closed"),
    ],
)
def test_what_is_no_declaration(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_prototype(text)
    assert message in str(caught.value)
