#include <stdarg.h>
__attribute__((noinline)) static double total(int count, ...)
{
    va_list arguments;
    double sum = 0.0;
    va_start(arguments, count);
    for (int i = 0; i < count; i++) sum += va_arg(arguments, double);
    va_end(arguments);
    return sum;
}
double kernel(double x) { return total(2, x, x * x); }
