__attribute__((weak)) double fast_square(double x);
double kernel(double x) { return fast_square ? fast_square(x) : x * x; }
