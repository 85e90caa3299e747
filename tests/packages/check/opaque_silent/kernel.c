double scale(void);
double kernel(double x) { return scale() * x; }
