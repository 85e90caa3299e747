static double *current;
static double number = 3.0, other = 5.0;
void set_numbers(double x) { number = x; other = 2.0 * x; }
__attribute__((noinline)) void choose(int which) { current = which ? &number : &other; }
double kernel(double x) { choose((int)x & 1); return *current * x; }
