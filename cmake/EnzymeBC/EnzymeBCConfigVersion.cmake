# The version of this package, and whether it serves the one that find_package() asks for: the same major version
# (before 1.0 the same minor version too) and not older, or any in a range.

set(PACKAGE_VERSION "0.1.0")  # that of the Python package; tests/cmake/test_find_package.py holds them together

if(PACKAGE_FIND_VERSION_RANGE)
  if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION_MIN
     OR (PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL "INCLUDE" AND PACKAGE_VERSION VERSION_GREATER PACKAGE_FIND_VERSION_MAX)
     OR (PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL "EXCLUDE"
         AND PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION_MAX))
    set(PACKAGE_VERSION_COMPATIBLE FALSE)
  else()
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
  endif()
  return()
endif()

set(PACKAGE_VERSION_COMPATIBLE TRUE)
if(PACKAGE_FIND_VERSION)
  string(REGEX MATCH "^[0-9]+(\\.[0-9]+)?" _enzymebc_series "${PACKAGE_VERSION}")
  string(REGEX MATCH "^[0-9]+(\\.[0-9]+)?" _enzymebc_asked "${PACKAGE_FIND_VERSION}")
  if(NOT PACKAGE_VERSION MATCHES "^0\\.")
    string(REGEX MATCH "^[0-9]+" _enzymebc_series "${PACKAGE_VERSION}")
    string(REGEX MATCH "^[0-9]+" _enzymebc_asked "${PACKAGE_FIND_VERSION}")
  endif()
  if(_enzymebc_asked MATCHES "^0$")  # `find_package(EnzymeBC 0)`: any version before 1.0
    set(_enzymebc_asked "${_enzymebc_series}")
  endif()
  if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION OR NOT _enzymebc_series VERSION_EQUAL _enzymebc_asked)
    set(PACKAGE_VERSION_COMPATIBLE FALSE)
  elseif(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
  unset(_enzymebc_series)
  unset(_enzymebc_asked)
endif()
