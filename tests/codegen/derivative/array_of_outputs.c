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

/* vexp: array_of_outputs.toml:1: derivative[0] */
/*   d y / d x = y * (i + 1) */

extern void vexp(size_t n, const double * restrict x, double y[]);

struct __enzymebc_plain_vexp {
    size_t n;
};

void __enzymebc_packet_vexp(uintptr_t plain_distance, const double *at_x, double *at_y) {
    struct __enzymebc_plain_vexp *plain = ENZYMEBC_POINTER(plain_distance);
    vexp(plain->n, at_x, at_y);
    if (ENZYMEBC_NEVER(at_x)) *(double *)at_x = 0;
}

void __enzymebc_shim_vexp(size_t n, const double * restrict x, double y[]) {
    struct __enzymebc_plain_vexp plain;
    plain.n = n;
    __enzymebc_packet_vexp(ENZYMEBC_HIDE(&plain), x, y);
}

struct __enzymebc_tape_vexp {
    size_t n;
    double *y;
};

static struct __enzymebc_tape_vexp *__enzymebc_record_tape_vexp(
        uintptr_t plain_distance,
        const double *at_x,
        double *at_y) {
    struct __enzymebc_plain_vexp *plain = ENZYMEBC_POINTER(plain_distance);
    const size_t n = plain->n;
    const ptrdiff_t count_n = n;
    const size_t size_y = __enzymebc_padded(count_n > 0 ? (size_t)count_n * sizeof(double) : 0);
    char *memory = malloc(__enzymebc_padded(sizeof(struct __enzymebc_tape_vexp)) + size_y);
    struct __enzymebc_tape_vexp *tape = (void *)memory;
    if (tape == NULL) abort();
    memory += __enzymebc_padded(sizeof *tape);
    tape->y = (void *)memory;
    tape->n = plain->n;
    __enzymebc_packet_vexp(plain_distance, at_x, at_y);
    for (ptrdiff_t i_ = 0; i_ < count_n; i_++) tape->y[i_] = at_y[i_];
    return tape;
}

void *__enzymebc_augmented_vexp(
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        const double *at_x,
        double *d_x,
        double *at_y,
        double *d_y) {
    (void)plain_distance_again;
    (void)d_x;
    (void)d_y;
    return __enzymebc_record_tape_vexp(plain_distance, at_x, at_y);
}

void __enzymebc_gradient_vexp(
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        const double *at_x,
        double *d_x,
        double *at_y,
        double *d_y,
        void *memory) {
    (void)plain_distance;
    (void)plain_distance_again;
    struct __enzymebc_tape_vexp *tape = memory;
    const size_t n = tape->n;
    const ptrdiff_t count_n = n;
    const int active_x = d_x != at_x;
    const int active_y = d_y != at_y;
    for (ptrdiff_t i = 0; i < count_n; i++) {
        const double y = tape->y[i];
        double seed_y = 0;
        if (active_y) {
            seed_y = d_y[i];
            d_y[i] = 0;
        }
        if (seed_y != 0) {
            if (active_x) d_x[i] += (y * (i + 1)) * seed_y;
        }
    }
    free(tape);
}

void __enzymebc_tangent_vexp(
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        const double *at_x,
        double *d_x,
        double *at_y,
        double *d_y) {
    (void)plain_distance_again;
    struct __enzymebc_tape_vexp *tape = __enzymebc_record_tape_vexp(plain_distance, at_x, at_y);
    const size_t n = tape->n;
    const ptrdiff_t count_n = n;
    const int active_x = d_x != at_x;
    const int active_y = d_y != at_y;
    for (ptrdiff_t i = 0; i < count_n; i++) {
        const double y = tape->y[i];
        const double tangent_x = active_x ? d_x[i] : 0;
        double sum_y = 0;
        if (tangent_x != 0) {
            sum_y += (y * (i + 1)) * tangent_x;
        }
        if (active_y) d_y[i] = sum_y;
    }
    free(tape);
}
