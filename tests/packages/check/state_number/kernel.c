static double state;
__attribute__((noinline)) static void set(double x) { state = x; }
double kernel(double x) { set(x); return state * x; }
