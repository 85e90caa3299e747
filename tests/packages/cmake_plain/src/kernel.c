#include "shift.h"

double base(double);
double cube(double);
double scale(double);

/* d/dx of 2 (x + 1)^2 + x^3, with base(y) = y^2 */
double kernel(double x) { return scale(base(shift(x))) + cube(x); }
double twice(double x) { return scale(x); }
double thrice(double x) { return twice(x) + x; }

double augmented_cube(double x) { return cube(x); }
double gradient_cube(double x, double d_result) { return 3.0 * x * x * d_result; }
struct dual { double result, derivative; };
struct dual tangent_cube(double x, double d_x) {
    struct dual both = { cube(x), 3.0 * x * x * d_x };
    return both;
}
