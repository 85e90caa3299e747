static double portable(double x) { return x * x; }
static void *choose(void) { return portable; }
double square(double) __attribute__((ifunc("choose")));
double kernel(double x) { return square(x) * x; }
