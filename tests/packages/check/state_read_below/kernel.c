static double values[64];
__attribute__((noinline)) static double total(int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += values[i];
    return sum;
}
double kernel(double x)
{
    int count = (int)(x * 20.0);
    for (int i = 0; i < count; i++) values[i] = x * i;
    return total(count);
}
