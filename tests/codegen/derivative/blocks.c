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

static void *__enzymebc_zeros(ptrdiff_t count, size_t size) {
    void *memory = calloc(count > 0 ? (size_t)count : 1, size);
    if (memory == NULL) abort();
    return memory;
}

/* solve: blocks.toml:1: derivative[0] */

extern int solve(int n, const double *a, double *b, double *scale, double shift);

struct __enzymebc_values_solve {
    double scale;
    double shift;
};

struct __enzymebc_plain_solve {
    int n;
    int result;
};

void __enzymebc_packet_solve(
        struct __enzymebc_values_solve *values,
        uintptr_t plain_distance,
        const double *at_a,
        double *at_b) {
    struct __enzymebc_plain_solve *plain = ENZYMEBC_POINTER(plain_distance);
    plain->result = solve(plain->n, at_a, at_b, &values->scale, values->shift);
    if (ENZYMEBC_NEVER(at_a)) *(double *)at_a = 0;
}

int __enzymebc_shim_solve(int n, const double *a, double *b, double *scale, double shift) {
    struct __enzymebc_values_solve values;
    struct __enzymebc_plain_solve plain;
    values.scale = *scale;
    values.shift = shift;
    plain.n = n;
    plain.result = 0;
    __enzymebc_packet_solve(&values, ENZYMEBC_HIDE(&plain), a, b);
    *scale = values.scale;
    return plain.result;
}

struct __enzymebc_tape_solve {
    int n;
    double *a;
    double *b;
    double *b_out;
    double scale;
};

static struct __enzymebc_tape_solve *__enzymebc_record_tape_solve(
        struct __enzymebc_values_solve *values,
        uintptr_t plain_distance,
        const double *at_a,
        double *at_b) {
    struct __enzymebc_plain_solve *plain = ENZYMEBC_POINTER(plain_distance);
    const int n = plain->n;
    const ptrdiff_t count_1 = n * n;
    const ptrdiff_t count_n = n;
    const size_t size_a = __enzymebc_padded(count_1 > 0 ? (size_t)count_1 * sizeof(double) : 0);
    const size_t size_b = __enzymebc_padded(count_n > 0 ? (size_t)count_n * sizeof(double) : 0);
    const size_t size_b_out = __enzymebc_padded(count_n > 0 ? (size_t)count_n * sizeof(double) : 0);
    char *memory = malloc(__enzymebc_padded(sizeof(struct __enzymebc_tape_solve)) + size_a + size_b + size_b_out);
    struct __enzymebc_tape_solve *tape = (void *)memory;
    if (tape == NULL) abort();
    memory += __enzymebc_padded(sizeof *tape);
    tape->a = (void *)memory;
    memory += size_a;
    tape->b = (void *)memory;
    memory += size_b;
    tape->b_out = (void *)memory;
    tape->n = plain->n;
    for (ptrdiff_t i = 0; i < count_1; i++) tape->a[i] = at_a[i];
    for (ptrdiff_t i = 0; i < count_n; i++) tape->b[i] = at_b[i];
    __enzymebc_packet_solve(values, plain_distance, at_a, at_b);
    for (ptrdiff_t i = 0; i < count_n; i++) tape->b_out[i] = at_b[i];
    tape->scale = values->scale;
    return tape;
}

void *__enzymebc_augmented_solve(
        struct __enzymebc_values_solve *values,
        struct __enzymebc_values_solve *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        const double *at_a,
        double *d_a,
        double *at_b,
        double *d_b) {
    (void)d_values;
    (void)plain_distance_again;
    (void)d_a;
    (void)d_b;
    return __enzymebc_record_tape_solve(values, plain_distance, at_a, at_b);
}

