extern double scale;
double square(double x);
double augmented_square(double x) { return square(x); }
double gradient_square(double x, double d_result) { return 2.0 * x * d_result; }
struct pair { double value, tangent; };
struct pair tangent_square(double x, double d_x)
{
    struct pair result = {square(x), 2.0 * x * d_x};
    return result;
}
double kernel(double x)
{
    double y = square(x);
    return scale * y;
}
