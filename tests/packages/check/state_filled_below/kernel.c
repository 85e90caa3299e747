static double values[64];
__attribute__((noinline)) static void fill(double x, int count)
{
    for (int i = 0; i < count; i++) values[i] = x * i;
}
double kernel(double x)
{
    double sum = 0.0;
    int count = (int)(x * 20.0);
    fill(x, count);
    for (int i = 0; i < count; i++) sum += values[i];
    return sum;
}
