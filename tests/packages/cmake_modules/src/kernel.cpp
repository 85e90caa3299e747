extern "C" __attribute__((visibility("default"))) double kernel(double x) { return x * x * x; }
