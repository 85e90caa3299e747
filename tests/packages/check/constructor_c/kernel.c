#include <math.h>
static double table[3];
__attribute__((constructor)) static void fill(void)
{
    for (int i = 0; i < 3; i++) table[i] = i + sqrt(i * 2.0);
}
double kernel(double x) { return table[2] * x; }
