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

/* fnorm: by_reference.toml:1: derivative[0] */
/*   d r / d x = x / r */

extern void fnorm(const int *n, const double *x, const int *incx, double *r);

struct __enzymebc_values_fnorm {
    double r;
};

void __enzymebc_packet_fnorm(
        struct __enzymebc_values_fnorm *values,
        uintptr_t n_distance,
        const double *at_x,
        uintptr_t incx_distance) {
    fnorm(ENZYMEBC_POINTER(n_distance), at_x, ENZYMEBC_POINTER(incx_distance), &values->r);
    if (ENZYMEBC_NEVER(at_x)) *(double *)at_x = 0;
}

void __enzymebc_shim_fnorm(const int *n, const double *x, const int *incx, double *r) {
    struct __enzymebc_values_fnorm values;
    values.r = *r;
    __enzymebc_packet_fnorm(&values, ENZYMEBC_HIDE(n), x, ENZYMEBC_HIDE(incx));
    *r = values.r;
}

struct __enzymebc_tape_fnorm {
    int n;
    double *x;
    int incx;
    double r;
};

static struct __enzymebc_tape_fnorm *__enzymebc_record_tape_fnorm(
        struct __enzymebc_values_fnorm *values,
        uintptr_t n_distance,
        const double *at_x,
        uintptr_t incx_distance) {
    const int n = *((const int *)ENZYMEBC_POINTER(n_distance));
    const int incx = *((const int *)ENZYMEBC_POINTER(incx_distance));
    const ptrdiff_t count_n = n;
    const ptrdiff_t step_x = incx;
    const ptrdiff_t first_x = step_x < 0 ? (1 - count_n) * step_x : 0;
    const size_t size_x = __enzymebc_padded(count_n > 0 ? (size_t)count_n * sizeof(double) : 0);
    char *memory = malloc(__enzymebc_padded(sizeof(struct __enzymebc_tape_fnorm)) + size_x);
    struct __enzymebc_tape_fnorm *tape = (void *)memory;
    if (tape == NULL) abort();
    memory += __enzymebc_padded(sizeof *tape);
    tape->x = (void *)memory;
    tape->n = *((const int *)ENZYMEBC_POINTER(n_distance));
    for (ptrdiff_t i = 0; i < count_n; i++) tape->x[i] = at_x[first_x + i * step_x];
    tape->incx = *((const int *)ENZYMEBC_POINTER(incx_distance));
    __enzymebc_packet_fnorm(values, n_distance, at_x, incx_distance);
    tape->r = values->r;
    return tape;
}

void *__enzymebc_augmented_fnorm(
        struct __enzymebc_values_fnorm *values,
        struct __enzymebc_values_fnorm *d_values,
        uintptr_t n_distance,
        uintptr_t n_distance_again,
        const double *at_x,
        double *d_x,
        uintptr_t incx_distance,
        uintptr_t incx_distance_again) {
    (void)d_values;
    (void)n_distance_again;
    (void)d_x;
    (void)incx_distance_again;
    return __enzymebc_record_tape_fnorm(values, n_distance, at_x, incx_distance);
}

void __enzymebc_gradient_fnorm(
        struct __enzymebc_values_fnorm *values,
        struct __enzymebc_values_fnorm *d_values,
        uintptr_t n_distance,
        uintptr_t n_distance_again,
        const double *at_x,
        double *d_x,
        uintptr_t incx_distance,
        uintptr_t incx_distance_again,
        void *memory) {
    (void)n_distance;
    (void)n_distance_again;
    (void)incx_distance;
    (void)incx_distance_again;
    struct __enzymebc_tape_fnorm *tape = memory;
    const int n = tape->n;
    const int incx = tape->incx;
    const ptrdiff_t count_n = n;
    const ptrdiff_t step_x = incx;
    const ptrdiff_t first_x = step_x < 0 ? (1 - count_n) * step_x : 0;
    const double r = tape->r;
    const int active_x = d_x != at_x;
    double seed_r = 0;
    if (d_values != values) {
        seed_r = d_values->r;
        d_values->r = 0;
    }
    for (ptrdiff_t i = 0; i < count_n; i++) {
        const double x = tape->x[i];
        if (seed_r != 0) {
            if (active_x) d_x[first_x + i * step_x] += (x / r) * seed_r;
        }
    }
    free(tape);
}

void __enzymebc_tangent_fnorm(
        struct __enzymebc_values_fnorm *values,
        struct __enzymebc_values_fnorm *d_values,
        uintptr_t n_distance,
        uintptr_t n_distance_again,
        const double *at_x,
        double *d_x,
        uintptr_t incx_distance,
        uintptr_t incx_distance_again) {
    (void)n_distance_again;
    (void)incx_distance_again;
    struct __enzymebc_tape_fnorm *tape = __enzymebc_record_tape_fnorm(values, n_distance, at_x, incx_distance);
    const int n = tape->n;
    const int incx = tape->incx;
    const ptrdiff_t count_n = n;
    const ptrdiff_t step_x = incx;
    const ptrdiff_t first_x = step_x < 0 ? (1 - count_n) * step_x : 0;
    const double r = tape->r;
    const int active_x = d_x != at_x;
    double sum_r = 0;
    for (ptrdiff_t i = 0; i < count_n; i++) {
        const double x = tape->x[i];
        const double tangent_x = active_x ? d_x[first_x + i * step_x] : 0;
        if (tangent_x != 0) {
            sum_r += (x / r) * tangent_x;
        }
    }
    if (d_values != values) {
        d_values->r = sum_r;
    }
    free(tape);
}

void __enzymebc_inner_fnorm(
        uintptr_t values_distance,
        uintptr_t n_distance,
        const double *at_x,
        uintptr_t incx_distance) {
    struct __enzymebc_values_fnorm *values = ENZYMEBC_POINTER(values_distance);
    fnorm(ENZYMEBC_POINTER(n_distance), at_x, ENZYMEBC_POINTER(incx_distance), &values->r);
}

void __enzymebc_bridge_fnorm(
        struct __enzymebc_values_fnorm *values,
        uintptr_t n_distance,
        const double *at_x,
        uintptr_t incx_distance) {
    __enzymebc_inner_fnorm(ENZYMEBC_HIDE(values), n_distance, at_x, incx_distance);
}

void __enzymebc_innertangent_fnorm(
        uintptr_t values_distance,
        uintptr_t values_distance_again,
        uintptr_t n_distance,
        uintptr_t n_distance_again,
        const double *at_x,
        double *d_x,
        uintptr_t incx_distance,
        uintptr_t incx_distance_again) {
    (void)values_distance_again;
    struct __enzymebc_values_fnorm d_values;
    memset(&d_values, 0, sizeof d_values);
    __enzymebc_tangent_fnorm(ENZYMEBC_POINTER(values_distance), &d_values, n_distance, n_distance_again, at_x, d_x, incx_distance, incx_distance_again);
}
