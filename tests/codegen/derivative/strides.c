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

/* axpy: strides.toml:1: derivative[0] */
/*   d y / d a = x */
/*   d y / d x = a */
/*   d y / d y = 1 */

extern void axpy(int n, double a, const double *x, int incx, double *y, int incy);

struct __enzymebc_values_axpy {
    double a;
};

struct __enzymebc_plain_axpy {
    int n;
    int incx;
    int incy;
};

void __enzymebc_packet_axpy(
        struct __enzymebc_values_axpy *values,
        uintptr_t plain_distance,
        const double *at_x,
        double *at_y) {
    struct __enzymebc_plain_axpy *plain = ENZYMEBC_POINTER(plain_distance);
    axpy(plain->n, values->a, at_x, plain->incx, at_y, plain->incy);
    if (ENZYMEBC_NEVER(at_x)) *(double *)at_x = 0;
}

void __enzymebc_shim_axpy(int n, double a, const double *x, int incx, double *y, int incy) {
    struct __enzymebc_values_axpy values;
    struct __enzymebc_plain_axpy plain;
    values.a = a;
    plain.n = n;
    plain.incx = incx;
    plain.incy = incy;
    __enzymebc_packet_axpy(&values, ENZYMEBC_HIDE(&plain), x, y);
}

struct __enzymebc_tape_axpy {
    int n;
    double a;
    double *x;
    int incx;
    int incy;
};

static struct __enzymebc_tape_axpy *__enzymebc_record_tape_axpy(
        struct __enzymebc_values_axpy *values,
        uintptr_t plain_distance,
        const double *at_x,
        double *at_y) {
    struct __enzymebc_plain_axpy *plain = ENZYMEBC_POINTER(plain_distance);
    const int n = plain->n;
    const int incx = plain->incx;
    const ptrdiff_t count_n = n;
    const ptrdiff_t step_x = incx;
    const ptrdiff_t first_x = step_x < 0 ? (1 - count_n) * step_x : 0;
    const size_t size_x = __enzymebc_padded(count_n > 0 ? (size_t)count_n * sizeof(double) : 0);
    char *memory = malloc(__enzymebc_padded(sizeof(struct __enzymebc_tape_axpy)) + size_x);
    struct __enzymebc_tape_axpy *tape = (void *)memory;
    if (tape == NULL) abort();
    memory += __enzymebc_padded(sizeof *tape);
    tape->x = (void *)memory;
    tape->n = plain->n;
    tape->a = values->a;
    for (ptrdiff_t i = 0; i < count_n; i++) tape->x[i] = at_x[first_x + i * step_x];
    tape->incx = plain->incx;
    tape->incy = plain->incy;
    __enzymebc_packet_axpy(values, plain_distance, at_x, at_y);
    return tape;
}

void *__enzymebc_augmented_axpy(
        struct __enzymebc_values_axpy *values,
        struct __enzymebc_values_axpy *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        const double *at_x,
        double *d_x,
        double *at_y,
        double *d_y) {
    (void)d_values;
    (void)plain_distance_again;
    (void)d_x;
    (void)d_y;
    return __enzymebc_record_tape_axpy(values, plain_distance, at_x, at_y);
}

void __enzymebc_gradient_axpy(
        struct __enzymebc_values_axpy *values,
        struct __enzymebc_values_axpy *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        const double *at_x,
        double *d_x,
        double *at_y,
        double *d_y,
        void *memory) {
    (void)plain_distance;
    (void)plain_distance_again;
    struct __enzymebc_tape_axpy *tape = memory;
    const int n = tape->n;
    const int incx = tape->incx;
    const int incy = tape->incy;
    const ptrdiff_t count_n = n;
    const ptrdiff_t step_x = incx;
    const ptrdiff_t first_x = step_x < 0 ? (1 - count_n) * step_x : 0;
    const ptrdiff_t step_y = incy;
    const ptrdiff_t first_y = step_y < 0 ? (1 - count_n) * step_y : 0;
    const double a = tape->a;
    const int active_x = d_x != at_x;
    const int active_y = d_y != at_y;
    double add_a = 0;
    for (ptrdiff_t i = 0; i < count_n; i++) {
        const double x = tape->x[i];
        double seed_y = 0;
        if (active_y) {
            seed_y = d_y[first_y + i * step_y];
            d_y[first_y + i * step_y] = 0;
        }
        if (seed_y != 0) {
            add_a += (x) * seed_y;
            if (active_x) d_x[first_x + i * step_x] += (a) * seed_y;
            if (active_y) d_y[first_y + i * step_y] += (1) * seed_y;
        }
    }
    if (d_values != values) {
        d_values->a += add_a;
    }
    free(tape);
}

void __enzymebc_tangent_axpy(
        struct __enzymebc_values_axpy *values,
        struct __enzymebc_values_axpy *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        const double *at_x,
        double *d_x,
        double *at_y,
        double *d_y) {
    (void)plain_distance_again;
    struct __enzymebc_plain_axpy *plain = ENZYMEBC_POINTER(plain_distance);
    const int n = plain->n;
    const int incx = plain->incx;
    const int incy = plain->incy;
    const ptrdiff_t count_n = n;
    const ptrdiff_t step_x = incx;
    const ptrdiff_t first_x = step_x < 0 ? (1 - count_n) * step_x : 0;
    const ptrdiff_t step_y = incy;
    const ptrdiff_t first_y = step_y < 0 ? (1 - count_n) * step_y : 0;
    const double a = values->a;
    const int active_x = d_x != at_x;
    const int active_y = d_y != at_y;
    const double tangent_a = d_values != values ? d_values->a : 0;
    for (ptrdiff_t i = 0; i < count_n; i++) {
        const double x = at_x[first_x + i * step_x];
        const double tangent_x = active_x ? d_x[first_x + i * step_x] : 0;
        const double tangent_y = active_y ? d_y[first_y + i * step_y] : 0;
        double sum_y = 0;
        if (tangent_a != 0) {
            sum_y += (x) * tangent_a;
        }
        if (tangent_x != 0) {
            sum_y += (a) * tangent_x;
        }
        if (tangent_y != 0) {
            sum_y += (1) * tangent_y;
        }
        if (active_y) d_y[first_y + i * step_y] = sum_y;
    }
    __enzymebc_packet_axpy(values, plain_distance, at_x, at_y);
}

void __enzymebc_inner_axpy(double a, uintptr_t plain_distance, const double *at_x, double *at_y) {
    struct __enzymebc_plain_axpy *plain = ENZYMEBC_POINTER(plain_distance);
    axpy(plain->n, a, at_x, plain->incx, at_y, plain->incy);
}

void __enzymebc_bridge_axpy(
        struct __enzymebc_values_axpy *values,
        uintptr_t plain_distance,
        const double *at_x,
        double *at_y) {
    __enzymebc_inner_axpy(values->a, plain_distance, at_x, at_y);
}

void __enzymebc_innertangent_axpy(
        double a,
        double tangent_a,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        const double *at_x,
        double *d_x,
        double *at_y,
        double *d_y) {
    struct __enzymebc_values_axpy values;
    values.a = a;
    struct __enzymebc_values_axpy d_values;
    memset(&d_values, 0, sizeof d_values);
    d_values.a = tangent_a;
    __enzymebc_tangent_axpy(&values, &d_values, plain_distance, plain_distance_again, at_x, d_x, at_y, d_y);
}
