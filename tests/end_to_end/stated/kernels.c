/* Calls of every function of the corpus, each as a function of two numbers, under every pattern of activity. */
#include "corpus.h"
#include <complex.h>

#define BUFFER(name, size) double name[size]

static double use_my_sin(double u, double v) { return my_sin(u) * v; }
static double use_my_exp(double u, double v) { return my_exp(u * v); }
static double use_my_pow(double u, double v) { return my_pow(u, v); }
static double use_my_hypot(double u, double v) { return my_hypot(u, v); }
static double use_twice(double u, double v) { return twice(u) * v; }
static double use_smooth(double u, double v) { return smooth(u, 0.5) * v; }
static double use_gauss(double u, double v) { return gauss(u, v); }
static double use_flagged(double u, double v) { return flagged(0, u) + flagged(1, v); }
static double use_cube(double u, double v) { return cube(u) * v; }
static double use_cubef(double u, double v) { return cubef((float)u) * v; }
static double use_cubel(double u, double v) { return (double)cubel(u) * v; }
static double use_quad(double u, double v) { return quad(u, v); }
static double use_quad_(double u, double v) { return quad_(u, v); }
static double use_mixed(double u, double v) { return mixed((float)u, v); }
static double use_half_square(double u, double v) { return half_square(u) * v; }
static double use_my_sincos(double u, double v) { double s, c; my_sincos(u, &s, &c); return s * v + c * c; }
static double use_one_of_two(double u, double v) { double s, c; my_sincos(u, &s, &c); return c * v; }
static double use_softplus(double u, double v) { double x[2] = {u, v}, y[2]; softplus(2, x, y); return y[0] * y[1]; }
static double use_softplus_in_place(double u, double v) { double x[2] = {u, v}; softplus(2, x, x); return x[0] * x[1]; }
static double use_vexp(double u, double v) { double x[2] = {u, v}, y[2]; vexp(2, x, y); return y[0] * y[1] + x[0]; }
static double use_vexp_in_place(double u, double v) { double x[2] = {u, v}; vexp(2, x, x); return x[0] * x[1]; }
static double use_axpy(double u, double v) {
    double x[4] = {u, 7, v, 9}, y[3] = {v, u, 3};
    axpy(2, u * v, x, 2, y, -1);
    return y[0] * y[1] + y[2];
}
static double use_axpy_same(double u, double v) { double x[2] = {u, v}; axpy(2, u, x, 1, x, 1); return x[0] * x[1]; }
static double use_dot(double u, double v) { double x[3] = {u, v, u}, y[2] = {v, 2}; return dot(2, x, 2, y, -1) + dot(3, x, 1, x, 1); }
static double use_scale(double u, double v) { double x[2] = {u, v}; scale(2, v, x); scale(1, u, x); return x[0] + x[0] * x[1]; }
static double use_both(double u, double v) {
    double x[2] = {u, v}, y[2] = {v, 3}, sum[2], product[2];
    both(2, x, y, sum, product);
    return sum[0] * product[0] + sum[1] * product[1];
}
static double use_both_in_place(double u, double v) {
    double x[2] = {u, v}, y[2] = {v, 3};
    both(2, x, y, x, y);
    return x[0] * y[0] + x[1] * y[1];
}
static const double weights[3] = {2, 3, 5};
static double use_weighted(double u, double v) { double x[3] = {u, v, u}; return weighted(3, weights, x); }
static double use_gather(double u, double v) {
    static const int where[4] = {1, 0, 1, 7};
    double x[2] = {u, v}, y[4];
    gather(4, where, x, 2, y);
    return y[0] * y[1] + y[2] * y[2] + y[3];
}
static double use_solve3(double u, double v) {
    double a[9] = {4, u, 0, v, 5, 1, 1, u * v, 6}, b[3] = {u, v, 1}, x[3];
    return solve3(a, b, x) == 0 ? x[0] + x[1] * x[2] : 0;
}
static double use_solve3_in_place(double u, double v) {
    double a[9] = {4, u, 0, v, 5, 1, 1, u * v, 6}, b[3] = {u, v, 1};
    (void)solve3(a, b, b);
    return b[0] + b[1] * b[2];
}
static double use_matvec(double u, double v) {
    double a[6] = {u, 1, v, 2, u * v, 3}, x[3] = {v, 2, u}, y[2];
    matvec(2, 3, a, x, y);
    return y[0] * y[1];
}
static double use_solve_lower(double u, double v) {
    double l[3] = {2 + u, v, 3}, b[2] = {v, u};
    solve_lower(l, b);
    return b[0] * b[1];
}
static double use_safe_log(double u, double v) {
    double y;
    if (safe_log(u + v, &y) != 0) return v;
    return y * v;
}
static double use_safe_log_failing(double u, double v) {
    double y = 3;
    if (safe_log(-u, &y) != 0) return v * y;
    return y * v;
}
static double use_roots(double u, double v) {
    double low = 1, high = 2;
    long found = roots(3 + u, v, &low, &high);
    return found == 2 ? low * high * high : u;
}
static double use_energy(double u, double v) {
    struct spring s = {v, {0.25 * u, v}, "spring"};
    return energy(&s, u) * v;
}
static const struct spring stiff = {3, {0, 1}, "stiff"};
static double use_rotate(double u, double v) {
    struct point p = {u, v, 4}, q;
    rotate(&p, u * v, &q);
    return q.x * q.y * q.tag;
}
static double use_rotate_in_place(double u, double v) {
    struct point p = {u, v, 4};
    rotate(&p, v, &p);
    return p.x * p.y * p.y;
}
static double use_spread(double u, double v) { struct point p[2] = {{u, v, 0}, {v, 2 * u, 1}}; return spread(2, p); }
static double use_fmadd_(double u, double v) { double z; int n = 3; fmadd_(&u, &v, &n, &z); return z; }
static double use_fmadd_in_place(double u, double v) { int n = 3; fmadd_(&u, &v, &n, &u); return u * v; }
static double use_fnorm_(double u, double v) {
    double x[3] = {u, 5, v}, r;
    int n = 2, step = 2;
    fnorm_(&n, x, &step, &r);
    n = 7; step = 9;
    return r * v;
}
static const double table[3] = {1, 2, 3};
static double use_lookup(double u, double v) { return lookup(table, u) * v; }
static double use_named(double u, double v) { return named("square", u) * v + named("plain", v); }
static double tripled(double x) { return 3 * x; }
static double three(double x) { return 3 + 0 * x; }
static double use_apply(double u, double v) { return apply(tripled, three, u) * v; }
static double use_cmul(double u, double v) {
    double a[4] = {u, 1, v, u}, b[4] = {v, u, 2, v}, c[4];
    cmul(2, (const double _Complex *)a, (const double _Complex *)b, (double _Complex *)c);
    return c[0] * c[1] + c[2] - c[3];
}
static double use_noise(double u, double v) { int state = 7; log_value(u); log_text("noise"); return u * noise(&state) + v * noise(&state); }
static double use_pool(double u, double v) {
    double *memory = pool_take(2 * sizeof *memory);
    memory[0] = u; memory[1] = v;
    double out = memory[0] * memory[1] * memory[1];
    pool_give(memory);
    return out;
}

