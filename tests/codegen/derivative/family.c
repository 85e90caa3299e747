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

/* cubef: family.toml:1: derivative[0] */
/*   d result / d x = 3 * x * x */

extern float cubef(float x);

struct __enzymebc_values_cubef {
    float x;
    float result;
};

void __enzymebc_packet_cubef(struct __enzymebc_values_cubef *values) {
    values->result = cubef(values->x);
}

float __enzymebc_shim_cubef(float x) {
    struct __enzymebc_values_cubef values;
    values.x = x;
    values.result = 0;
    __enzymebc_packet_cubef(&values);
    return values.result;
}

struct __enzymebc_tape_cubef {
    float x;
};

static struct __enzymebc_tape_cubef *__enzymebc_record_tape_cubef(struct __enzymebc_values_cubef *values) {
    struct __enzymebc_tape_cubef *tape = malloc(sizeof *tape);
    if (tape == NULL) abort();
    tape->x = values->x;
    __enzymebc_packet_cubef(values);
    return tape;
}

void *__enzymebc_augmented_cubef(struct __enzymebc_values_cubef *values, struct __enzymebc_values_cubef *d_values) {
    (void)d_values;
    return __enzymebc_record_tape_cubef(values);
}

void __enzymebc_gradient_cubef(
        struct __enzymebc_values_cubef *values,
        struct __enzymebc_values_cubef *d_values,
        void *memory) {
    struct __enzymebc_tape_cubef *tape = memory;
    const float x = tape->x;
    float seed_result = 0;
    if (d_values != values) {
        seed_result = d_values->result;
        d_values->result = 0;
    }
    float add_x = 0;
    if (seed_result != 0) {
        add_x += (3 * x * x) * seed_result;
    }
    if (d_values != values) {
        d_values->x += add_x;
    }
    free(tape);
}

void __enzymebc_tangent_cubef(struct __enzymebc_values_cubef *values, struct __enzymebc_values_cubef *d_values) {
    const float x = values->x;
    const float tangent_x = d_values != values ? d_values->x : 0;
    float sum_result = 0;
    if (tangent_x != 0) {
        sum_result += (3 * x * x) * tangent_x;
    }
    __enzymebc_packet_cubef(values);
    if (d_values != values) {
        d_values->result = sum_result;
    }
}

/* cubef_: family.toml:1: derivative[0] */
/*   d result / d x = 3 * x * x */

extern float cubef_(float x);

struct __enzymebc_values_cubef_ {
    float x;
    float result;
};

void __enzymebc_packet_cubef_(struct __enzymebc_values_cubef_ *values) {
    values->result = cubef_(values->x);
}

float __enzymebc_shim_cubef_(float x) {
    struct __enzymebc_values_cubef_ values;
    values.x = x;
    values.result = 0;
    __enzymebc_packet_cubef_(&values);
    return values.result;
}

struct __enzymebc_tape_cubef_ {
    float x;
};

static struct __enzymebc_tape_cubef_ *__enzymebc_record_tape_cubef_(struct __enzymebc_values_cubef_ *values) {
    struct __enzymebc_tape_cubef_ *tape = malloc(sizeof *tape);
    if (tape == NULL) abort();
    tape->x = values->x;
    __enzymebc_packet_cubef_(values);
    return tape;
}

void *__enzymebc_augmented_cubef_(struct __enzymebc_values_cubef_ *values, struct __enzymebc_values_cubef_ *d_values) {
    (void)d_values;
    return __enzymebc_record_tape_cubef_(values);
}

void __enzymebc_gradient_cubef_(
        struct __enzymebc_values_cubef_ *values,
        struct __enzymebc_values_cubef_ *d_values,
        void *memory) {
    struct __enzymebc_tape_cubef_ *tape = memory;
    const float x = tape->x;
    float seed_result = 0;
    if (d_values != values) {
        seed_result = d_values->result;
        d_values->result = 0;
    }
    float add_x = 0;
    if (seed_result != 0) {
        add_x += (3 * x * x) * seed_result;
    }
    if (d_values != values) {
        d_values->x += add_x;
    }
    free(tape);
}

void __enzymebc_tangent_cubef_(struct __enzymebc_values_cubef_ *values, struct __enzymebc_values_cubef_ *d_values) {
    const float x = values->x;
    const float tangent_x = d_values != values ? d_values->x : 0;
    float sum_result = 0;
    if (tangent_x != 0) {
        sum_result += (3 * x * x) * tangent_x;
    }
    __enzymebc_packet_cubef_(values);
    if (d_values != values) {
        d_values->result = sum_result;
    }
}

