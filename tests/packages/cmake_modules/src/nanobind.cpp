#include <nanobind/nanobind.h>

extern "C" double kernel(double);

NB_MODULE(with_nanobind, module) { module.def("kernel", &kernel); }