#define PATTERNS(f) \
    double all_##f(const double *x) { return use_##f(x[0], x[1]); } \
    double first_##f(const double *x) { return use_##f(x[0], 1.25) * x[1]; } \
    double second_##f(const double *x) { return use_##f(0.75, x[1]) * x[0]; } \
    double same_##f(const double *x) { return use_##f(x[0], x[0]) * x[1]; } \
    double fixed_##f(const double *x) { return use_##f(0.5, 0.75) * x[0] * x[1]; } \
    double unused_##f(const double *x) { (void)use_##f(x[0], x[1]); return x[0] * x[1]; } \
    double compared_##f(const double *x) { return use_##f(x[0], x[1]) > 0.5 ? x[0] * x[1] : x[0] - x[1]; } \
    double loop_##f(const double *x) { \
        double u = x[0], total = 0; \
        for (int i = 0; i < 3; i++) { u = 0.5 + 0.125 * use_##f(u, x[1]); total += u * x[0]; } \
        return total; \
    } \
    double twice_##f(const double *x) { return use_##f(x[0], x[1]) * use_##f(x[1], x[0]); }

#include "patterns.h"

/* rules about more than two numbers, and pointers that are inactive at the call */
double constant_spring(const double *x) { return energy(&stiff, x[0]) * x[1]; }
double given_table(const double *x) { double w[2] = {x[0], 1}; return weighted(2, w, x) * x[1]; }
double overwritten(const double *x) {
    double total = 0, buffer[4];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) buffer[j] = x[i % 2] * (j + 1);
        softplus(4, buffer, buffer);
        total += buffer[0] * buffer[3];
        axpy(2, x[0], x, 1, buffer, 2);
        total += dot(4, buffer, 1, buffer, 1);
        vexp(1, buffer, buffer + 3);
        total += buffer[3] * 0.01;
    }
    return total;
}
double fixed_input(const double *x) { static const double fixed[2] = {1, 2}; double y[2] = {x[0], x[1]}; axpy(2, 3, fixed, 1, y, 1); return y[0] * y[1]; }
double literal_factor(const double *x) { double y[2] = {x[1], 2}; axpy(2, 3, x, 1, y, 1); return y[0] * y[1]; }
double zero_elements(const double *x) { double y[1] = {x[0]}; axpy(0, x[1], x, 1, y, 1); return y[0] * x[1]; }
