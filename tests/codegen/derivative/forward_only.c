/*
 * Derivatives stated in rule files, rendered by enzyme-build; do not edit.
 *
 * values: all that is passed by value, and the results, of one call. A rule is on the packet function, which takes them
 * by one pointer. An argument whose shadow is the argument itself is inactive: its shadow is left alone.
 */

#include <complex.h>
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

static void *__enzymebc_zeros(ptrdiff_t count, size_t size) {
    void *memory = calloc(count > 0 ? (size_t)count : 1, size);
    if (memory == NULL) abort();
    return memory;
}

/* cmul: forward_only.toml:1: derivative[0] */

extern void cmul(int n, const double _Complex *a, double _Complex *c);

struct __enzymebc_plain_cmul {
    int n;
};

void __enzymebc_packet_cmul(uintptr_t plain_distance, const double _Complex *at_a, double _Complex *at_c) {
    struct __enzymebc_plain_cmul *plain = ENZYMEBC_POINTER(plain_distance);
    cmul(plain->n, at_a, at_c);
    if (ENZYMEBC_NEVER(at_a)) *(double _Complex *)at_a = 0;
}

void __enzymebc_shim_cmul(int n, const double _Complex *a, double _Complex *c) {
    struct __enzymebc_plain_cmul plain;
    plain.n = n;
    __enzymebc_packet_cmul(ENZYMEBC_HIDE(&plain), a, c);
}

struct __enzymebc_kept_cmul {
    int n;
    double _Complex *a;
    double _Complex *c;
};

static struct __enzymebc_kept_cmul *__enzymebc_record_kept_cmul(
        uintptr_t plain_distance,
        const double _Complex *at_a,
        double _Complex *at_c) {
    struct __enzymebc_plain_cmul *plain = ENZYMEBC_POINTER(plain_distance);
    const int n = plain->n;
    const ptrdiff_t count_n = n;
    const size_t size_a = __enzymebc_padded(count_n > 0 ? (size_t)count_n * sizeof(double _Complex) : 0);
    const size_t size_c = __enzymebc_padded(count_n > 0 ? (size_t)count_n * sizeof(double _Complex) : 0);
    char *memory = malloc(__enzymebc_padded(sizeof(struct __enzymebc_kept_cmul)) + size_a + size_c);
    struct __enzymebc_kept_cmul *tape = (void *)memory;
    if (tape == NULL) abort();
    memory += __enzymebc_padded(sizeof *tape);
    tape->a = (void *)memory;
    memory += size_a;
    tape->c = (void *)memory;
    tape->n = plain->n;
    for (ptrdiff_t i = 0; i < count_n; i++) tape->a[i] = at_a[i];
    __enzymebc_packet_cmul(plain_distance, at_a, at_c);
    for (ptrdiff_t i = 0; i < count_n; i++) tape->c[i] = at_c[i];
    return tape;
}

static void __enzymebc_jvp_cmul(
        const int n,
        const double _Complex *a,
        const double _Complex *c,
        const double _Complex *d_a,
        double _Complex *d_c) {
    (void)n;
    (void)a;
    (void)c;
    (void)d_a;
    (void)d_c;
#line 4 "forward_only.toml"
for (int i = 0; i < n; i++) d_c[i] = 2 * a[i] * d_a[i] + 0 * creal(c[i]);
#line 103 "enzymebc_rules.c"
}

void __enzymebc_tangent_cmul(
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        const double _Complex *at_a,
        double _Complex *d_a,
        double _Complex *at_c,
        double _Complex *d_c) {
    (void)plain_distance_again;
    struct __enzymebc_kept_cmul *tape = __enzymebc_record_kept_cmul(plain_distance, at_a, at_c);
    const int n = tape->n;
    const ptrdiff_t count_n = n;
    double _Complex *given_d_a = __enzymebc_zeros(count_n, sizeof *given_d_a);
    double _Complex *made_d_c = __enzymebc_zeros(count_n, sizeof *made_d_c);
    if (d_a != at_a) {
        for (ptrdiff_t i = 0; i < count_n; i++) {
            given_d_a[i] = d_a[i];
        }
    }
    __enzymebc_jvp_cmul(tape->n, tape->a, tape->c, given_d_a, made_d_c);
    if (d_c != at_c) {
        for (ptrdiff_t i = 0; i < count_n; i++) {
            d_c[i] = made_d_c[i];
        }
    }
    free(given_d_a);
    free(made_d_c);
    free(tape);
}
