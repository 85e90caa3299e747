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

/* halve: in_place_element.toml:1: derivative[0] */
/*   d x / d x = 0.5f * x_out / x */

extern void halve(float *x);

struct __enzymebc_values_halve {
    float x;
};

void __enzymebc_packet_halve(struct __enzymebc_values_halve *values) {
    halve(&values->x);
}

void __enzymebc_shim_halve(float *x) {
    struct __enzymebc_values_halve values;
    values.x = *x;
    __enzymebc_packet_halve(&values);
    *x = values.x;
}

struct __enzymebc_tape_halve {
    float x;
    float x_out;
};

static struct __enzymebc_tape_halve *__enzymebc_record_tape_halve(struct __enzymebc_values_halve *values) {
    struct __enzymebc_tape_halve *tape = malloc(sizeof *tape);
    if (tape == NULL) abort();
    tape->x = values->x;
    __enzymebc_packet_halve(values);
    tape->x_out = values->x;
    return tape;
}

void *__enzymebc_augmented_halve(struct __enzymebc_values_halve *values, struct __enzymebc_values_halve *d_values) {
    (void)d_values;
    return __enzymebc_record_tape_halve(values);
}

void __enzymebc_gradient_halve(
        struct __enzymebc_values_halve *values,
        struct __enzymebc_values_halve *d_values,
        void *memory) {
    struct __enzymebc_tape_halve *tape = memory;
    const float x = tape->x;
    const float x_out = tape->x_out;
    float seed_x = 0;
    if (d_values != values) {
        seed_x = d_values->x;
        d_values->x = 0;
    }
    float add_x = 0;
    if (seed_x != 0) {
        add_x += (0.5f * x_out / x) * seed_x;
    }
    if (d_values != values) {
        d_values->x += add_x;
    }
    free(tape);
}

void __enzymebc_tangent_halve(struct __enzymebc_values_halve *values, struct __enzymebc_values_halve *d_values) {
    struct __enzymebc_tape_halve *tape = __enzymebc_record_tape_halve(values);
    const float x = tape->x;
    const float x_out = tape->x_out;
    const float tangent_x = d_values != values ? d_values->x : 0;
    float sum_x = 0;
    if (tangent_x != 0) {
        sum_x += (0.5f * x_out / x) * tangent_x;
    }
    if (d_values != values) {
        d_values->x = sum_x;
    }
    free(tape);
}
