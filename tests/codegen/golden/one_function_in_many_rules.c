/*
 * Rules for Enzyme, rendered by `enzyme-build rules generate`; do not edit.
 *
 * Compile this file with Enzyme's plugin, in the same module as the functions it names: include it at the end of
 * the source that calls them, or link the bitcode of both. Never link it into native code: the arrays are data
 * that name every function at once, and a library with an undefined one no longer loads.
 * It must not include your headers: what they declare is declared here anew, by its name in the object file.
 */

extern void enzymebc_take(void) __asm__("take");
extern void enzymebc_give(void) __asm__("give");
extern void enzymebc_take_zeroed(void) __asm__("take_zeroed");
extern void enzymebc_release(void) __asm__("release");
extern void enzymebc_grab(void) __asm__("grab");
extern void enzymebc_f(void) __asm__("f");
extern void enzymebc_tangent(void) __asm__("tangent");
extern void enzymebc_g(void) __asm__("g");

/* one_function_in_many_rules.toml:1: allocation[0] */
__attribute__((used)) void *__enzyme_allocation_like_take[4] = {
    (void *)enzymebc_take,
    (void *)0,
    (void *)"-1",
    (void *)enzymebc_give,
};
__attribute__((used)) void *__enzyme_function_like_give[2] = {
    (void *)enzymebc_give,
    (void *)"free",
};

/* one_function_in_many_rules.toml:5: allocation[1] */
__attribute__((used)) void *__enzyme_allocation_like_take_zeroed[4] = {
    (void *)enzymebc_take_zeroed,
    (void *)0,
    (void *)"-1",
    (void *)enzymebc_give,
};

/* one_function_in_many_rules.toml:9: like[0] */
__attribute__((used)) void *__enzyme_function_like_release[2] = {
    (void *)enzymebc_release,
    (void *)"free",
};

/* one_function_in_many_rules.toml:13: allocation[2] */
__attribute__((used)) void *__enzyme_allocation_like_grab[4] = {
    (void *)enzymebc_grab,
    (void *)0,
    (void *)"-1",
    (void *)enzymebc_release,
};

/* one_function_in_many_rules.toml:17: derivative[0] */
__attribute__((used)) void *__enzyme_register_derivative_f[2] = {
    (void *)enzymebc_f,
    (void *)enzymebc_tangent,
};

/* one_function_in_many_rules.toml:21: nofree[0] */
__attribute__((used)) void *__enzyme_nofree_f = (void *)enzymebc_f;

/* one_function_in_many_rules.toml:24: derivative[1] */
__attribute__((used)) void *__enzyme_register_derivative_g[2] = {
    (void *)enzymebc_g,
    (void *)enzymebc_tangent,
};
