# enzymebc_add_check(<name> TARGETS <target>... [MODES ...] [FAIL_ON ...])
#   A test for ctest: `enzyme-build check` on the libraries of targets, local or imported, together.
#
# enzymebc_generate_rules(RULES <file>... [OUTPUT <file>] [OUTPUT_VARIABLE <variable>] [SOURCES <file>...])
#   Render rules as the C file that Enzyme's plugin of clang reads, for those who differentiate while they compile
#   (find_package(Enzyme), ClangEnzymeFlags). The plugin wants it in the module that it differentiates, so each of
#   SOURCES (C) includes a rendering of its own. Never for code of libraries: see docs/cmake.md.

include_guard(GLOBAL)

function(enzymebc_add_check name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "FAIL_ON" "TARGETS;MODES")
  _enzymebc_check_keywords(enzymebc_add_check "TARGETS, MODES, FAIL_ON")
  _enzymebc_check_values(enzymebc_add_check)
  if(NOT ARG_TARGETS)
    _enzymebc_fail(enzymebc_add_check "TARGETS is not given")
  endif()
  set(files "")
  foreach(target IN LISTS ARG_TARGETS)
    if(NOT TARGET "${target}")
      _enzymebc_fail(enzymebc_add_check "there is no target '${target}'")
    endif()
    list(APPEND files "$<TARGET_FILE:${target}>")
  endforeach()
  _enzymebc_check_options(options)
  get_property(command GLOBAL PROPERTY _ENZYMEBC_COMMAND)
  add_test(NAME "${name}" COMMAND ${command} check ${files} ${options})
endfunction()

function(enzymebc_generate_rules)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "OUTPUT;OUTPUT_VARIABLE" "RULES;SOURCES")
  _enzymebc_check_keywords(enzymebc_generate_rules "RULES, OUTPUT, OUTPUT_VARIABLE, SOURCES")
  if(NOT ARG_RULES)
    _enzymebc_fail(enzymebc_generate_rules "RULES is not given")
  elseif(NOT ARG_SOURCES AND NOT ARG_OUTPUT_VARIABLE AND NOT ARG_OUTPUT)
    _enzymebc_fail(enzymebc_generate_rules "give the SOURCES that include the file, or OUTPUT or OUTPUT_VARIABLE")
  endif()
  _enzymebc_rule_files(enzymebc_generate_rules rules ${ARG_RULES})
  if(ARG_OUTPUT OR ARG_OUTPUT_VARIABLE)
    if(NOT ARG_OUTPUT)
      string(MD5 key "${rules}")
      string(SUBSTRING "${key}" 0 8 key)
      set(ARG_OUTPUT "enzymebc_rules_${key}.c")
    endif()
    get_filename_component(output "${ARG_OUTPUT}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
    _enzymebc_render_rules("${output}" "" ${rules})
  endif()
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    if(NOT path MATCHES "[.]c$")
      _enzymebc_fail(enzymebc_generate_rules "SOURCES: '${source}' is no C source; include the OUTPUT in it as extern \"C\"")
    endif()
    string(MD5 key "${path}")
    string(SUBSTRING "${key}" 0 8 key)
    set(included "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/EnzymeBC/rules_${key}.c")
    _enzymebc_render_rules("${included}" "${key}" ${rules})
    set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_OPTIONS -include "${included}")
    set_property(SOURCE "${source}" APPEND PROPERTY OBJECT_DEPENDS "${included}")
  endforeach()
  if(ARG_OUTPUT_VARIABLE)
    set(${ARG_OUTPUT_VARIABLE} "${output}" PARENT_SCOPE)
  endif()
endfunction()

# Add the command that writes `output` from the rule files in ARGN; the names of its globals end with `suffix`.
function(_enzymebc_render_rules output suffix)
  get_property(command GLOBAL PROPERTY _ENZYMEBC_COMMAND)
  add_custom_command(
    OUTPUT "${output}"
    COMMAND ${command} rules generate ${ARGN} --output "${output}" "--suffix=${suffix}"
    DEPENDS ${ARGN}
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Rendering rules for Enzyme's plugin"
    VERBATIM COMMAND_EXPAND_LISTS)
endfunction()
