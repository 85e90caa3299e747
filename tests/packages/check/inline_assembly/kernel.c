double kernel(double x)
{
    double y = x;
    __asm__("" : "+x"(y));
    return y * x;
}
