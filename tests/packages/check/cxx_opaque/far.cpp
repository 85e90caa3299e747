namespace geo {
double far(double x) { return x * x; }
}
