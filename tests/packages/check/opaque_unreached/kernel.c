double square(double x);
double other(double x) { return square(x); }
double kernel(double x) { return x * x; }
