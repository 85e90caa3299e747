#define STEP 1.0
double shift(double x);
