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

/*
 * What has no shadow is passed as a distance between addresses: integers in a struct of their own, pointers one by one.
 * Enzyme sees an integer, and applies the rule in forward mode too, which it does not when it sees an inactive pointer,
 * or an integer argument that is the constant 0 or -1.
 */
static const char enzymebc_here;
#define ENZYMEBC_HIDE(pointer) ((uintptr_t)(pointer) - (uintptr_t)&enzymebc_here)
#define ENZYMEBC_POINTER(distance) ((void *)((distance) + (uintptr_t)&enzymebc_here))

/*
 * No pointer is that large. Where Enzyme sees that a function does not write to an array, it may read the array anew in
 * the reverse pass of a loop, when a later turn has overwritten it; so it must not see that.
 */
#define ENZYMEBC_NEVER(pointer) ((uintptr_t)(pointer) > UINTPTR_MAX - 16)

static size_t __enzymebc_padded(size_t bytes) {
    return (bytes + 15) / 16 * 16;
}

/* weighted: reduction.toml:1: derivative[0] */
/*   d result / d x = 2 * w * x */
/*   d result / d scale = 1 */

extern double weighted(int rows, int columns, const double *w, const double *x, const float *scale);

struct __enzymebc_values_weighted {
    double result;
};

struct __enzymebc_plain_weighted {
    int rows;
    int columns;
};

void __enzymebc_packet_weighted(
        struct __enzymebc_values_weighted *values,
        uintptr_t plain_distance,
        uintptr_t w_distance,
        const double *at_x,
        const float *at_scale) {
    struct __enzymebc_plain_weighted *plain = ENZYMEBC_POINTER(plain_distance);
    values->result = weighted(plain->rows, plain->columns, ENZYMEBC_POINTER(w_distance), at_x, at_scale);
    if (ENZYMEBC_NEVER(at_x)) *(double *)at_x = 0;
    if (ENZYMEBC_NEVER(at_scale)) *(float *)at_scale = 0;
}

double __enzymebc_shim_weighted(int rows, int columns, const double *w, const double *x, const float *scale) {
    struct __enzymebc_values_weighted values;
    struct __enzymebc_plain_weighted plain;
    plain.rows = rows;
    plain.columns = columns;
    values.result = 0;
    __enzymebc_packet_weighted(&values, ENZYMEBC_HIDE(&plain), ENZYMEBC_HIDE(w), x, scale);
    return values.result;
}

struct __enzymebc_tape_weighted {
    int rows;
    int columns;
    double *w;
    double *x;
};

static struct __enzymebc_tape_weighted *__enzymebc_record_tape_weighted(
        struct __enzymebc_values_weighted *values,
        uintptr_t plain_distance,
        uintptr_t w_distance,
        const double *at_x,
        const float *at_scale) {
    struct __enzymebc_plain_weighted *plain = ENZYMEBC_POINTER(plain_distance);
    const int rows = plain->rows;
    const int columns = plain->columns;
    const ptrdiff_t count_1 = rows * columns;
    const size_t size_w = __enzymebc_padded(count_1 > 0 ? (size_t)count_1 * sizeof(double) : 0);
    const size_t size_x = __enzymebc_padded(count_1 > 0 ? (size_t)count_1 * sizeof(double) : 0);
    char *memory = malloc(__enzymebc_padded(sizeof(struct __enzymebc_tape_weighted)) + size_w + size_x);
    struct __enzymebc_tape_weighted *tape = (void *)memory;
    if (tape == NULL) abort();
    memory += __enzymebc_padded(sizeof *tape);
    tape->w = (void *)memory;
    memory += size_w;
    tape->x = (void *)memory;
    tape->rows = plain->rows;
    tape->columns = plain->columns;
    for (ptrdiff_t i = 0; i < count_1; i++) tape->w[i] = ((const double *)ENZYMEBC_POINTER(w_distance))[i];
    for (ptrdiff_t i = 0; i < count_1; i++) tape->x[i] = at_x[i];
    __enzymebc_packet_weighted(values, plain_distance, w_distance, at_x, at_scale);
    return tape;
}

void *__enzymebc_augmented_weighted(
        struct __enzymebc_values_weighted *values,
        struct __enzymebc_values_weighted *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        uintptr_t w_distance,
        uintptr_t w_distance_again,
        const double *at_x,
        double *d_x,
        const float *at_scale,
        float *d_scale) {
    (void)d_values;
    (void)plain_distance_again;
    (void)w_distance_again;
    (void)d_x;
    (void)d_scale;
    return __enzymebc_record_tape_weighted(values, plain_distance, w_distance, at_x, at_scale);
}

