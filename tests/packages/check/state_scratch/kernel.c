__attribute__((noinline)) static void fill(double *values, double x, int count)
{
    for (int i = 0; i < count; i++) values[i] = x * i;
}
double kernel(double x)
{
    static double values[64];
    double sum = 0.0;
    int count = (int)(x * 20.0);
    fill(values, x, count);
    for (int i = 0; i < count; i++) sum += values[i];
    return sum;
}
