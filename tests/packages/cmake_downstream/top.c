double base(double);
double kernel(double);

double top(double x) { return kernel(x) * base(x); }
