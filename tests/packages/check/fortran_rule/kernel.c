double __shapes_MOD_square(const double *x);
double augmented_square(const double *x, double *d_x) { return __shapes_MOD_square(x); }
void gradient_square(const double *x, double *d_x, double d_result)
{
    if (d_x != x) *d_x += 2.0 * *x * d_result;
}
struct pair { double value, tangent; };
struct pair tangent_square(const double *x, const double *d_x)
{
    struct pair result = {__shapes_MOD_square(x), 2.0 * *x * *d_x};
    return result;
}
double kernel(double x) { return __shapes_MOD_square(&x); }
