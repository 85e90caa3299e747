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

static size_t __enzymebc_padded(size_t bytes) {
    return (bytes + 15) / 16 * 16;
}

/* rotate: members.toml:1: derivative[0] */
/*   d q.x / d p.x = cos(angle) */
/*   d q.x / d p.y = -sin(angle) */
/*   d q.y / d p.x = sin(angle) */
/*   d q.y / d p.y = cos(angle) */
/*   d q.x / d angle = -q.y */
/*   d q.y / d angle = q.x */

extern void rotate(const struct point *p, double angle, struct point *q);

struct __enzymebc_values_rotate {
    double angle;
};

void __enzymebc_packet_rotate(struct __enzymebc_values_rotate *values, const struct point *at_p, struct point *at_q) {
    rotate(at_p, values->angle, at_q);
    if (ENZYMEBC_NEVER(at_p)) ((struct point *)at_p)->x = 0;
}

void __enzymebc_shim_rotate(const struct point *p, double angle, struct point *q) {
    struct __enzymebc_values_rotate values;
    values.angle = angle;
    __enzymebc_packet_rotate(&values, p, q);
}

struct __enzymebc_tape_rotate {
    double angle;
    struct point q;
};

static struct __enzymebc_tape_rotate *__enzymebc_record_tape_rotate(
        struct __enzymebc_values_rotate *values,
        const struct point *at_p,
        struct point *at_q) {
    struct __enzymebc_tape_rotate *tape = malloc(sizeof *tape);
    if (tape == NULL) abort();
    tape->angle = values->angle;
    __enzymebc_packet_rotate(values, at_p, at_q);
    tape->q = *at_q;
    return tape;
}

void *__enzymebc_augmented_rotate(
        struct __enzymebc_values_rotate *values,
        struct __enzymebc_values_rotate *d_values,
        const struct point *at_p,
        struct point *d_p,
        struct point *at_q,
        struct point *d_q) {
    (void)d_values;
    (void)d_p;
    (void)d_q;
    return __enzymebc_record_tape_rotate(values, at_p, at_q);
}

void __enzymebc_gradient_rotate(
        struct __enzymebc_values_rotate *values,
        struct __enzymebc_values_rotate *d_values,
        const struct point *at_p,
        struct point *d_p,
        struct point *at_q,
        struct point *d_q,
        void *memory) {
    struct __enzymebc_tape_rotate *tape = memory;
    const double angle = tape->angle;
    const struct point q = tape->q;
    const int active_p = d_p != at_p;
    const int active_q = d_q != at_q;
    __typeof__(d_q[0].x) seed_q_x = 0;
    if (active_q) {
        seed_q_x = d_q[0].x;
        d_q[0].x = 0;
    }
    __typeof__(d_q[0].y) seed_q_y = 0;
    if (active_q) {
        seed_q_y = d_q[0].y;
        d_q[0].y = 0;
    }
    double add_angle = 0;
    if (seed_q_x != 0) {
        if (active_p) d_p[0].x += (cos(angle)) * seed_q_x;
        if (active_p) d_p[0].y += (-sin(angle)) * seed_q_x;
        add_angle += (-q.y) * seed_q_x;
    }
    if (seed_q_y != 0) {
        if (active_p) d_p[0].x += (sin(angle)) * seed_q_y;
        if (active_p) d_p[0].y += (cos(angle)) * seed_q_y;
        add_angle += (q.x) * seed_q_y;
    }
    if (d_values != values) {
        d_values->angle += add_angle;
    }
    free(tape);
}

void __enzymebc_tangent_rotate(
        struct __enzymebc_values_rotate *values,
        struct __enzymebc_values_rotate *d_values,
        const struct point *at_p,
        struct point *d_p,
        struct point *at_q,
        struct point *d_q) {
    struct __enzymebc_tape_rotate *tape = __enzymebc_record_tape_rotate(values, at_p, at_q);
    const double angle = tape->angle;
    const struct point q = tape->q;
    const int active_p = d_p != at_p;
    const int active_q = d_q != at_q;
    const __typeof__(d_p[0].x) tangent_p_x = active_p ? d_p[0].x : 0;
    const __typeof__(d_p[0].y) tangent_p_y = active_p ? d_p[0].y : 0;
    const double tangent_angle = d_values != values ? d_values->angle : 0;
    __typeof__(d_q[0].x) sum_q_x = 0;
    __typeof__(d_q[0].y) sum_q_y = 0;
    if (tangent_p_x != 0) {
        sum_q_x += (cos(angle)) * tangent_p_x;
        sum_q_y += (sin(angle)) * tangent_p_x;
    }
    if (tangent_p_y != 0) {
        sum_q_x += (-sin(angle)) * tangent_p_y;
        sum_q_y += (cos(angle)) * tangent_p_y;
    }
    if (tangent_angle != 0) {
        sum_q_x += (-q.y) * tangent_angle;
        sum_q_y += (q.x) * tangent_angle;
    }
    if (active_q) d_q[0].x = sum_q_x;
    if (active_q) d_q[0].y = sum_q_y;
    free(tape);
}

void __enzymebc_inner_rotate(double angle, const struct point *at_p, struct point *at_q) {
    rotate(at_p, angle, at_q);
}

void __enzymebc_bridge_rotate(struct __enzymebc_values_rotate *values, const struct point *at_p, struct point *at_q) {
    __enzymebc_inner_rotate(values->angle, at_p, at_q);
}

void __enzymebc_innertangent_rotate(
        double angle,
        double tangent_angle,
        const struct point *at_p,
        struct point *d_p,
        struct point *at_q,
        struct point *d_q) {
    struct __enzymebc_values_rotate values;
    values.angle = angle;
    struct __enzymebc_values_rotate d_values;
    memset(&d_values, 0, sizeof d_values);
    d_values.angle = tangent_angle;
    __enzymebc_tangent_rotate(&values, &d_values, at_p, d_p, at_q, d_q);
}