static void __enzymebc_vjp_solve(
        const int n,
        const double *a,
        const double *b,
        const double *b_out,
        const double *scale,
        double *d_a,
        double *d_b,
        const double *d_b_out,
        const double *d_scale) {
    (void)n;
    (void)a;
    (void)b;
    (void)b_out;
    (void)scale;
    (void)d_a;
    (void)d_b;
    (void)d_b_out;
    (void)d_scale;
#line 7 "blocks.toml"
extern int solve_transposed(int n, const double *a, double *b);
#line 151 "enzymebc_rules.c"
#line 10 "blocks.toml"
for (int i = 0; i < n; i++) d_b[i] = d_b_out[i] * *scale;
(void)solve_transposed(n, a, d_b);
for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) d_a[i * n + j] -= d_b[i] * b_out[j];
(void)d_scale;
#line 158 "enzymebc_rules.c"
}

void __enzymebc_gradient_solve(
        struct __enzymebc_values_solve *values,
        struct __enzymebc_values_solve *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        const double *at_a,
        double *d_a,
        double *at_b,
        double *d_b,
        void *memory) {
    (void)plain_distance;
    (void)plain_distance_again;
    struct __enzymebc_tape_solve *tape = memory;
    const int n = tape->n;
    const ptrdiff_t count_1 = n * n;
    const ptrdiff_t count_n = n;
    double *made_d_a = __enzymebc_zeros(count_1, sizeof *made_d_a);
    double *made_d_b = __enzymebc_zeros(count_n, sizeof *made_d_b);
    double *given_d_b_out = __enzymebc_zeros(count_n, sizeof *given_d_b_out);
    double given_d_scale = 0;
    if (d_b != at_b) {
        for (ptrdiff_t i = 0; i < count_n; i++) {
            given_d_b_out[i] = d_b[i];
            d_b[i] = 0;
        }
    }
    if (d_values != values) {
        given_d_scale = d_values->scale;
        d_values->scale = 0;
    }
    __enzymebc_vjp_solve(tape->n, tape->a, tape->b, tape->b_out, &tape->scale, made_d_a, made_d_b, given_d_b_out, &given_d_scale);
    if (d_a != at_a) {
        for (ptrdiff_t i = 0; i < count_1; i++) {
            d_a[i] += made_d_a[i];
        }
    }
    if (d_b != at_b) {
        for (ptrdiff_t i = 0; i < count_n; i++) {
            d_b[i] += made_d_b[i];
        }
    }
    free(made_d_a);
    free(made_d_b);
    free(given_d_b_out);
    free(tape);
}

struct __enzymebc_kept_solve {
    int n;
    double *a;
    double *b;
    double *b_out;
    int result;
};

static struct __enzymebc_kept_solve *__enzymebc_record_kept_solve(
        struct __enzymebc_values_solve *values,
        uintptr_t plain_distance,
        const double *at_a,
        double *at_b) {
    struct __enzymebc_plain_solve *plain = ENZYMEBC_POINTER(plain_distance);
    const int n = plain->n;
    const ptrdiff_t count_1 = n * n;
    const ptrdiff_t count_n = n;
    const size_t size_a = __enzymebc_padded(count_1 > 0 ? (size_t)count_1 * sizeof(double) : 0);
    const size_t size_b = __enzymebc_padded(count_n > 0 ? (size_t)count_n * sizeof(double) : 0);
    const size_t size_b_out = __enzymebc_padded(count_n > 0 ? (size_t)count_n * sizeof(double) : 0);
    char *memory = malloc(__enzymebc_padded(sizeof(struct __enzymebc_kept_solve)) + size_a + size_b + size_b_out);
    struct __enzymebc_kept_solve *tape = (void *)memory;
    if (tape == NULL) abort();
    memory += __enzymebc_padded(sizeof *tape);
    tape->a = (void *)memory;
    memory += size_a;
    tape->b = (void *)memory;
    memory += size_b;
    tape->b_out = (void *)memory;
    tape->n = plain->n;
    for (ptrdiff_t i = 0; i < count_1; i++) tape->a[i] = at_a[i];
    for (ptrdiff_t i = 0; i < count_n; i++) tape->b[i] = at_b[i];
    __enzymebc_packet_solve(values, plain_distance, at_a, at_b);
    for (ptrdiff_t i = 0; i < count_n; i++) tape->b_out[i] = at_b[i];
    tape->result = plain->result;
    return tape;
}

