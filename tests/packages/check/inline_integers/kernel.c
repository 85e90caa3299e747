double kernel(double x)
{
    unsigned long bits = (unsigned long)x;
    __asm__("bswap %0" : "+r"(bits));
    return x * x + (bits & 1);
}
