/*
 * Derivatives stated in rule files, rendered by enzyme-build; do not edit.
 *
 * values: all that is passed by value, and the results, of one call. A rule is on the packet function, which takes them
 * by one pointer. An argument whose shadow is the argument itself is inactive: its shadow is left alone.
 */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* twice: scalar_without_tape.toml:1: derivative[0] */
/*   d result / d x = 2 */
/*   d result / d unused = 0 */

extern double twice(double x, double unused);

struct __enzymebc_values_twice {
    double x;
    double unused;
    double result;
};

void __enzymebc_packet_twice(struct __enzymebc_values_twice *values) {
    values->result = twice(values->x, values->unused);
}

double __enzymebc_shim_twice(double x, double unused) {
    struct __enzymebc_values_twice values;
    values.x = x;
    values.unused = unused;
    values.result = 0;
    __enzymebc_packet_twice(&values);
    return values.result;
}

void __enzymebc_augmented_twice(struct __enzymebc_values_twice *values, struct __enzymebc_values_twice *d_values) {
    (void)d_values;
    __enzymebc_packet_twice(values);
}

void __enzymebc_gradient_twice(struct __enzymebc_values_twice *values, struct __enzymebc_values_twice *d_values) {
    double seed_result = 0;
    if (d_values != values) {
        seed_result = d_values->result;
        d_values->result = 0;
    }
    double add_x = 0;
    if (seed_result != 0) {
        add_x += (2) * seed_result;
    }
    if (d_values != values) {
        d_values->x += add_x;
    }
}

void __enzymebc_tangent_twice(struct __enzymebc_values_twice *values, struct __enzymebc_values_twice *d_values) {
    const double tangent_x = d_values != values ? d_values->x : 0;
    double sum_result = 0;
    if (tangent_x != 0) {
        sum_result += (2) * tangent_x;
    }
    __enzymebc_packet_twice(values);
    if (d_values != values) {
        d_values->result = sum_result;
    }
}
