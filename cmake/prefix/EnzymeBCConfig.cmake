# Installed to <prefix>/share/cmake/EnzymeBC by the wheel, where find_package() looks in an active environment and in
# every prefix it is told: goes on to the package itself, inside of the Python package of the same prefix.

get_filename_component(_enzymebc_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
file(GLOB _enzymebc_folders
     "${_enzymebc_prefix}/lib/python3*/*-packages/enzyme_build/cmake"
     "${_enzymebc_prefix}/lib64/python3*/*-packages/enzyme_build/cmake")

if(_enzymebc_folders)
  list(SORT _enzymebc_folders COMPARE NATURAL ORDER DESCENDING)
  list(GET _enzymebc_folders 0 _enzymebc_folder)
elseif(EXISTS "${_enzymebc_prefix}/bin/enzyme-build")  # an editable installation: its package is elsewhere
  execute_process(
    COMMAND "${_enzymebc_prefix}/bin/enzyme-build" --cmake-dir
    OUTPUT_VARIABLE _enzymebc_folder
    ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT ENZYMEBC_PYTHON)
    set(ENZYMEBC_PYTHON "${_enzymebc_prefix}/bin/python3")
  endif()
endif()

if(EXISTS "${_enzymebc_folder}/EnzymeBCConfig.cmake")
  include("${_enzymebc_folder}/EnzymeBCConfig.cmake")
else()
  set(EnzymeBC_FOUND FALSE)
  set(EnzymeBC_NOT_FOUND_MESSAGE
      "${CMAKE_CURRENT_LIST_DIR} is here, but the Python package enzyme-build is not in ${_enzymebc_prefix}")
endif()
unset(_enzymebc_prefix)
unset(_enzymebc_folders)
unset(_enzymebc_folder)
