static double values[8];
__attribute__((noinline)) static void fill(const double *x)
{
    for (int i = 0; i < 8; i++) values[i] = *x * i;
}
__attribute__((noinline)) static double total(void)
{
    double sum = 0.0;
    for (int i = 0; i < 8; i++) sum += values[i];
    return sum;
}
double kernel(double x) { fill(&x); return total() * x; }
