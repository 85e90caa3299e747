/* The functions that have rules: a library without bitcode, opaque to Enzyme. */
#include "corpus.h"
#include <complex.h>
#include <math.h>
#include <stdlib.h>

double my_cos(double x) { return cos(x); }
double my_sin(double x) { return sin(x); }
double my_exp(double x) { return exp(x); }
double my_pow(double x, double y) { return pow(x, y); }
double my_hypot(double x, double y) { return sqrt(x * x + y * y); }
double twice(double x) { return 2 * x; }
double smooth(double x, double width) { return sqrt(x * x + width * width); }
double gauss(double x, double s) { return exp(-0.5 * (x / s) * (x / s)); }
double flagged(int mode, double x) { return mode == 0 ? x * x : x * x * x; }
double cube(double x) { return x * x * x; }
float cubef(float x) { return x * x * x; }
long double cubel(long double x) { return x * x * x; }
double quad(double x, double y) { return x * x * y; }
double quad_(double x, double y) { return x * x * y; }
float mixed(float a, double b) { return (float)(a * b * b); }
real_t half_square(real_t x) { return x * x / 2; }
void my_sincos(double x, double *sine, double *cosine) { *sine = sin(x); *cosine = cos(x); }
void softplus(int n, const double *x, double *y) { for (int i = 0; i < n; i++) y[i] = log(1 + exp(x[i])); }
void vexp(int n, const double *x, double *y) { for (int i = 0; i < n; i++) y[i] = exp(x[i]); }
void axpy(int n, double a, const double *x, int incx, double *y, int incy) {
    int ix = incx < 0 ? (1 - n) * incx : 0, iy = incy < 0 ? (1 - n) * incy : 0;
    for (int i = 0; i < n; i++) y[iy + i * incy] += a * x[ix + i * incx];
}
double dot(int n, const double *x, int incx, const double *y, int incy) {
    int ix = incx < 0 ? (1 - n) * incx : 0, iy = incy < 0 ? (1 - n) * incy : 0;
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[ix + i * incx] * y[iy + i * incy];
    return sum;
}
void scale(int n, double a, double *x) { for (int i = 0; i < n; i++) x[i] *= a; }
void both(size_t n, const double *x, const double *y, double *sum, double *product) {
    for (size_t i = 0; i < n; i++) { double u = x[i], v = y[i]; sum[i] = u + v; product[i] = u * v; }
}
double weighted(int n, const double *w, const double *x) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += w[i] * x[i] * x[i];
    return sum;
}
void gather(int n, const int *where, const double *x, int m, double *y) {
    for (int i = 0; i < n; i++) y[i] = where[i] < m ? x[where[i]] : 0;
}
int solve3(const double *a, const double *b, double *x) {
    double m[3][4];
    for (int i = 0; i < 3; i++) { for (int j = 0; j < 3; j++) m[i][j] = a[3 * i + j]; m[i][3] = b[i]; }
    for (int k = 0; k < 3; k++) {
        if (m[k][k] == 0) return 1;
        for (int i = 0; i < 3; i++) if (i != k) {
            double f = m[i][k] / m[k][k];
            for (int j = k; j < 4; j++) m[i][j] -= f * m[k][j];
        }
    }
    for (int i = 0; i < 3; i++) x[i] = m[i][3] / m[i][i];
    return 0;
}
void matvec(int m, int n, const double *a, const double *x, double *y) {
    for (int i = 0; i < m; i++) { y[i] = 0; for (int j = 0; j < n; j++) y[i] += a[i * n + j] * x[j]; }
}
void solve_lower(const double *l, double *b) { b[0] /= l[0]; b[1] = (b[1] - l[1] * b[0]) / l[2]; }
int safe_log(double x, double *y) { if (x <= 0) return 1; *y = log(x); return 0; }
long roots(double p, double q, double *low, double *high) {
    double d = p * p / 4 - q;
    if (d < 0) return 0;
    *low = -p / 2 - sqrt(d); *high = -p / 2 + sqrt(d);
    return 2;
}
double energy(const struct spring *s, double x) {
    double stretch = x - (s->ends[1] - s->ends[0]);
    return 0.5 * s->stiffness * stretch * stretch;
}
void rotate(const struct point *p, double angle, struct point *q) {
    double x = p->x, y = p->y;
    q->x = cos(angle) * x - sin(angle) * y; q->y = sin(angle) * x + cos(angle) * y; q->tag = p->tag;
}
double spread(int n, const struct point *p) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += p[i].x * p[i].x * p[i].y;
    return sum;
}
void fmadd_(const double *x, const double *y, const int *n, double *z) { *z = *x * *y * *n; }
void fnorm_(const int *n, const double *x, const int *incx, double *r) {
    double sum = 0;
    for (int i = 0; i < *n; i++) sum += x[i * *incx] * x[i * *incx];
    *r = sqrt(sum);
}
double lookup(const void *table, double x) { const double *c = table; return c[0] + c[1] * x + c[2] * x * x; }
double named(const char *kind, double x) { return kind[0] == 's' ? x * x : x; }
double apply(double (*f)(double), double (*derivative)(double), double x) { (void)derivative; return f(x); }
void cmul(int n, const double _Complex *a, const double _Complex *b, double _Complex *c) {
    for (int i = 0; i < n; i++) c[i] = a[i] * b[i];
}
double noise(int *state) { *state = (*state * 16807) % 1000; return 1 + *state / 1000.0; }
void log_value(double x) { (void)x; }
void log_text(const char *text) { (void)text; }
void *pool_take(size_t bytes) { return malloc(bytes); }
void pool_give(void *memory) { free(memory); }
