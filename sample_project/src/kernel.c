#include "kernel.h"

#include <stdlib.h>

#include "my_square.h"

void kernel(const double *x, int count, double *out) {
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        double squared;
        my_square(&x[i], &squared);
        sum += damped_sine(x[i], squared);
    }
    *out = sum;
}

/* The derivative of my_square, named in rules/my_square.toml.
 *
 * Each pointer is followed by its shadow: d_x collects the derivative for x. For an inactive argument the shadow is
 * the argument itself, hence the comparisons. */

/* Forward sweep of reverse mode: do the work, keep what the gradient needs (x may be overwritten until then). */
void *augmented_my_square(const double *x, double *d_x, double *out, double *d_out) {
    (void)d_x;
    (void)d_out;
    double *tape = malloc(sizeof *tape);
    if (!tape) abort();
    *tape = *x;
    my_square(x, out);
    return tape;
}

/* Reverse sweep: add to the shadow of the input, clear that of the output, free the tape. */
void gradient_my_square(const double *x, double *d_x, double *out, double *d_out, void *tape) {
    double value = *(double *)tape;
    free(tape);
    if (d_out == out) return;
    if (d_x != x) *d_x += 2.0 * value * *d_out;
    *d_out = 0.0;
}

/* Forward mode: do the work, and compute the tangent of the output. */
void tangent_my_square(const double *x, const double *d_x, double *out, double *d_out) {
    double value = *x;
    double tangent = *d_x;
    my_square(x, out);
    *d_out = 2.0 * value * tangent;
}
