void log_step(double x);
double kernel(double x) { log_step(x); return x * x; }
