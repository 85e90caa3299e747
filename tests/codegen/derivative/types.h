struct point { double x, y; int tag; };
typedef double real_t;
