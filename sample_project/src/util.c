#include <math.h>

#include "kernel.h"

/* Enzyme knows exp and sin: they need no rule. */
double damped_sine(double damping, double angle) { return exp(-damping) * sin(angle); }
