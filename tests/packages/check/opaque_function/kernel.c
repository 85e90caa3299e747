double square(double x);
__attribute__((noinline)) static double helper(double x)
{
    return square(x) + 1.0;
}
__attribute__((noinline)) static double longer(double x) { return helper(x) * 0.5; }
double kernel(double x) { return helper(x) + longer(x); }
