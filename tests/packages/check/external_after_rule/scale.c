double scale = 3.0;
double square(double x) { return x * x; }