/* spread: members.toml:13: derivative[1] */
/*   d result / d p.x = 2 * p.x * p.y */
/*   d result / d p.y = p.x * p.x */

extern real_t spread(int n, const struct point *p);

struct __enzymebc_values_spread {
    real_t result;
};

struct __enzymebc_plain_spread {
    int n;
};

void __enzymebc_packet_spread(
        struct __enzymebc_values_spread *values,
        uintptr_t plain_distance,
        const struct point *at_p) {
    struct __enzymebc_plain_spread *plain = ENZYMEBC_POINTER(plain_distance);
    values->result = spread(plain->n, at_p);
    if (ENZYMEBC_NEVER(at_p)) ((struct point *)at_p)->x = 0;
}

real_t __enzymebc_shim_spread(int n, const struct point *p) {
    struct __enzymebc_values_spread values;
    struct __enzymebc_plain_spread plain;
    plain.n = n;
    values.result = 0;
    __enzymebc_packet_spread(&values, ENZYMEBC_HIDE(&plain), p);
    return values.result;
}

struct __enzymebc_tape_spread {
    int n;
    struct point *p;
};

static struct __enzymebc_tape_spread *__enzymebc_record_tape_spread(
        struct __enzymebc_values_spread *values,
        uintptr_t plain_distance,
        const struct point *at_p) {
    struct __enzymebc_plain_spread *plain = ENZYMEBC_POINTER(plain_distance);
    const int n = plain->n;
    const ptrdiff_t count_n = n;
    const size_t size_p = __enzymebc_padded(count_n > 0 ? (size_t)count_n * sizeof(struct point) : 0);
    char *memory = malloc(__enzymebc_padded(sizeof(struct __enzymebc_tape_spread)) + size_p);
    struct __enzymebc_tape_spread *tape = (void *)memory;
    if (tape == NULL) abort();
    memory += __enzymebc_padded(sizeof *tape);
    tape->p = (void *)memory;
    tape->n = plain->n;
    for (ptrdiff_t i = 0; i < count_n; i++) tape->p[i] = at_p[i];
    __enzymebc_packet_spread(values, plain_distance, at_p);
    return tape;
}

void *__enzymebc_augmented_spread(
        struct __enzymebc_values_spread *values,
        struct __enzymebc_values_spread *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        const struct point *at_p,
        struct point *d_p) {
    (void)d_values;
    (void)plain_distance_again;
    (void)d_p;
    return __enzymebc_record_tape_spread(values, plain_distance, at_p);
}

void __enzymebc_gradient_spread(
        struct __enzymebc_values_spread *values,
        struct __enzymebc_values_spread *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        const struct point *at_p,
        struct point *d_p,
        void *memory) {
    (void)plain_distance;
    (void)plain_distance_again;
    struct __enzymebc_tape_spread *tape = memory;
    const int n = tape->n;
    const ptrdiff_t count_n = n;
    const int active_p = d_p != at_p;
    real_t seed_result = 0;
    if (d_values != values) {
        seed_result = d_values->result;
        d_values->result = 0;
    }
    for (ptrdiff_t i = 0; i < count_n; i++) {
        const struct point p = tape->p[i];
        if (seed_result != 0) {
            if (active_p) d_p[i].x += (2 * p.x * p.y) * seed_result;
            if (active_p) d_p[i].y += (p.x * p.x) * seed_result;
        }
    }
    free(tape);
}

void __enzymebc_tangent_spread(
        struct __enzymebc_values_spread *values,
        struct __enzymebc_values_spread *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        const struct point *at_p,
        struct point *d_p) {
    (void)plain_distance_again;
    struct __enzymebc_plain_spread *plain = ENZYMEBC_POINTER(plain_distance);
    const int n = plain->n;
    const ptrdiff_t count_n = n;
    const int active_p = d_p != at_p;
    real_t sum_result = 0;
    for (ptrdiff_t i = 0; i < count_n; i++) {
        const struct point p = at_p[i];
        const __typeof__(d_p[0].x) tangent_p_x = active_p ? d_p[i].x : 0;
        const __typeof__(d_p[0].y) tangent_p_y = active_p ? d_p[i].y : 0;
        if (tangent_p_x != 0) {
            sum_result += (2 * p.x * p.y) * tangent_p_x;
        }
        if (tangent_p_y != 0) {
            sum_result += (p.x * p.x) * tangent_p_y;
        }
    }
    __enzymebc_packet_spread(values, plain_distance, at_p);
    if (d_values != values) {
        d_values->result = sum_result;
    }
}

void __enzymebc_inner_spread(uintptr_t values_distance, uintptr_t plain_distance, const struct point *at_p) {
    struct __enzymebc_plain_spread *plain = ENZYMEBC_POINTER(plain_distance);
    struct __enzymebc_values_spread *values = ENZYMEBC_POINTER(values_distance);
    values->result = spread(plain->n, at_p);
}

void __enzymebc_bridge_spread(
        struct __enzymebc_values_spread *values,
        uintptr_t plain_distance,
        const struct point *at_p) {
    __enzymebc_inner_spread(ENZYMEBC_HIDE(values), plain_distance, at_p);
}

void __enzymebc_innertangent_spread(
        uintptr_t values_distance,
        uintptr_t values_distance_again,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        const struct point *at_p,
        struct point *d_p) {
    (void)values_distance_again;
    struct __enzymebc_values_spread d_values;
    memset(&d_values, 0, sizeof d_values);
    __enzymebc_tangent_spread(ENZYMEBC_POINTER(values_distance), &d_values, plain_distance, plain_distance_again, at_p, d_p);
}
