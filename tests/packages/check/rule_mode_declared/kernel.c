double square(double x);
double augmented_square(double x) { return square(x); }
double gradient_square(double x, double d_result) { return 2.0 * x * d_result; }
double kernel(double x) { return square(x) * x; }
