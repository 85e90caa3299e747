#include <cstdlib>
#include <iostream>
static double first_setting()
{
    const char *text = std::getenv("NO_SUCH_SETTING");
    return text ? std::atof(text) : 2.0;
}
static const double scale = first_setting();
void greet() { std::cout << "hello"; }
extern "C" double kernel(double x) { return scale * x; }
