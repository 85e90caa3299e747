#include <stdlib.h>
static const char *home;
__attribute__((constructor)) static void start(void) { home = getenv("HOME"); }
const char *where(void) { return home; }
double kernel(double x) { return x * x; }