/* cubel: family.toml:1: derivative[0] */
/*   d result / d x = 3 * x * x */

extern long double cubel(long double x);

struct __enzymebc_values_cubel {
    long double x;
    long double result;
};

void __enzymebc_packet_cubel(struct __enzymebc_values_cubel *values) {
    values->result = cubel(values->x);
}

long double __enzymebc_shim_cubel(long double x) {
    struct __enzymebc_values_cubel values;
    values.x = x;
    values.result = 0;
    __enzymebc_packet_cubel(&values);
    return values.result;
}

struct __enzymebc_tape_cubel {
    long double x;
};

static struct __enzymebc_tape_cubel *__enzymebc_record_tape_cubel(struct __enzymebc_values_cubel *values) {
    struct __enzymebc_tape_cubel *tape = malloc(sizeof *tape);
    if (tape == NULL) abort();
    tape->x = values->x;
    __enzymebc_packet_cubel(values);
    return tape;
}

void *__enzymebc_augmented_cubel(struct __enzymebc_values_cubel *values, struct __enzymebc_values_cubel *d_values) {
    (void)d_values;
    return __enzymebc_record_tape_cubel(values);
}

void __enzymebc_gradient_cubel(
        struct __enzymebc_values_cubel *values,
        struct __enzymebc_values_cubel *d_values,
        void *memory) {
    struct __enzymebc_tape_cubel *tape = memory;
    const long double x = tape->x;
    long double seed_result = 0;
    if (d_values != values) {
        seed_result = d_values->result;
        d_values->result = 0;
    }
    long double add_x = 0;
    if (seed_result != 0) {
        add_x += (3 * x * x) * seed_result;
    }
    if (d_values != values) {
        d_values->x += add_x;
    }
    free(tape);
}

void __enzymebc_tangent_cubel(struct __enzymebc_values_cubel *values, struct __enzymebc_values_cubel *d_values) {
    const long double x = values->x;
    const long double tangent_x = d_values != values ? d_values->x : 0;
    long double sum_result = 0;
    if (tangent_x != 0) {
        sum_result += (3 * x * x) * tangent_x;
    }
    __enzymebc_packet_cubel(values);
    if (d_values != values) {
        d_values->result = sum_result;
    }
}

/* cubel_: family.toml:1: derivative[0] */
/*   d result / d x = 3 * x * x */

extern long double cubel_(long double x);

struct __enzymebc_values_cubel_ {
    long double x;
    long double result;
};

void __enzymebc_packet_cubel_(struct __enzymebc_values_cubel_ *values) {
    values->result = cubel_(values->x);
}

long double __enzymebc_shim_cubel_(long double x) {
    struct __enzymebc_values_cubel_ values;
    values.x = x;
    values.result = 0;
    __enzymebc_packet_cubel_(&values);
    return values.result;
}

struct __enzymebc_tape_cubel_ {
    long double x;
};

static struct __enzymebc_tape_cubel_ *__enzymebc_record_tape_cubel_(struct __enzymebc_values_cubel_ *values) {
    struct __enzymebc_tape_cubel_ *tape = malloc(sizeof *tape);
    if (tape == NULL) abort();
    tape->x = values->x;
    __enzymebc_packet_cubel_(values);
    return tape;
}

void *__enzymebc_augmented_cubel_(struct __enzymebc_values_cubel_ *values, struct __enzymebc_values_cubel_ *d_values) {
    (void)d_values;
    return __enzymebc_record_tape_cubel_(values);
}

void __enzymebc_gradient_cubel_(
        struct __enzymebc_values_cubel_ *values,
        struct __enzymebc_values_cubel_ *d_values,
        void *memory) {
    struct __enzymebc_tape_cubel_ *tape = memory;
    const long double x = tape->x;
    long double seed_result = 0;
    if (d_values != values) {
        seed_result = d_values->result;
        d_values->result = 0;
    }
    long double add_x = 0;
    if (seed_result != 0) {
        add_x += (3 * x * x) * seed_result;
    }
    if (d_values != values) {
        d_values->x += add_x;
    }
    free(tape);
}

void __enzymebc_tangent_cubel_(struct __enzymebc_values_cubel_ *values, struct __enzymebc_values_cubel_ *d_values) {
    const long double x = values->x;
    const long double tangent_x = d_values != values ? d_values->x : 0;
    long double sum_result = 0;
    if (tangent_x != 0) {
        sum_result += (3 * x * x) * tangent_x;
    }
    __enzymebc_packet_cubel_(values);
    if (d_values != values) {
        d_values->result = sum_result;
    }
}
