# Tools that do not cope with .llvmbc. In the directory that calls find_package(EnzymeBC), and below it, CMAKE_STRIP and
# CMAKE_AR are replaced by what does; the variables in the cache stay as they are.
#
# strip: llvm-strip removes the section, GNU strip keeps it. `cmake --install --strip`, scikit-build-core and pybind11 use
#        CMAKE_STRIP. What another strip program takes, enzymebc_install() puts back.
# ar:    with an LLVM plugin in /usr/lib/bfd-plugins (Debian's llvm packages), GNU ar takes an object with .llvmbc for LTO
#        input and leaves its symbols out of the index: the linker then passes it by. gcc-ar reads it as what it is.

function(_enzymebc_keeping_strip output)
  set(${output} "" PARENT_SCOPE)
  set(wrapper "${CMAKE_BINARY_DIR}/CMakeFiles/EnzymeBC/strip")
  if(NOT CMAKE_STRIP OR CMAKE_STRIP STREQUAL wrapper)
    return()
  endif()
  execute_process(
    COMMAND "${CMAKE_STRIP}" --version
    OUTPUT_VARIABLE said
    ERROR_VARIABLE said
    RESULT_VARIABLE code)
  if(NOT code EQUAL 0 OR NOT said MATCHES "LLVM|llvm")
    return()
  endif()
  string(REPLACE "'" "'\\''" quoted "${CMAKE_STRIP}")
  set(text "#!/bin/sh\n# made by EnzymeBC: strip, but keep the bitcode\nexec '${quoted}' --keep-section=.llvmbc \"$@\"\n")
  set(written "")
  if(EXISTS "${wrapper}")
    file(READ "${wrapper}" written)
  endif()
  if(NOT written STREQUAL text)
    file(WRITE "${wrapper}.new/strip" "${text}")
    file(COPY "${wrapper}.new/strip" DESTINATION "${CMAKE_BINARY_DIR}/CMakeFiles/EnzymeBC"
         FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    file(REMOVE_RECURSE "${wrapper}.new")
  endif()
  set(${output} "${wrapper}" PARENT_SCOPE)
endfunction()

_enzymebc_keeping_strip(_enzymebc_strip)
if(_enzymebc_strip)
  set(CMAKE_STRIP "${_enzymebc_strip}")
endif()
unset(_enzymebc_strip)

foreach(_enzymebc_language IN ITEMS C CXX)
  foreach(_enzymebc_tool IN ITEMS AR RANLIB)
    set(_enzymebc_own "${CMAKE_${_enzymebc_language}_COMPILER_${_enzymebc_tool}}")
    if(_enzymebc_own AND CMAKE_${_enzymebc_tool} AND NOT CMAKE_${_enzymebc_tool} MATCHES "llvm-|gcc-")
      set(CMAKE_${_enzymebc_tool} "${_enzymebc_own}")
    endif()
  endforeach()
endforeach()
unset(_enzymebc_language)
unset(_enzymebc_tool)
unset(_enzymebc_own)
