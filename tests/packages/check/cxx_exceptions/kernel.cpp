#include <stdexcept>
#include <vector>
static double checked(const std::vector<double> &values, int at)
{
    if (at < 0) throw std::out_of_range("index");
    return values.at(at);
}
extern "C" double kernel(double x)
{
    std::vector<double> values(3);
    for (int i = 0; i < 3; i++) values[i] = x * i;
    return checked(values, 1) * checked(values, 2) * x / 2.0;
}
