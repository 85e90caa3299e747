#include <stdio.h>
double kernel(double x) { fflush(stdout); return x * x; }
