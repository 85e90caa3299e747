#ifndef SAMPLE_PROJECT_MY_SQUARE_H
#define SAMPLE_PROJECT_MY_SQUARE_H

/* *out = (*x)^2; lives in a library without bitcode */
void my_square(const double *x, double *out);

#endif
