# enzymebc_target(<target> ...)     the two steps together: enzymebc_embed() and enzymebc_finalize()
# enzymebc_finalize(<target> ...)   after each link: merge the bitcode, attach rules, write the manifest, check
# enzymebc_get_manifest(<variable> <target>)
#
# Linked libraries that were finalized themselves are found while the build system is generated: each such target lists
# its own file in INTERFACE_LINK_DEPENDS, which CMake passes on as it does libraries, through generator expressions and
# installed packages; finalize takes those files that have a manifest beside them.

include_guard(GLOBAL)

set_property(GLOBAL PROPERTY _ENZYMEBC_KEYWORDS
  "RULES, CONSUMERS, ROOTS, WAIVE, MODES, OPTIMIZE, FAIL_ON, NATIVE, NO_CHECK, MANIFEST_OUTPUT_VARIABLE")

macro(_enzymebc_parse_finalize function)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "NATIVE;NO_CHECK" "OPTIMIZE;FAIL_ON;MANIFEST_OUTPUT_VARIABLE"
                        "RULES;CONSUMERS;ROOTS;WAIVE;MODES")
  get_property(keywords GLOBAL PROPERTY _ENZYMEBC_KEYWORDS)
  _enzymebc_check_keywords(${function} "${keywords}")
  _enzymebc_own_target(${function} target "${name}" SHARED_LIBRARY MODULE_LIBRARY)
  _enzymebc_consumers(ARG_CONSUMERS "${target}" ${ARG_CONSUMERS})
  _enzymebc_check_values(${function})
  # a list inside of a generator expression is kept together until the build
  foreach(keyword IN ITEMS RULES ROOTS)
    string(REPLACE "\\;" "$<SEMICOLON>" ARG_${keyword} "${ARG_${keyword}}")
  endforeach()
endmacro()

function(enzymebc_target name)
  _enzymebc_parse_finalize(enzymebc_target)
  if(NOT ARG_NATIVE)
    _enzymebc_embed_target(enzymebc_target "${target}" ${ARG_CONSUMERS})
  endif()
  _enzymebc_finalize_target(enzymebc_target "${target}")
  if(ARG_MANIFEST_OUTPUT_VARIABLE)
    enzymebc_get_manifest(manifest "${target}")
    set(${ARG_MANIFEST_OUTPUT_VARIABLE} "${manifest}" PARENT_SCOPE)
  endif()
endfunction()

function(enzymebc_finalize name)
  _enzymebc_parse_finalize(enzymebc_finalize)
  _enzymebc_finalize_target(enzymebc_finalize "${target}")
  if(ARG_MANIFEST_OUTPUT_VARIABLE)
    enzymebc_get_manifest(manifest "${target}")
    set(${ARG_MANIFEST_OUTPUT_VARIABLE} "${manifest}" PARENT_SCOPE)
  endif()
endfunction()

# Also for imported targets: their manifest lies beside the library, wherever that was installed.
function(enzymebc_get_manifest output target)
  if(NOT TARGET "${target}")
    _enzymebc_fail(enzymebc_get_manifest "there is no target '${target}'")
  endif()
  set(${output} "$<TARGET_FILE:${target}>.enzymebc.json" PARENT_SCOPE)
endfunction()

function(_enzymebc_check_values function)
  foreach(mode IN LISTS ARG_MODES)
    if(NOT mode MATCHES "^(reverse|forward)$")
      _enzymebc_fail(${function} "MODES: '${mode}' is neither reverse nor forward")
    endif()
  endforeach()
  if(ARG_FAIL_ON AND NOT ARG_FAIL_ON MATCHES "^(error|warning|never)$")
    _enzymebc_fail(${function} "FAIL_ON: '${ARG_FAIL_ON}' is none of error, warning, never")
  endif()
  if(ARG_OPTIMIZE AND NOT ARG_OPTIMIZE MATCHES "^O[0-3]$")
    _enzymebc_fail(${function} "OPTIMIZE: '${ARG_OPTIMIZE}' is none of O0, O1, O2, O3")
  endif()
  foreach(waiver IN LISTS ARG_WAIVE)
    if(NOT waiver MATCHES "^[^=]+=." OR waiver MATCHES ";")
      _enzymebc_fail(${function} "WAIVE: '${waiver}' is not symbol=reason, without semicolons")
    endif()
  endforeach()
  if(ARG_NATIVE AND (ARG_RULES OR ARG_ROOTS))
    _enzymebc_fail(${function} "NATIVE is for a library without bitcode; it has neither RULES nor ROOTS.\n\
Rules for its functions belong to the libraries that call them")
  endif()
endfunction()

