#ifndef SAMPLE_PROJECT_KERNEL_H
#define SAMPLE_PROJECT_KERNEL_H

/* *out = sum over i of exp(-x[i]) * sin(x[i]^2) */
void kernel(const double *x, int count, double *out);

/* exp(-damping) * sin(angle); in another source file than kernel */
double damped_sine(double damping, double angle);

#endif
