# EnzymeBC: bitcode, rules and manifests for Enzyme, for the targets of a CMake project. See docs/cmake.md.
#
#   find_package(EnzymeBC REQUIRED)
#   add_library(kernel SHARED kernel.c util.c)
#   enzymebc_target(kernel RULES rules/my_square.toml CONSUMERS julia-1.11)
#   enzymebc_install(TARGETS kernel DESTINATION lib)
#
# One file a concern; the functions are a face of the command `enzyme-build` and hold no knowledge of rules or bitcode.

if(CMAKE_VERSION VERSION_LESS 3.20)
  set(EnzymeBC_FOUND FALSE)
  set(EnzymeBC_NOT_FOUND_MESSAGE "EnzymeBC needs CMake 3.20 or newer, this is ${CMAKE_VERSION}")
  return()
endif()

cmake_policy(PUSH)
cmake_policy(VERSION 3.20...4.0)

include("${CMAKE_CURRENT_LIST_DIR}/EnzymeBCCommand.cmake")
_enzymebc_find_command(EnzymeBC_NOT_FOUND_MESSAGE)
if(EnzymeBC_NOT_FOUND_MESSAGE)
  set(EnzymeBC_FOUND FALSE)
else()
  unset(EnzymeBC_NOT_FOUND_MESSAGE)
  include("${CMAKE_CURRENT_LIST_DIR}/EnzymeBCArguments.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/EnzymeBCBinutils.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/EnzymeBCToolchain.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/EnzymeBCEmbed.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/EnzymeBCFinalize.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/EnzymeBCInstall.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/EnzymeBCRules.cmake")
  set(EnzymeBC_FOUND TRUE)
endif()

cmake_policy(POP)
