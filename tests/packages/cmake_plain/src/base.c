double base(double x) { return x * x; }
