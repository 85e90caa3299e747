module shapes
contains
  double precision function square(x)
    double precision, intent(in) :: x
    square = x * x
  end function
end module

subroutine scale(x, y, count)
  integer, intent(in) :: count
  double precision, intent(in) :: x(count)
  double precision, intent(out) :: y(count)
  y = 2d0 * x
end subroutine
