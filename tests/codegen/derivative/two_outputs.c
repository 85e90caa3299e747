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

/* my_sincos: two_outputs.toml:1: derivative[0] */
/*   d sine / d x = cosine */
/*   d cosine / d x = -sine */

extern void my_sincos(double x, double *sine, double *cosine);

struct __enzymebc_values_my_sincos {
    double x;
    double sine;
    double cosine;
};

void __enzymebc_packet_my_sincos(struct __enzymebc_values_my_sincos *values) {
    my_sincos(values->x, &values->sine, &values->cosine);
}

void __enzymebc_shim_my_sincos(double x, double *sine, double *cosine) {
    struct __enzymebc_values_my_sincos values;
    values.x = x;
    values.sine = *sine;
    values.cosine = *cosine;
    __enzymebc_packet_my_sincos(&values);
    *sine = values.sine;
    *cosine = values.cosine;
}

struct __enzymebc_tape_my_sincos {
    double sine;
    double cosine;
};

static struct __enzymebc_tape_my_sincos *__enzymebc_record_tape_my_sincos(struct __enzymebc_values_my_sincos *values) {
    struct __enzymebc_tape_my_sincos *tape = malloc(sizeof *tape);
    if (tape == NULL) abort();
    __enzymebc_packet_my_sincos(values);
    tape->sine = values->sine;
    tape->cosine = values->cosine;
    return tape;
}

void *__enzymebc_augmented_my_sincos(
        struct __enzymebc_values_my_sincos *values,
        struct __enzymebc_values_my_sincos *d_values) {
    (void)d_values;
    return __enzymebc_record_tape_my_sincos(values);
}

void __enzymebc_gradient_my_sincos(
        struct __enzymebc_values_my_sincos *values,
        struct __enzymebc_values_my_sincos *d_values,
        void *memory) {
    struct __enzymebc_tape_my_sincos *tape = memory;
    const double sine = tape->sine;
    const double cosine = tape->cosine;
    double seed_sine = 0;
    double seed_cosine = 0;
    if (d_values != values) {
        seed_sine = d_values->sine;
        d_values->sine = 0;
        seed_cosine = d_values->cosine;
        d_values->cosine = 0;
    }
    double add_x = 0;
    if (seed_sine != 0) {
        add_x += (cosine) * seed_sine;
    }
    if (seed_cosine != 0) {
        add_x += (-sine) * seed_cosine;
    }
    if (d_values != values) {
        d_values->x += add_x;
    }
    free(tape);
}

void __enzymebc_tangent_my_sincos(
        struct __enzymebc_values_my_sincos *values,
        struct __enzymebc_values_my_sincos *d_values) {
    struct __enzymebc_tape_my_sincos *tape = __enzymebc_record_tape_my_sincos(values);
    const double sine = tape->sine;
    const double cosine = tape->cosine;
    const double tangent_x = d_values != values ? d_values->x : 0;
    double sum_sine = 0;
    double sum_cosine = 0;
    if (tangent_x != 0) {
        sum_sine += (cosine) * tangent_x;
        sum_cosine += (-sine) * tangent_x;
    }
    if (d_values != values) {
        d_values->sine = sum_sine;
        d_values->cosine = sum_cosine;
    }
    free(tape);
}
