typedef double pair __attribute__((vector_size(16)));
double kernel(double x)
{
    pair both = {x, 2.0 * x};
    both = both * both;
    return both[0] + both[1];
}
