/*
 * Rules for Enzyme, rendered by `enzyme-build rules generate`; do not edit.
 *
 * Compile this file with Enzyme's plugin, in the same module as the functions it names: include it at the end of
 * the source that calls them, or link the bitcode of both. Never link it into native code: the arrays are data
 * that name every function at once, and a library with an undefined one no longer loads.
 * It must not include your headers: what they declare is declared here anew, by its name in the object file.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern void my_square(const double *x, double *out);
extern void enzymebc_augmented_my_square(void) __asm__("augmented_my_square");
extern void enzymebc_gradient_my_square(void) __asm__("gradient_my_square");
extern void enzymebc_tangent_my_square(void) __asm__("tangent_my_square");
extern void enzymebc_log_step(void) __asm__("log_step");
extern char enzymebc_verbosity[] __asm__("verbosity");
extern double fast_sin(double x);
extern void enzymebc_pool_take(void) __asm__("pool_take");
extern void enzymebc_pool_give(void) __asm__("pool_give");
extern uint64_t checksum(const uint8_t *bytes, size_t count, bool fast);

/* every_kind.toml:1: derivative[0] */
__attribute__((used)) void *__enzyme_register_gradient_my_square[3] = {
    (void *)my_square,
    (void *)enzymebc_augmented_my_square,
    (void *)enzymebc_gradient_my_square,
};
__attribute__((used)) void *__enzyme_register_derivative_my_square[2] = {
    (void *)my_square,
    (void *)enzymebc_tangent_my_square,
};

/* every_kind.toml:6: inactive[0] */
__attribute__((used)) void *__enzyme_inactivefn_log_step = (void *)enzymebc_log_step;
__attribute__((used)) void *__enzyme_nofree_log_step = (void *)enzymebc_log_step;

/* every_kind.toml:9: inactive-global[0] */
__attribute__((used)) void *__enzyme_inactive_global_verbosity = (void *)enzymebc_verbosity;

/* every_kind.toml:12: like[0] */
__attribute__((used)) void *__enzyme_function_like_fast_sin[2] = {
    (void *)fast_sin,
    (void *)"sin",
};

/* every_kind.toml:16: allocation[0] */
__attribute__((used)) void *__enzyme_allocation_like_pool_take[4] = {
    (void *)enzymebc_pool_take,
    (void *)1,
    (void *)"-1,2,0",
    (void *)enzymebc_pool_give,
};
__attribute__((used)) void *__enzyme_function_like_pool_give[2] = {
    (void *)enzymebc_pool_give,
    (void *)"free",
};

/* every_kind.toml:22: nofree[0] */
__attribute__((used)) void *__enzyme_nofree_checksum = (void *)checksum;
