#include "shift.h"

double shift(double x) { return x + STEP; }
