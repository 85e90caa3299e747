double square(double x);
double kernel(double x) { return square(x) * x; }
