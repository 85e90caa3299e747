double table[4] = {1.0, 2.0, 3.0, 4.0};
void set(int i, double value) { table[i] = value; }
double kernel(double x) { return table[(int)x] * x; }
