#include <math.h>
#include <stdlib.h>
#include <string.h>
double kernel(double x)
{
    double *values = malloc(2 * sizeof *values), copy[2];
    values[0] = sqrt(x * x);
    values[1] = exp(log(x)) * cos(0.0);
    memcpy(copy, values, sizeof copy);
    free(values);
    return copy[0] * copy[1] + 2.0 * fabs(x);
}
