#include <pybind11/pybind11.h>

extern "C" double kernel(double);

PYBIND11_MODULE(with_pybind11, module) { module.def("kernel", &kernel); }