static void __enzymebc_jvp_solve(
        const int n,
        const double *a,
        const double *b,
        const double *b_out,
        const int result,
        const double *d_a,
        const double *d_b,
        double *d_b_out,
        double *d_scale) {
    (void)n;
    (void)a;
    (void)b;
    (void)b_out;
    (void)result;
    (void)d_a;
    (void)d_b;
    (void)d_b_out;
    (void)d_scale;
#line 7 "blocks.toml"
extern int solve_transposed(int n, const double *a, double *b);
#line 267 "enzymebc_rules.c"
#line 17 "blocks.toml"
for (int i = 0; i < n; i++) d_b_out[i] = d_b[i] - d_a[i * n] * b_out[0];
*d_scale = result;
#line 271 "enzymebc_rules.c"
}

void __enzymebc_tangent_solve(
        struct __enzymebc_values_solve *values,
        struct __enzymebc_values_solve *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        const double *at_a,
        double *d_a,
        double *at_b,
        double *d_b) {
    (void)plain_distance_again;
    struct __enzymebc_kept_solve *tape = __enzymebc_record_kept_solve(values, plain_distance, at_a, at_b);
    const int n = tape->n;
    const ptrdiff_t count_1 = n * n;
    const ptrdiff_t count_n = n;
    double *given_d_a = __enzymebc_zeros(count_1, sizeof *given_d_a);
    double *given_d_b = __enzymebc_zeros(count_n, sizeof *given_d_b);
    double *made_d_b_out = __enzymebc_zeros(count_n, sizeof *made_d_b_out);
    double made_d_scale = 0;
    if (d_a != at_a) {
        for (ptrdiff_t i = 0; i < count_1; i++) {
            given_d_a[i] = d_a[i];
        }
    }
    if (d_b != at_b) {
        for (ptrdiff_t i = 0; i < count_n; i++) {
            given_d_b[i] = d_b[i];
        }
    }
    __enzymebc_jvp_solve(tape->n, tape->a, tape->b, tape->b_out, tape->result, given_d_a, given_d_b, made_d_b_out, &made_d_scale);
    if (d_b != at_b) {
        for (ptrdiff_t i = 0; i < count_n; i++) {
            d_b[i] = made_d_b_out[i];
        }
    }
    if (d_values != values) {
        d_values->scale = made_d_scale;
    }
    free(given_d_a);
    free(given_d_b);
    free(made_d_b_out);
    free(tape);
}

void __enzymebc_inner_solve(uintptr_t values_distance, uintptr_t plain_distance, const double *at_a, double *at_b) {
    struct __enzymebc_plain_solve *plain = ENZYMEBC_POINTER(plain_distance);
    struct __enzymebc_values_solve *values = ENZYMEBC_POINTER(values_distance);
    plain->result = solve(plain->n, at_a, at_b, &values->scale, values->shift);
}

void __enzymebc_bridge_solve(
        struct __enzymebc_values_solve *values,
        uintptr_t plain_distance,
        const double *at_a,
        double *at_b) {
    __enzymebc_inner_solve(ENZYMEBC_HIDE(values), plain_distance, at_a, at_b);
}

void __enzymebc_innertangent_solve(
        uintptr_t values_distance,
        uintptr_t values_distance_again,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        const double *at_a,
        double *d_a,
        double *at_b,
        double *d_b) {
    (void)values_distance_again;
    struct __enzymebc_values_solve d_values;
    memset(&d_values, 0, sizeof d_values);
    __enzymebc_tangent_solve(ENZYMEBC_POINTER(values_distance), &d_values, plain_distance, plain_distance_again, at_a, d_a, at_b, d_b);
}
