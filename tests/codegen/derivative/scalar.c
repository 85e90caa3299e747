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

/* my_pow: scalar.toml:1: derivative[0] */
/*   d result / d x = y * pow(x, y - 1) */
/*   d result / d y = result * log(x) */

extern double my_pow(double x, double y);

struct __enzymebc_values_my_pow {
    double x;
    double y;
    double result;
};

void __enzymebc_packet_my_pow(struct __enzymebc_values_my_pow *values) {
    values->result = my_pow(values->x, values->y);
}

double __enzymebc_shim_my_pow(double x, double y) {
    struct __enzymebc_values_my_pow values;
    values.x = x;
    values.y = y;
    values.result = 0;
    __enzymebc_packet_my_pow(&values);
    return values.result;
}

struct __enzymebc_tape_my_pow {
    double x;
    double y;
    double result;
};

static struct __enzymebc_tape_my_pow *__enzymebc_record_tape_my_pow(struct __enzymebc_values_my_pow *values) {
    struct __enzymebc_tape_my_pow *tape = malloc(sizeof *tape);
    if (tape == NULL) abort();
    tape->x = values->x;
    tape->y = values->y;
    __enzymebc_packet_my_pow(values);
    tape->result = values->result;
    return tape;
}

void *__enzymebc_augmented_my_pow(struct __enzymebc_values_my_pow *values, struct __enzymebc_values_my_pow *d_values) {
    (void)d_values;
    return __enzymebc_record_tape_my_pow(values);
}

void __enzymebc_gradient_my_pow(
        struct __enzymebc_values_my_pow *values,
        struct __enzymebc_values_my_pow *d_values,
        void *memory) {
    struct __enzymebc_tape_my_pow *tape = memory;
    const double x = tape->x;
    const double y = tape->y;
    const double result = tape->result;
    double seed_result = 0;
    if (d_values != values) {
        seed_result = d_values->result;
        d_values->result = 0;
    }
    double add_x = 0;
    double add_y = 0;
    if (seed_result != 0) {
        add_x += (y * pow(x, y - 1)) * seed_result;
        add_y += (result * log(x)) * seed_result;
    }
    if (d_values != values) {
        d_values->x += add_x;
        d_values->y += add_y;
    }
    free(tape);
}

void __enzymebc_tangent_my_pow(struct __enzymebc_values_my_pow *values, struct __enzymebc_values_my_pow *d_values) {
    struct __enzymebc_tape_my_pow *tape = __enzymebc_record_tape_my_pow(values);
    const double x = tape->x;
    const double y = tape->y;
    const double result = tape->result;
    const double tangent_x = d_values != values ? d_values->x : 0;
    const double tangent_y = d_values != values ? d_values->y : 0;
    double sum_result = 0;
    if (tangent_x != 0) {
        sum_result += (y * pow(x, y - 1)) * tangent_x;
    }
    if (tangent_y != 0) {
        sum_result += (result * log(x)) * tangent_y;
    }
    if (d_values != values) {
        d_values->result = sum_result;
    }
    free(tape);
}
