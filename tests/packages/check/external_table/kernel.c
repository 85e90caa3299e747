extern double table[4];
double kernel(double x) { return table[(int)x] * x; }
