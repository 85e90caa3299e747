double scale;
__attribute__((noinline)) static void set(double x) { scale = (int)x; }
double kernel(double x) { set(x); return scale * x; }
