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

/* apply: handles.toml:1: derivative[0] */
/*   d result / d values = tape * cos(z) */

extern double apply(double (*f)(double, void *), void *context, const char *name, double values, int tape);

struct __enzymebc_values_apply {
    double values;
    double result;
};

struct __enzymebc_plain_apply {
    int tape;
};

void __enzymebc_packet_apply(
        struct __enzymebc_values_apply *values_,
        uintptr_t plain_distance,
        uintptr_t f_distance,
        uintptr_t context_distance,
        uintptr_t name_distance) {
    struct __enzymebc_plain_apply *plain = ENZYMEBC_POINTER(plain_distance);
    values_->result = apply(ENZYMEBC_POINTER(f_distance), ENZYMEBC_POINTER(context_distance), ENZYMEBC_POINTER(name_distance), values_->values, plain->tape);
}

double __enzymebc_shim_apply(double (*f)(double, void *), void *context, const char *name, double values, int tape) {
    struct __enzymebc_values_apply values_;
    struct __enzymebc_plain_apply plain;
    values_.values = values;
    plain.tape = tape;
    values_.result = 0;
    __enzymebc_packet_apply(&values_, ENZYMEBC_HIDE(&plain), ENZYMEBC_HIDE(f), ENZYMEBC_HIDE(context), ENZYMEBC_HIDE(name));
    return values_.result;
}

struct __enzymebc_tape_apply {
    double values;
    int tape;
};

static struct __enzymebc_tape_apply *__enzymebc_record_tape_apply(
        struct __enzymebc_values_apply *values_,
        uintptr_t plain_distance,
        uintptr_t f_distance,
        uintptr_t context_distance,
        uintptr_t name_distance) {
    struct __enzymebc_plain_apply *plain = ENZYMEBC_POINTER(plain_distance);
    struct __enzymebc_tape_apply *tape_ = malloc(sizeof *tape_);
    if (tape_ == NULL) abort();
    tape_->values = values_->values;
    tape_->tape = plain->tape;
    __enzymebc_packet_apply(values_, plain_distance, f_distance, context_distance, name_distance);
    return tape_;
}

void *__enzymebc_augmented_apply(
        struct __enzymebc_values_apply *values_,
        struct __enzymebc_values_apply *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        uintptr_t f_distance,
        uintptr_t f_distance_again,
        uintptr_t context_distance,
        uintptr_t context_distance_again,
        uintptr_t name_distance,
        uintptr_t name_distance_again) {
    (void)d_values;
    (void)plain_distance_again;
    (void)f_distance_again;
    (void)context_distance_again;
    (void)name_distance_again;
    return __enzymebc_record_tape_apply(values_, plain_distance, f_distance, context_distance, name_distance);
}

void __enzymebc_gradient_apply(
        struct __enzymebc_values_apply *values_,
        struct __enzymebc_values_apply *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        uintptr_t f_distance,
        uintptr_t f_distance_again,
        uintptr_t context_distance,
        uintptr_t context_distance_again,
        uintptr_t name_distance,
        uintptr_t name_distance_again,
        void *memory) {
    (void)plain_distance;
    (void)plain_distance_again;
    (void)f_distance;
    (void)f_distance_again;
    (void)context_distance;
    (void)context_distance_again;
    (void)name_distance;
    (void)name_distance_again;
    struct __enzymebc_tape_apply *tape_ = memory;
    const double values = tape_->values;
    const int tape = tape_->tape;
    double seed_result = 0;
    if (d_values != values_) {
        seed_result = d_values->result;
        d_values->result = 0;
    }
    double add_values = 0;
    {
#line 3 "handles.toml"
const double z = values * tape;
#line 139 "enzymebc_rules.c"
        if (seed_result != 0) {
            add_values += (tape * cos(z)) * seed_result;
        }
    }
    if (d_values != values_) {
        d_values->values += add_values;
    }
    free(tape_);
}

void __enzymebc_tangent_apply(
        struct __enzymebc_values_apply *values_,
        struct __enzymebc_values_apply *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        uintptr_t f_distance,
        uintptr_t f_distance_again,
        uintptr_t context_distance,
        uintptr_t context_distance_again,
        uintptr_t name_distance,
        uintptr_t name_distance_again) {
    (void)plain_distance_again;
    (void)f_distance_again;
    (void)context_distance_again;
    (void)name_distance_again;
    struct __enzymebc_plain_apply *plain = ENZYMEBC_POINTER(plain_distance);
    const double values = values_->values;
    const int tape = plain->tape;
    const double tangent_values = d_values != values_ ? d_values->values : 0;
    double sum_result = 0;
    {
#line 3 "handles.toml"
const double z = values * tape;
#line 173 "enzymebc_rules.c"
        if (tangent_values != 0) {
            sum_result += (tape * cos(z)) * tangent_values;
        }
    }
    __enzymebc_packet_apply(values_, plain_distance, f_distance, context_distance, name_distance);
    if (d_values != values_) {
        d_values->result = sum_result;
    }
}

/* pick: handles.toml:6: derivative[1] */
/*   d result / d x = where > 0 ? my_slope(x) : 0 */

extern double pick(const int *where, int n, const double *x);
extern double my_slope(double x);

struct __enzymebc_values_pick {
    double result;
};

struct __enzymebc_plain_pick {
    int n;
};

void __enzymebc_packet_pick(
        struct __enzymebc_values_pick *values,
        uintptr_t plain_distance,
        uintptr_t where_distance,
        const double *at_x) {
    struct __enzymebc_plain_pick *plain = ENZYMEBC_POINTER(plain_distance);
    values->result = pick(ENZYMEBC_POINTER(where_distance), plain->n, at_x);
    if (ENZYMEBC_NEVER(at_x)) *(double *)at_x = 0;
}

