static _Atomic int calls;
void reset(void) { calls = 0; }
int count(void) { return calls; }
__attribute__((noinline)) static void tick(void) { calls++; }
double kernel(double x) { tick(); return x * x; }
