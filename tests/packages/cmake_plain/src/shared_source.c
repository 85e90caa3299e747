static double helper(double x) { return x; }
__attribute__((visibility("hidden"))) double in_both(double x) { return helper(x); }
