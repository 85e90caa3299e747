# The command `enzyme-build`: a Python that runs the package this folder belongs to.
#
# Nothing goes into the cache: an isolated build's Python is gone tomorrow.

include_guard(GLOBAL)

set_property(GLOBAL PROPERTY _ENZYMEBC_DIR "${CMAKE_CURRENT_LIST_DIR}")

# Set the global property _ENZYMEBC_COMMAND to the command as a list, or `problem` in the caller to why there is none.
#
# Tried in this order: ENZYMEBC_PYTHON (then no other), what the project's own search for Python found (or
# scikit-build-core set), the Python of the prefix that this folder lies in, that of the active environment, python3.
function(_enzymebc_find_command problem)
  set(${problem} "" PARENT_SCOPE)
  get_property(known GLOBAL PROPERTY _ENZYMEBC_COMMAND)
  if(known)
    return()
  endif()
  get_property(folder GLOBAL PROPERTY _ENZYMEBC_DIR)
  include("${folder}/EnzymeBCConfigVersion.cmake")
  set(version "${PACKAGE_VERSION}")

  if(ENZYMEBC_PYTHON)
    set(candidates "${ENZYMEBC_PYTHON}")
  else()
    set(candidates "${Python_EXECUTABLE}" "${Python3_EXECUTABLE}" "${PYTHON_EXECUTABLE}")
    if(folder MATCHES "^(.*)/lib(64)?/(python[0-9.]*)/(site|dist)-packages/enzyme_build/cmake$")
      list(APPEND candidates "${CMAKE_MATCH_1}/bin/${CMAKE_MATCH_3}" "${CMAKE_MATCH_1}/bin/python3")
    endif()
    list(APPEND candidates "$ENV{VIRTUAL_ENV}/bin/python3" "$ENV{CONDA_PREFIX}/bin/python3")
    find_program(_enzymebc_python NAMES python3 python NO_CMAKE_FIND_ROOT_PATH)
    list(APPEND candidates "${_enzymebc_python}")
    unset(_enzymebc_python CACHE)
  endif()
  list(REMOVE_DUPLICATES candidates)

  set(tried "")
  foreach(python IN LISTS candidates)
    if(NOT EXISTS "${python}")
      if(ENZYMEBC_PYTHON)
        string(APPEND tried "\n  ENZYMEBC_PYTHON is ${python}, which does not exist")
      endif()
      continue()
    endif()
    execute_process(
      COMMAND "${python}" "${folder}/run.py" "${version}" --version
      RESULT_VARIABLE code
      OUTPUT_VARIABLE output
      ERROR_VARIABLE output
      OUTPUT_STRIP_TRAILING_WHITESPACE
      ERROR_STRIP_TRAILING_WHITESPACE)
    if(code EQUAL 0)
      set_property(GLOBAL PROPERTY _ENZYMEBC_COMMAND "${python}" "${folder}/run.py" "${version}")
      return()
    endif()
    string(REPLACE "\n" "\n    " output "${output}")
    string(APPEND tried "\n  ${python}:\n    ${output}")
  endforeach()
  if(NOT tried)
    set(tried "\n  found no Python")
  endif()
  set(${problem} "the CMake part of enzyme-build ${version} is here (${folder}), the Python part does not run:${tried}"
      PARENT_SCOPE)
endfunction()

# Run `enzyme-build` now; set `output` in the caller, or stop with the command's own words, naming `function`.
function(_enzymebc_run function output)
  get_property(command GLOBAL PROPERTY _ENZYMEBC_COMMAND)
  execute_process(
    COMMAND ${command} ${ARGN}
    RESULT_VARIABLE code
    OUTPUT_VARIABLE said
    ERROR_VARIABLE error
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_STRIP_TRAILING_WHITESPACE)
  if(NOT code EQUAL 0)
    _enzymebc_fail("${function}" "${error}")
  endif()
  set(${output} "${said}" PARENT_SCOPE)
endfunction()