# Reads ARG_* of the caller.
function(_enzymebc_finalize_target function target)
  get_target_property(before "${target}" ENZYMEBC_FINALIZED)
  if(before)
    _enzymebc_fail(${function} "'${target}' is finalized already; give all arguments in one call")
  endif()
  set(options "--project=${PROJECT_SOURCE_DIR}" "--source-root=${PROJECT_SOURCE_DIR}")
  _enzymebc_rule_files(${function} rules ${ARG_RULES})
  foreach(rule IN LISTS rules)
    _enzymebc_append_option(options --rule-file "${rule}")
  endforeach()
  foreach(root IN LISTS ARG_ROOTS)
    _enzymebc_append_option(options --root "${root}")
  endforeach()
  foreach(waiver IN LISTS ARG_WAIVE)
    _enzymebc_append_option(options --waive "${waiver}")
  endforeach()
  foreach(consumer IN LISTS ARG_CONSUMERS)
    list(APPEND options "--consumer=${consumer}")
  endforeach()
  _enzymebc_check_options(check)
  list(APPEND options ${check})
  if(NOT ARG_OPTIMIZE)
    set(ARG_OPTIMIZE "${ENZYMEBC_OPTIMIZE}")
  endif()
  if(ARG_OPTIMIZE)
    list(APPEND options "--optimize=${ARG_OPTIMIZE}")
  endif()
  if(ARG_NO_CHECK OR (DEFINED ENZYMEBC_CHECK AND NOT ENZYMEBC_CHECK))
    list(APPEND options --no-check)
  endif()
  if(ARG_NATIVE)
    list(APPEND options --native-only)
  else()
    _enzymebc_toolchain(${function} tool ${ARG_CONSUMERS})
    list(APPEND options "--llvm=${tool_LLVM}"
         "--keep-linked=${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/EnzymeBC/${target}$<$<BOOL:$<CONFIG>>:-$<CONFIG>>")
    if(CMAKE_CROSSCOMPILING AND CMAKE_OBJCOPY)
      list(APPEND options "--objcopy=${CMAKE_OBJCOPY}")
    endif()
    target_link_options("${target}" PRIVATE
      "$<$<LINK_LANG_AND_ID:C,GNU,Clang>:LINKER:--build-id=sha1>"
      "$<$<LINK_LANG_AND_ID:CXX,GNU,Clang>:LINKER:--build-id=sha1>")
  endif()

  get_target_property(type "${target}" TYPE)
  set(depends "$<FILTER:$<TARGET_PROPERTY:${target},LINK_DEPENDS>,EXCLUDE,[.]toml$>")
  get_property(command GLOBAL PROPERTY _ENZYMEBC_COMMAND)
  # A changed rule links again: the bitcode of the last link is no longer there to start from.
  set_property(TARGET "${target}" APPEND PROPERTY LINK_DEPENDS ${rules})
  add_custom_command(
    TARGET "${target}" POST_BUILD
    COMMAND ${command} finalize "$<TARGET_FILE:${target}>" ${options}
            "$<$<BOOL:${depends}>:--may-link=$<JOIN:${depends},$<SEMICOLON>--may-link=>>"
    COMMENT ""
    VERBATIM COMMAND_EXPAND_LISTS)
  if(type STREQUAL "SHARED_LIBRARY")
    set_property(TARGET "${target}" APPEND PROPERTY INTERFACE_LINK_DEPENDS
                 "$<TARGET_FILE:$<TARGET_NAME:${target}>>")
  endif()
  set_property(TARGET "${target}" APPEND PROPERTY ADDITIONAL_CLEAN_FILES "$<TARGET_FILE:${target}>.enzymebc.json")
  set_target_properties("${target}" PROPERTIES
    ENZYMEBC_FINALIZED TRUE
    ENZYMEBC_RULES "${rules}"
    ENZYMEBC_CONSUMERS "${ARG_CONSUMERS}"
    ENZYMEBC_MANIFEST "$<TARGET_FILE:${target}>.enzymebc.json")
  set_property(TARGET "${target}" APPEND PROPERTY EXPORT_PROPERTIES ENZYMEBC_FINALIZED ENZYMEBC_CONSUMERS)
  # CMake's strip at installation reads the variable of the target's own directory.
  _enzymebc_keeping_strip(strip)
  if(strip)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL set CMAKE_STRIP [==[${strip}]==])")
  endif()
endfunction()

# Set `output` to the options of the check; reads ARG_MODES and ARG_FAIL_ON of the caller.
function(_enzymebc_check_options output)
  set(options "")
  foreach(mode IN LISTS ARG_MODES)
    list(APPEND options "--mode=${mode}")
  endforeach()
  if(ARG_FAIL_ON)
    list(APPEND options "--fail-on=${ARG_FAIL_ON}")
  endif()
  set(${output} "${options}" PARENT_SCOPE)
endfunction()

# Set `output` to absolute paths; patterns are matched again when the build starts. What is generated, or a generator
# expression, is taken as it is.
function(_enzymebc_rule_files function output)
  set(files "")
  foreach(rule IN LISTS ARGN)
    if(rule MATCHES "\\$<")
      list(APPEND files "${rule}")
      continue()
    endif()
    get_filename_component(path "${rule}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    get_source_file_property(generated "${path}" GENERATED)
    if(rule MATCHES "[*?]")
      file(GLOB found LIST_DIRECTORIES false CONFIGURE_DEPENDS "${path}")
      if(NOT found)
        _enzymebc_fail(${function} "RULES: '${rule}' matches no file below ${CMAKE_CURRENT_SOURCE_DIR}")
      endif()
      list(SORT found)
      list(APPEND files ${found})
    elseif(EXISTS "${path}" OR generated)
      list(APPEND files "${path}")
    else()
      _enzymebc_fail(${function} "RULES: there is no file '${path}'")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES files)
  set(${output} "${files}" PARENT_SCOPE)
endfunction()
