static double last;
void remember(double x) { last = x; }
double recall(void) { return last; }
double kernel(double x) { return x * x; }
