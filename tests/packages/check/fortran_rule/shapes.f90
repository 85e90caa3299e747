module shapes
contains
  double precision function square(x)
    double precision, intent(in) :: x
    square = x * x
  end function
end module
