/*
 * Rules for Enzyme, rendered by `enzyme-build rules generate`; do not edit.
 *
 * Compile this file with Enzyme's plugin, in the same module as the functions it names: include it at the end of
 * the source that calls them, or link the bitcode of both. Never link it into native code: the arrays are data
 * that name every function at once, and a library with an undefined one no longer loads.
 * It must not include your headers: what they declare is declared here anew, by its name in the object file.
 */

extern void enzymebc__ZN2ns1fEd(void) __asm__("_ZN2ns1fEd");
extern void enzymebc__ZN2ns11augmented_fEd(void) __asm__("_ZN2ns11augmented_fEd");
extern void enzymebc__ZN2ns10gradient_fEdd(void) __asm__("_ZN2ns10gradient_fEdd");
extern void enzymebc_daxpy_(void) __asm__("daxpy_");
extern void enzymebc_helper_part_0(void) __asm__("helper.part.0");
extern void enzymebc_helper_part_0_2(void) __asm__("helper_part_0");
extern void enzymebc_my_exp(void) __asm__("my_exp");
extern void enzymebc_log_vector(void) __asm__("log_vector");

/* names.toml:3: derivative[0] */
__attribute__((used)) void *__enzyme_register_gradient__ZN2ns1fEd[3] = {
    (void *)enzymebc__ZN2ns1fEd,
    (void *)enzymebc__ZN2ns11augmented_fEd,
    (void *)enzymebc__ZN2ns10gradient_fEdd,
};

/* names.toml:7: inactive[0] */
__attribute__((used)) void *__enzyme_inactivefn_daxpy_ = (void *)enzymebc_daxpy_;
__attribute__((used)) void *__enzyme_nofree_daxpy_ = (void *)enzymebc_daxpy_;

/* names.toml:10: nofree[0] */
__attribute__((used)) void *__enzyme_nofree_helper_part_0 = (void *)enzymebc_helper_part_0;

/* names.toml:13: nofree[1] */
__attribute__((used)) void *__enzyme_nofree_helper_part_0_2 = (void *)enzymebc_helper_part_0_2;

/* names.toml:16: like[0] */
__attribute__((used)) void *__enzyme_function_like_my_exp[2] = {
    (void *)enzymebc_my_exp,
    (void *)"exp",
};

/* names.toml:20: inactive[1] */
__attribute__((used)) void *__enzyme_inactivefn_log_vector = (void *)enzymebc_log_vector;
__attribute__((used)) void *__enzyme_nofree_log_vector = (void *)enzymebc_log_vector;