void __enzymebc_gradient_weighted(
        struct __enzymebc_values_weighted *values,
        struct __enzymebc_values_weighted *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        uintptr_t w_distance,
        uintptr_t w_distance_again,
        const double *at_x,
        double *d_x,
        const float *at_scale,
        float *d_scale,
        void *memory) {
    (void)plain_distance;
    (void)plain_distance_again;
    (void)w_distance;
    (void)w_distance_again;
    struct __enzymebc_tape_weighted *tape = memory;
    const int rows = tape->rows;
    const int columns = tape->columns;
    const ptrdiff_t count_1 = rows * columns;
    const ptrdiff_t count_columns = columns;
    const int active_x = d_x != at_x;
    const int active_scale = d_scale != at_scale;
    double seed_result = 0;
    if (d_values != values) {
        seed_result = d_values->result;
        d_values->result = 0;
    }
    for (ptrdiff_t i = 0; i < count_1; i++) {
        const double w = tape->w[i];
        const double x = tape->x[i];
        if (seed_result != 0) {
            if (active_x) d_x[i] += (2 * w * x) * seed_result;
        }
    }
    for (ptrdiff_t i = 0; i < count_columns; i++) {
        if (seed_result != 0) {
            if (active_scale) d_scale[i] += (1) * seed_result;
        }
    }
    free(tape);
}

void __enzymebc_tangent_weighted(
        struct __enzymebc_values_weighted *values,
        struct __enzymebc_values_weighted *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        uintptr_t w_distance,
        uintptr_t w_distance_again,
        const double *at_x,
        double *d_x,
        const float *at_scale,
        float *d_scale) {
    (void)plain_distance_again;
    (void)w_distance_again;
    struct __enzymebc_plain_weighted *plain = ENZYMEBC_POINTER(plain_distance);
    const int rows = plain->rows;
    const int columns = plain->columns;
    const ptrdiff_t count_1 = rows * columns;
    const ptrdiff_t count_columns = columns;
    const int active_x = d_x != at_x;
    const int active_scale = d_scale != at_scale;
    double sum_result = 0;
    for (ptrdiff_t i = 0; i < count_1; i++) {
        const double w = ((const double *)ENZYMEBC_POINTER(w_distance))[i];
        const double x = at_x[i];
        const double tangent_x = active_x ? d_x[i] : 0;
        if (tangent_x != 0) {
            sum_result += (2 * w * x) * tangent_x;
        }
    }
    for (ptrdiff_t i = 0; i < count_columns; i++) {
        const float tangent_scale = active_scale ? d_scale[i] : 0;
        if (tangent_scale != 0) {
            sum_result += (1) * tangent_scale;
        }
    }
    __enzymebc_packet_weighted(values, plain_distance, w_distance, at_x, at_scale);
    if (d_values != values) {
        d_values->result = sum_result;
    }
}

void __enzymebc_inner_weighted(
        uintptr_t values_distance,
        uintptr_t plain_distance,
        uintptr_t w_distance,
        const double *at_x,
        const float *at_scale) {
    struct __enzymebc_plain_weighted *plain = ENZYMEBC_POINTER(plain_distance);
    struct __enzymebc_values_weighted *values = ENZYMEBC_POINTER(values_distance);
    values->result = weighted(plain->rows, plain->columns, ENZYMEBC_POINTER(w_distance), at_x, at_scale);
}

void __enzymebc_bridge_weighted(
        struct __enzymebc_values_weighted *values,
        uintptr_t plain_distance,
        uintptr_t w_distance,
        const double *at_x,
        const float *at_scale) {
    __enzymebc_inner_weighted(ENZYMEBC_HIDE(values), plain_distance, w_distance, at_x, at_scale);
}

void __enzymebc_innertangent_weighted(
        uintptr_t values_distance,
        uintptr_t values_distance_again,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        uintptr_t w_distance,
        uintptr_t w_distance_again,
        const double *at_x,
        double *d_x,
        const float *at_scale,
        float *d_scale) {
    (void)values_distance_again;
    struct __enzymebc_values_weighted d_values;
    memset(&d_values, 0, sizeof d_values);
    __enzymebc_tangent_weighted(ENZYMEBC_POINTER(values_distance), &d_values, plain_distance, plain_distance_again, w_distance, w_distance_again, at_x, d_x, at_scale, d_scale);
}
