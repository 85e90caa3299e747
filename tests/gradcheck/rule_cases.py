"""C functions with derivative rules, right and wrong: what gradcheck has to tell apart."""

from __future__ import annotations

from dataclasses import dataclass

PRELUDE = """
#include <math.h>
#include <stdlib.h>
#include <string.h>
typedef struct { double primal, tangent; } Pair;
typedef struct { double x, y; } Two;
typedef struct { void *tape; double primal; } Taped;
"""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A function `name` with its rule: C text, prototype, and what the rule file says of the test."""

    name: str
    prototype: str
    code: str
    forward: bool = True
    reverse: bool = True
    test: str = ""

    def toml(self) -> str:
        lines = ["[[derivative]]", f'prototype = "{self.prototype}"']
        if self.reverse:
            lines.append(f'reverse = {{ augmented = "aug_{self.name}", gradient = "grad_{self.name}" }}')
        if self.forward:
            lines.append(f'forward = {{ tangent = "fwd_{self.name}" }}')
        if self.test:
            lines += ["[derivative.test]", self.test]
        return "\n".join(lines) + "\n"


SQUARE = """
__attribute__((noinline)) void NAME(const double *x, double *out) { *out = *x * *x; }
void *aug_NAME(const double *x, double *d_x, double *out, double *d_out) {
  double *tape = malloc(sizeof *tape);
  *tape = *x;
  NAME(x, out);
  return tape;
}
void grad_NAME(const double *x, double *d_x, double *out, double *d_out, void *tape) {
  if (d_out != out) {
    double seed = *d_out;
    *d_out = 0;
    if (d_x != x) *d_x += 2 * *(double *)tape * seed;
  }
  free(tape);
}
void fwd_NAME(const double *x, const double *d_x, double *out, double *d_out) {
  double value = *x;
  NAME(x, out);
  *d_out = 2 * value * *d_x;
}
"""
PRODUCT = """
__attribute__((noinline)) double NAME(double x, double y) { return x * x * sin(y); }
double aug_NAME(double x, double y) { return NAME(x, y); }
Two grad_NAME(double x, double y, double seed) { return (Two){2 * x * sin(y) * seed, x * x * cos(y) * seed}; }
Pair fwd_NAME(double x, double d_x, double y, double d_y) {
  return (Pair){NAME(x, y), 2 * x * sin(y) * d_x + x * x * cos(y) * d_y};
}
"""
MATVEC = """
__attribute__((noinline)) void NAME(int n, const double *a, const double *x, double *y) {
  for (int i = 0; i < n; i++) { double sum = 0; for (int j = 0; j < n; j++) sum += a[i * n + j] * x[j]; y[i] = sum; }
}
double *aug_NAME(int n, int n2, const double *a, double *d_a, const double *x, double *d_x, double *y, double *d_y) {
  double *tape = malloc(sizeof(double) * (n * n + n));
  memcpy(tape, a, sizeof(double) * n * n);
  memcpy(tape + n * n, x, sizeof(double) * n);
  NAME(n, a, x, y);
  return tape;
}
void grad_NAME(int n, int n2, const double *a, double *d_a, const double *x, double *d_x, double *y, double *d_y,
               double *tape) {
  if (d_y != y)
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        if (d_a != a) d_a[i * n + j] += d_y[i] * tape[n * n + j];
        if (d_x != x) d_x[j] += d_y[i] * tape[i * n + j];
      }
    }
  if (d_y != y) memset(d_y, 0, sizeof(double) * n);
  free(tape);
}
void fwd_NAME(int n, int n2, const double *a, const double *d_a, const double *x, const double *d_x, double *y,
              double *d_y) {
  NAME(n, a, x, y);
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += d_a[i * n + j] * x[j] + a[i * n + j] * d_x[j];
    d_y[i] = sum;
  }
}
"""
NORM = """
__attribute__((noinline)) double NAME(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}
Taped aug_NAME(const double *x, double *d_x, int n, int n2) {
  double *tape = malloc(sizeof(double) * (n + 1));
  memcpy(tape, x, sizeof(double) * n);
  tape[n] = NAME(x, n);
  return (Taped){tape, tape[n]};
}
void grad_NAME(const double *x, double *d_x, int n, int n2, double seed, void *saved) {
  double *tape = saved;
  if (d_x != x) for (int i = 0; i < n; i++) d_x[i] += tape[i] / tape[n] * seed;
  free(tape);
}
Pair fwd_NAME(const double *x, const double *d_x, int n, int n2) {
  double value = NAME(x, n), sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * d_x[i];
  return (Pair){value, sum / value};
}
"""
MATVEC_PROTOTYPE = "void NAME(int n, const double *a, const double *x, double *y)"
SQUARE_PROTOTYPE = "void NAME(const double *x, double *out)"
ONE = "arguments = { x = { size = 1 }, out = { size = 1 } }"
MATVEC_TEST = 'arguments = { a = { size = "n * n" }, x = { size = "n" }, y = { size = "n" }, n = 3 }'


def case(name: str, prototype: str, code: str, *changes: tuple[str, str], **more) -> Case:
    """Return a case made of `code`, in which each of `changes` must find something to replace."""
    for before, after in changes:
        assert before in code, before
        code = code.replace(before, after)
    return Case(name=name, prototype=prototype.replace("NAME", name), code=code.replace("NAME", name), **more)


RIGHT = (
    case("square", SQUARE_PROTOTYPE, SQUARE, test=ONE),
    case("unsized_square", SQUARE_PROTOTYPE, SQUARE),
    case("product", "double NAME(double x, double y)", PRODUCT),
    case("matvec", MATVEC_PROTOTYPE, MATVEC, test=MATVEC_TEST),
    case("guessed_matvec", MATVEC_PROTOTYPE, MATVEC),
    case("norm", "double NAME(const double *x, int n)", NORM),
    case("only_reverse", "double NAME(const double *x, int n)", NORM, forward=False),
    case("only_forward", "double NAME(double x, double y)", PRODUCT, reverse=False),
    case(
        "single",
        "float NAME(float x)",
        """
        __attribute__((noinline)) float NAME(float x) { return x * x; }
        float aug_NAME(float x) { return NAME(x); }
        float grad_NAME(float x, float seed) { return 2 * x * seed; }
        """,
        forward=False,
    ),
    case(
        "axpy",
        "void NAME(int n, double alpha, const double *x, int incx, double *y, int incy)",
        """
        __attribute__((noinline)) void NAME(int n, double alpha, const double *x, int incx, double *y, int incy) {
          for (int i = 0; i < n; i++) y[i * incy] += alpha * x[i * incx];
        }
        void *aug_NAME(int n, int n2, double alpha, const double *x, double *d_x, int incx, int incx2, double *y,
                       double *d_y, int incy, int incy2) {
          double *tape = malloc(sizeof(double) * n);
          for (int i = 0; i < n; i++) tape[i] = x[i * incx];
          NAME(n, alpha, x, incx, y, incy);
          return tape;
        }
        double grad_NAME(int n, int n2, double alpha, const double *x, double *d_x, int incx, int incx2, double *y,
                         double *d_y, int incy, int incy2, void *saved) {
          double *tape = saved, adjoint = 0;
          if (d_y != y)
            for (int i = 0; i < n; i++) {
              adjoint += tape[i] * d_y[i * incy];
              if (d_x != x) d_x[i * incx] += alpha * d_y[i * incy];
            }
          free(tape);
          return adjoint;
        }
        void fwd_NAME(int n, int n2, double alpha, double d_alpha, const double *x, const double *d_x, int incx,
                      int incx2, double *y, double *d_y, int incy, int incy2) {
          for (int i = 0; i < n; i++) d_y[i * incy] += d_alpha * x[i * incx] + alpha * d_x[i * incx];
          NAME(n, alpha, x, incx, y, incy);
        }
        """,
        test="arguments = { n = 3, incx = 2, incy = 3 }",
    ),
    case(
        "scale_",
        "void NAME(const int *n, const double *alpha, double *x)",
        """
        __attribute__((noinline)) void NAME(const int *n, const double *alpha, double *x) {
          for (int i = 0; i < *n; i++) x[i] *= *alpha;
        }
        double *aug_NAME(const int *n, int *d_n, const double *alpha, double *d_alpha, double *x, double *d_x) {
          double *tape = malloc(sizeof(double) * (*n + 1));
          memcpy(tape, x, sizeof(double) * *n);
          tape[*n] = *alpha;
          NAME(n, alpha, x);
          return tape;
        }
        void grad_NAME(const int *n, int *d_n, const double *alpha, double *d_alpha, double *x, double *d_x,
                       double *tape) {
          if (d_x != x)
            for (int i = 0; i < *n; i++) {
              if (d_alpha != alpha) *d_alpha += tape[i] * d_x[i];
              d_x[i] *= tape[*n];
            }
          free(tape);
        }
        """,
        forward=False,
    ),
    case(
        "vector",
        "struct three NAME(const double *x)",
        """
        struct three { double a, b, c; };
        __attribute__((noinline)) struct three NAME(const double *x) { return (struct three){*x * *x, 3 * *x, 1}; }
        void aug_NAME(struct three *r, struct three *d_r, const double *x, double *d_x) { *r = NAME(x); }
        void grad_NAME(struct three *r, struct three *d_r, const double *x, double *d_x) {
          if (d_r == r) return;
          if (d_x != x) *d_x += 2 * r->a / sqrt(r->a) * d_r->a + 3 * d_r->b;
          d_r->a = d_r->b = d_r->c = 0;
        }
        void fwd_NAME(struct three *r, struct three *d_r, const double *x, const double *d_x) {
          *r = NAME(x);
          *d_r = (struct three){2 * *x * *d_x, 3 * *d_x, 0};
        }
        """,
        test="arguments = { result = { kept = true, type = 'double', size = 3 } }",
    ),
    case(
        "root",
        "double NAME(double x)",
        """
        __attribute__((noinline)) double NAME(double x) { return log(x - 1) + fabs(x - 1.7); }
        double aug_NAME(double x) { return NAME(x); }
        double grad_NAME(double x, double seed) { return (1 / (x - 1) + (x > 1.7 ? 1 : -1)) * seed; }
        Pair fwd_NAME(double x, double d_x) { return (Pair){NAME(x), (1 / (x - 1) + (x > 1.7 ? 1 : -1)) * d_x}; }
        """,
    ),
)

# name of the mistake: (the case, what gradcheck must call it, a word of the text)
WRONG: dict[str, tuple[Case, str, str]] = {
    "sign": (
        case(
            "wrong_sign",
            "double NAME(double x, double y)",
            PRODUCT,
            ("x * x * cos(y) * seed", "-x * x * cos(y) * seed"),
        ),
        "wrong-gradient",
        "the sign is wrong",
    ),
    "factor 2": (
        case("wrong_factor", SQUARE_PROTOTYPE, SQUARE, ("+= 2 * *(double *)tape", "+= 4 * *(double *)tape"), test=ONE),
        "wrong-gradient",
        "it is twice that",
    ),
    "transposed": (
        case(
            "wrong_transposed",
            MATVEC_PROTOTYPE,
            MATVEC,
            ("d_x[j] += d_y[i] * tape[i * n + j]", "d_x[j] += d_y[i] * tape[j * n + i]"),
            test=MATVEC_TEST,
        ),
        "wrong-gradient",
        "the adjoint of x[",
    ),
    "assigned, not accumulated": (
        case("wrong_assigned", SQUARE_PROTOTYPE, SQUARE, ("*d_x += ", "*d_x = "), test=ONE),
        "not-accumulated",
        "the shadow of x[0] is assigned, not added to",
    ),
    "shadow not cleared": (
        case("wrong_uncleared", SQUARE_PROTOTYPE, SQUARE, ("*d_out = 0;", ""), test=ONE),
        "not-cleared",
        "the shadow of out[0] still holds",
    ),
    "tape leaked": (
        case("wrong_leak", SQUARE_PROTOTYPE, SQUARE, ("free(tape);", ""), test=ONE),
        "leak",
        "every call leaves 1 block of memory behind",
    ),
    "wrong tape value": (
        case("wrong_tape", SQUARE_PROTOTYPE, SQUARE, ("*(double *)tape * seed", "*x * seed"), test=ONE),
        "overwritten",
        "the adjoint of x[0] changes when the caller overwrites its arrays",
    ),
    "missing primal return": (
        case("wrong_return", "double NAME(double x, double y)", PRODUCT, ("{ return NAME(x, y); }", "{ return 0; }")),
        "primal-result",
        "the augmented function leaves another result",
    ),
    "swapped arguments": (
        case(
            "wrong_swapped",
            "double NAME(double x, double y)",
            PRODUCT,
            (
                "(Two){2 * x * sin(y) * seed, x * x * cos(y) * seed}",
                "(Two){x * x * cos(y) * seed, 2 * x * sin(y) * seed}",
            ),
        ),
        "wrong-gradient",
        "the adjoint of",
    ),
    "tape freed twice": (
        case("wrong_free", SQUARE_PROTOTYPE, SQUARE, ("free(tape);", "free(tape); free(tape);"), test=ONE),
        "crash",
        "the gradient function crashes (SIGABRT)",
    ),
    "inactive argument": (
        case("wrong_guard", SQUARE_PROTOTYPE, SQUARE, ("if (d_x != x) ", ""), test=ONE),
        "inactive-changed",
        "with x inactive, the gradient changes x[0]",
    ),
    "inactive output": (
        case("wrong_seed", SQUARE_PROTOTYPE, SQUARE, ("if (d_out != out) {", "{"), test=ONE),
        "inactive-changed",
        "with out inactive, the gradient changes out[0]",
    ),
    "changed primal": (
        case("wrong_write", SQUARE_PROTOTYPE, SQUARE, ("free(tape);", "free(tape); *out += 1;"), test=ONE),
        "primal-changed",
        "the gradient function changes out[0] itself",
    ),
    "state between calls": (
        case(
            "wrong_state",
            SQUARE_PROTOTYPE,
            SQUARE,
            ("double seed =", "static int calls; double seed = calls++ % 2 + 1 +"),
            test=ONE,
        ),
        "second-call",
        "a second call gives another adjoint of x[0]",
    ),
    "wrong tangent": (
        case("wrong_tangent", "double NAME(double x, double y)", PRODUCT, ("* d_x + x", "* d_x - x")),
        "wrong-tangent",
        "the tangent of result",
    ),
    "tangent accumulated": (
        case("wrong_added", SQUARE_PROTOTYPE, SQUARE, ("*d_out = 2 * value", "*d_out += 2 * value"), test=ONE),
        "wrong-tangent",
        "the tangent of out[0]",
    ),
    "size": (
        case(
            "wrong_size", MATVEC_PROTOTYPE, MATVEC, test=MATVEC_TEST.replace('y = { size = "n" }', "y = { size = 1 }")
        ),
        "too-small",
        "y[1] was written",
    ),
    "endless": (
        case(
            "wrong_loop",
            SQUARE_PROTOTYPE,
            SQUARE,
            ("free(tape);", "for (volatile int i = 1; i;);"),
            test=ONE,
            forward=False,
        ),
        "crash",
        "the gradient function does not come back",
    ),
    "function that ends the program": (
        case(
            "wrong_exit",
            SQUARE_PROTOTYPE,
            SQUARE,
            ("*out = *x * *x;", "if (*x > 0) exit(0); *out = *x * *x;"),
            test=ONE,
        ),
        "crash",
        "the function itself ends the program",
    ),
    "domain": (
        case(
            "wrong_domain",
            "double NAME(double x, double y)",
            PRODUCT,
            test="range = [-2.0, -1.0]",
        ).__class__(
            name="wrong_domain",
            prototype="double wrong_domain(double x, double y)",
            code=PRODUCT.replace("NAME", "wrong_domain").replace("x * x * sin(y); }", "sqrt(x) * sin(y); }", 1),
            test="range = [-2.0, -1.0]",
        ),
        "not-finite",
        "no finite numbers at any of 3 random points",
    ),
}
