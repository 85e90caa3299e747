void set(double x);
double get(void);
double kernel(double x) { set(x); return get() * x; }
