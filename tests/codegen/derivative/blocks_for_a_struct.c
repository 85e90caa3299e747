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
#include "types.h"

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

/* energy: blocks_for_a_struct.toml:1: derivative[0] */

extern double energy(const struct point *p, struct point *q, double x);

struct __enzymebc_values_energy {
    double x;
    double result;
};

void __enzymebc_packet_energy(struct __enzymebc_values_energy *values, const struct point *at_p, struct point *at_q) {
    values->result = energy(at_p, at_q, values->x);
    if (ENZYMEBC_NEVER(at_p)) ((struct point *)at_p)->x = 0;
}

double __enzymebc_shim_energy(const struct point *p, struct point *q, double x) {
    struct __enzymebc_values_energy values;
    values.x = x;
    values.result = 0;
    __enzymebc_packet_energy(&values, p, q);
    return values.result;
}

struct __enzymebc_tape_energy {
    struct point p;
    double x;
};

static struct __enzymebc_tape_energy *__enzymebc_record_tape_energy(
        struct __enzymebc_values_energy *values,
        const struct point *at_p,
        struct point *at_q) {
    struct __enzymebc_tape_energy *tape = malloc(sizeof *tape);
    if (tape == NULL) abort();
    tape->p = *at_p;
    tape->x = values->x;
    __enzymebc_packet_energy(values, at_p, at_q);
    return tape;
}

void *__enzymebc_augmented_energy(
        struct __enzymebc_values_energy *values,
        struct __enzymebc_values_energy *d_values,
        const struct point *at_p,
        struct point *d_p,
        struct point *at_q,
        struct point *d_q) {
    (void)d_values;
    (void)d_p;
    (void)d_q;
    return __enzymebc_record_tape_energy(values, at_p, at_q);
}

static void __enzymebc_vjp_energy(
        const struct point *p,
        const double x,
        struct point *d_p,
        const struct point *d_q,
        double *computed_d_x,
        const double d_result) {
    (void)p;
    (void)x;
    (void)d_p;
    (void)d_q;
    (void)computed_d_x;
    (void)d_result;
    double d_x = 0;
#line 5 "blocks_for_a_struct.toml"
d_p->x += d_result * x * p->y + d_q->x;
d_p->y += d_result * x * p->x;
d_x += d_result * p->x * p->y;
#line 101 "enzymebc_rules.c"
    *computed_d_x = d_x;
}

void __enzymebc_gradient_energy(
        struct __enzymebc_values_energy *values,
        struct __enzymebc_values_energy *d_values,
        const struct point *at_p,
        struct point *d_p,
        struct point *at_q,
        struct point *d_q,
        void *memory) {
    struct __enzymebc_tape_energy *tape = memory;
    struct point made_d_p;
    memset(&made_d_p, 0, sizeof made_d_p);
    struct point given_d_q;
    memset(&given_d_q, 0, sizeof given_d_q);
    double made_d_x = 0;
    double given_d_result = 0;
    if (d_q != at_q) {
        given_d_q.x = d_q->x;
        d_q->x = 0;
    }
    if (d_values != values) {
        given_d_result = d_values->result;
        d_values->result = 0;
    }
    __enzymebc_vjp_energy(&tape->p, tape->x, &made_d_p, &given_d_q, &made_d_x, given_d_result);
    if (d_p != at_p) {
        d_p->x += made_d_p.x;
        d_p->y += made_d_p.y;
    }
    if (d_values != values) {
        d_values->x += made_d_x;
    }
    free(tape);
}

struct __enzymebc_kept_energy {
    struct point p;
    double x;
};

static struct __enzymebc_kept_energy *__enzymebc_record_kept_energy(
        struct __enzymebc_values_energy *values,
        const struct point *at_p,
        struct point *at_q) {
    struct __enzymebc_kept_energy *tape = malloc(sizeof *tape);
    if (tape == NULL) abort();
    tape->p = *at_p;
    tape->x = values->x;
    __enzymebc_packet_energy(values, at_p, at_q);
    return tape;
}

static void __enzymebc_jvp_energy(
        const struct point *p,
        const double x,
        const struct point *d_p,
        struct point *d_q,
        const double d_x,
        double *computed_d_result) {
    (void)p;
    (void)x;
    (void)d_p;
    (void)d_q;
    (void)d_x;
    (void)computed_d_result;
    double d_result = 0;
#line 10 "blocks_for_a_struct.toml"
d_result = d_p->x * x * p->y + d_p->y * x * p->x + d_x * p->x * p->y;
d_q->x = d_p->x;
#line 173 "enzymebc_rules.c"
    *computed_d_result = d_result;
}

void __enzymebc_tangent_energy(
        struct __enzymebc_values_energy *values,
        struct __enzymebc_values_energy *d_values,
        const struct point *at_p,
        struct point *d_p,
        struct point *at_q,
        struct point *d_q) {
    struct __enzymebc_kept_energy *tape = __enzymebc_record_kept_energy(values, at_p, at_q);
    struct point given_d_p;
    memset(&given_d_p, 0, sizeof given_d_p);
    struct point made_d_q;
    memset(&made_d_q, 0, sizeof made_d_q);
    double given_d_x = 0;
    double made_d_result = 0;
    if (d_p != at_p) {
        given_d_p.x = d_p->x;
        given_d_p.y = d_p->y;
    }
    if (d_values != values) {
        given_d_x = d_values->x;
    }
    __enzymebc_jvp_energy(&tape->p, tape->x, &given_d_p, &made_d_q, given_d_x, &made_d_result);
    if (d_q != at_q) {
        d_q->x = made_d_q.x;
    }
    if (d_values != values) {
        d_values->result = made_d_result;
    }
    free(tape);
}

void __enzymebc_inner_energy(double x, uintptr_t values_distance, const struct point *at_p, struct point *at_q) {
    struct __enzymebc_values_energy *values = ENZYMEBC_POINTER(values_distance);
    values->result = energy(at_p, at_q, x);
}

void __enzymebc_bridge_energy(struct __enzymebc_values_energy *values, const struct point *at_p, struct point *at_q) {
    __enzymebc_inner_energy(values->x, ENZYMEBC_HIDE(values), at_p, at_q);
}

void __enzymebc_innertangent_energy(
        double x,
        double tangent_x,
        uintptr_t values_distance,
        uintptr_t values_distance_again,
        const struct point *at_p,
        struct point *d_p,
        struct point *at_q,
        struct point *d_q) {
    (void)x;
    (void)values_distance_again;
    struct __enzymebc_values_energy d_values;
    memset(&d_values, 0, sizeof d_values);
    d_values.x = tangent_x;
    __enzymebc_tangent_energy(ENZYMEBC_POINTER(values_distance), &d_values, at_p, d_p, at_q, d_q);
}
