double kernel(double x) { return x * x; }
