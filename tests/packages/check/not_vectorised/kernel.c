double norm(const double *x, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += x[i] * x[i];
    return sum;
}
double kernel(double x) { return norm(&x, 1); }
