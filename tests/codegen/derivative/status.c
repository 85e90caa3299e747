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

/* safe_log: status.toml:1: derivative[0] */
/*   d y / d x = result == 0 ? 1 / x : 0 */

extern int safe_log(double x, double *y);

struct __enzymebc_values_safe_log {
    double x;
    double y;
};

struct __enzymebc_plain_safe_log {
    int result;
};

void __enzymebc_packet_safe_log(struct __enzymebc_values_safe_log *values, uintptr_t plain_distance) {
    struct __enzymebc_plain_safe_log *plain = ENZYMEBC_POINTER(plain_distance);
    plain->result = safe_log(values->x, &values->y);
}

int __enzymebc_shim_safe_log(double x, double *y) {
    struct __enzymebc_values_safe_log values;
    struct __enzymebc_plain_safe_log plain;
    values.x = x;
    values.y = *y;
    plain.result = 0;
    __enzymebc_packet_safe_log(&values, ENZYMEBC_HIDE(&plain));
    *y = values.y;
    return plain.result;
}

struct __enzymebc_tape_safe_log {
    double x;
    int result;
};

static struct __enzymebc_tape_safe_log *__enzymebc_record_tape_safe_log(
        struct __enzymebc_values_safe_log *values,
        uintptr_t plain_distance) {
    struct __enzymebc_plain_safe_log *plain = ENZYMEBC_POINTER(plain_distance);
    struct __enzymebc_tape_safe_log *tape = malloc(sizeof *tape);
    if (tape == NULL) abort();
    tape->x = values->x;
    __enzymebc_packet_safe_log(values, plain_distance);
    tape->result = plain->result;
    return tape;
}

void *__enzymebc_augmented_safe_log(
        struct __enzymebc_values_safe_log *values,
        struct __enzymebc_values_safe_log *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again) {
    (void)d_values;
    (void)plain_distance_again;
    return __enzymebc_record_tape_safe_log(values, plain_distance);
}

void __enzymebc_gradient_safe_log(
        struct __enzymebc_values_safe_log *values,
        struct __enzymebc_values_safe_log *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        void *memory) {
    (void)plain_distance;
    (void)plain_distance_again;
    struct __enzymebc_tape_safe_log *tape = memory;
    const double x = tape->x;
    const int result = tape->result;
    double seed_y = 0;
    if (d_values != values) {
        seed_y = d_values->y;
        d_values->y = 0;
    }
    double add_x = 0;
    if (seed_y != 0) {
        add_x += (result == 0 ? 1 / x : 0) * seed_y;
    }
    if (d_values != values) {
        d_values->x += add_x;
    }
    free(tape);
}

void __enzymebc_tangent_safe_log(
        struct __enzymebc_values_safe_log *values,
        struct __enzymebc_values_safe_log *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again) {
    (void)plain_distance_again;
    struct __enzymebc_tape_safe_log *tape = __enzymebc_record_tape_safe_log(values, plain_distance);
    const double x = tape->x;
    const int result = tape->result;
    const double tangent_x = d_values != values ? d_values->x : 0;
    double sum_y = 0;
    if (tangent_x != 0) {
        sum_y += (result == 0 ? 1 / x : 0) * tangent_x;
    }
    if (d_values != values) {
        d_values->y = sum_y;
    }
    free(tape);
}
