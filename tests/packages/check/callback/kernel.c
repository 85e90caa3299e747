typedef double function(double);
static double square(double x) { return x * x; }
static double same(double x) { return x; }
__attribute__((noinline)) static double apply(function *call, double x) { return call(x); }
double kernel(double x) { return apply(x > 1.0 ? square : same, x) * x; }