double __enzymebc_shim_pick(const int *where, int n, const double *x) {
    struct __enzymebc_values_pick values;
    struct __enzymebc_plain_pick plain;
    plain.n = n;
    values.result = 0;
    __enzymebc_packet_pick(&values, ENZYMEBC_HIDE(&plain), ENZYMEBC_HIDE(where), x);
    return values.result;
}

struct __enzymebc_tape_pick {
    int *where;
    int n;
    double *x;
};

static struct __enzymebc_tape_pick *__enzymebc_record_tape_pick(
        struct __enzymebc_values_pick *values,
        uintptr_t plain_distance,
        uintptr_t where_distance,
        const double *at_x) {
    struct __enzymebc_plain_pick *plain = ENZYMEBC_POINTER(plain_distance);
    const int n = plain->n;
    const ptrdiff_t count_n = n;
    const size_t size_where = __enzymebc_padded(count_n > 0 ? (size_t)count_n * sizeof(int) : 0);
    const size_t size_x = __enzymebc_padded(count_n > 0 ? (size_t)count_n * sizeof(double) : 0);
    char *memory = malloc(__enzymebc_padded(sizeof(struct __enzymebc_tape_pick)) + size_where + size_x);
    struct __enzymebc_tape_pick *tape = (void *)memory;
    if (tape == NULL) abort();
    memory += __enzymebc_padded(sizeof *tape);
    tape->where = (void *)memory;
    memory += size_where;
    tape->x = (void *)memory;
    for (ptrdiff_t i = 0; i < count_n; i++) tape->where[i] = ((const int *)ENZYMEBC_POINTER(where_distance))[i];
    tape->n = plain->n;
    for (ptrdiff_t i = 0; i < count_n; i++) tape->x[i] = at_x[i];
    __enzymebc_packet_pick(values, plain_distance, where_distance, at_x);
    return tape;
}

void *__enzymebc_augmented_pick(
        struct __enzymebc_values_pick *values,
        struct __enzymebc_values_pick *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        uintptr_t where_distance,
        uintptr_t where_distance_again,
        const double *at_x,
        double *d_x) {
    (void)d_values;
    (void)plain_distance_again;
    (void)where_distance_again;
    (void)d_x;
    return __enzymebc_record_tape_pick(values, plain_distance, where_distance, at_x);
}

void __enzymebc_gradient_pick(
        struct __enzymebc_values_pick *values,
        struct __enzymebc_values_pick *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        uintptr_t where_distance,
        uintptr_t where_distance_again,
        const double *at_x,
        double *d_x,
        void *memory) {
    (void)plain_distance;
    (void)plain_distance_again;
    (void)where_distance;
    (void)where_distance_again;
    struct __enzymebc_tape_pick *tape = memory;
    const int n = tape->n;
    const ptrdiff_t count_n = n;
    const int active_x = d_x != at_x;
    double seed_result = 0;
    if (d_values != values) {
        seed_result = d_values->result;
        d_values->result = 0;
    }
    for (ptrdiff_t i = 0; i < count_n; i++) {
        const int where = tape->where[i];
        const double x = tape->x[i];
        if (seed_result != 0) {
            if (active_x) d_x[i] += (where > 0 ? my_slope(x) : 0) * seed_result;
        }
    }
    free(tape);
}

void __enzymebc_tangent_pick(
        struct __enzymebc_values_pick *values,
        struct __enzymebc_values_pick *d_values,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        uintptr_t where_distance,
        uintptr_t where_distance_again,
        const double *at_x,
        double *d_x) {
    (void)plain_distance_again;
    (void)where_distance_again;
    struct __enzymebc_plain_pick *plain = ENZYMEBC_POINTER(plain_distance);
    const int n = plain->n;
    const ptrdiff_t count_n = n;
    const int active_x = d_x != at_x;
    double sum_result = 0;
    for (ptrdiff_t i = 0; i < count_n; i++) {
        const int where = ((const int *)ENZYMEBC_POINTER(where_distance))[i];
        const double x = at_x[i];
        const double tangent_x = active_x ? d_x[i] : 0;
        if (tangent_x != 0) {
            sum_result += (where > 0 ? my_slope(x) : 0) * tangent_x;
        }
    }
    __enzymebc_packet_pick(values, plain_distance, where_distance, at_x);
    if (d_values != values) {
        d_values->result = sum_result;
    }
}

void __enzymebc_inner_pick(
        uintptr_t values_distance,
        uintptr_t plain_distance,
        uintptr_t where_distance,
        const double *at_x) {
    struct __enzymebc_plain_pick *plain = ENZYMEBC_POINTER(plain_distance);
    struct __enzymebc_values_pick *values = ENZYMEBC_POINTER(values_distance);
    values->result = pick(ENZYMEBC_POINTER(where_distance), plain->n, at_x);
}

void __enzymebc_bridge_pick(
        struct __enzymebc_values_pick *values,
        uintptr_t plain_distance,
        uintptr_t where_distance,
        const double *at_x) {
    __enzymebc_inner_pick(ENZYMEBC_HIDE(values), plain_distance, where_distance, at_x);
}

void __enzymebc_innertangent_pick(
        uintptr_t values_distance,
        uintptr_t values_distance_again,
        uintptr_t plain_distance,
        uintptr_t plain_distance_again,
        uintptr_t where_distance,
        uintptr_t where_distance_again,
        const double *at_x,
        double *d_x) {
    (void)values_distance_again;
    struct __enzymebc_values_pick d_values;
    memset(&d_values, 0, sizeof d_values);
    __enzymebc_tangent_pick(ENZYMEBC_POINTER(values_distance), &d_values, plain_distance, plain_distance_again, where_distance, where_distance_again, at_x, d_x);
}
