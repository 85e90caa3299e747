double __shapes_MOD_square(const double *x);
void scale_(const double *x, double *y, const int *count);
double kernel(double x)
{
    double y;
    const int one = 1;
    scale_(&x, &y, &one);
    return __shapes_MOD_square(&y);
}
