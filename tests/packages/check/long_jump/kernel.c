#include <setjmp.h>
static jmp_buf place;
void give_up(void) { longjmp(place, 1); }
double kernel(double x)
{
    if (setjmp(place)) return x;
    return x * x;
}
