struct Shape {
    double size;
    virtual double area(double x) const { return size * x; }
};
struct Square : Shape {
    double area(double x) const override { return size * x * x; }
};
extern "C" double kernel(double x)
{
    Shape line;
    Square square;
    line.size = square.size = 3.0;
    const Shape *shape = &line;
    if (x > 1.0) shape = &square;
    return shape->area(x);
}
