static double state;
void set(double x) { state = x; }
double get(void) { return state; }
