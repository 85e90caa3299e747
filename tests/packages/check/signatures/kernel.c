#include <stdbool.h>
struct box { double width, height, depth; };
double area(struct box box) { return box.width * box.height; }
bool inside(double x) { return x > 0.0; }
double first(double x, ...) { return x; }
double kernel(double x) { return inside(x) ? x * x : 0.0; }
