# enzymebc_install(TARGETS <target>... [EXPORT <name>] [DESTINATION <folder>] [COMPONENT <name>]
#                  [RULES_DESTINATION <folder>] [NO_RULES])
#
# Install libraries with the manifests beside them and the rule files. After the installation each library is compared
# with the one that was built: bitcode that a strip step took is put back, and if that cannot be, the install fails.

include_guard(GLOBAL)

function(enzymebc_install)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "NO_RULES" "EXPORT;DESTINATION;COMPONENT;RULES_DESTINATION" "TARGETS")
  _enzymebc_check_keywords(enzymebc_install
    "TARGETS, EXPORT, DESTINATION, COMPONENT, RULES_DESTINATION, NO_RULES; for more, call install() as well")
  if(NOT ARG_TARGETS)
    _enzymebc_fail(enzymebc_install "TARGETS is not given")
  endif()
  if(NOT ARG_DESTINATION AND CMAKE_INSTALL_LIBDIR)
    set(ARG_DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  elseif(NOT ARG_DESTINATION)
    set(ARG_DESTINATION lib)
  endif()
  set(component "")
  if(ARG_COMPONENT)
    set(component COMPONENT "${ARG_COMPONENT}")
  endif()
  set(export "")
  if(ARG_EXPORT)
    set(export EXPORT "${ARG_EXPORT}")
  endif()

  foreach(name IN LISTS ARG_TARGETS)
    _enzymebc_own_target(enzymebc_install target "${name}" SHARED_LIBRARY MODULE_LIBRARY)
    get_target_property(finalized "${target}" ENZYMEBC_FINALIZED)
    if(NOT finalized)
      _enzymebc_fail(enzymebc_install "'${target}' has no manifest; call enzymebc_target(${target}) before")
    endif()
    install(TARGETS "${target}" ${export} LIBRARY DESTINATION "${ARG_DESTINATION}" ${component})
    install(FILES "$<TARGET_FILE:${target}>.enzymebc.json" DESTINATION "${ARG_DESTINATION}" ${component})
    _enzymebc_restore_after_install("${target}" "${ARG_DESTINATION}" ${component})
    get_target_property(rules "${target}" ENZYMEBC_RULES)
    if(rules AND NOT ARG_NO_RULES)
      if(ARG_RULES_DESTINATION)
        set(folder "${ARG_RULES_DESTINATION}")
      else()
        set(folder "${ARG_DESTINATION}/enzymebc/${target}")
      endif()
      install(FILES ${rules} DESTINATION "${folder}" ${component})
    endif()
  endforeach()
endfunction()

function(_enzymebc_restore_after_install target destination)
  get_property(command GLOBAL PROPERTY _ENZYMEBC_COMMAND)
  get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  set(options "")
  if(CMAKE_CROSSCOMPILING AND CMAKE_OBJCOPY)
    set(options "--objcopy=${CMAKE_OBJCOPY}")
  endif()
  get_target_property(consumers "${target}" ENZYMEBC_CONSUMERS)
  set(script "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/EnzymeBC/install-${target}")
  set(included "${script}.cmake")
  if(multi)
    set(included "${script}-\${CMAKE_INSTALL_CONFIG_NAME}.cmake")
    string(APPEND script "-$<CONFIG>")
  endif()
  string(REPLACE ";" "]==] [==[" quoted "${command}")
  file(GENERATE OUTPUT "${script}.cmake" CONTENT
"# made by EnzymeBC: is the bitcode of ${target} in what was installed?
set(_enzymebc_folder \"${destination}\")
if(NOT IS_ABSOLUTE \"\${_enzymebc_folder}\")
  set(_enzymebc_folder \"\${CMAKE_INSTALL_PREFIX}/\${_enzymebc_folder}\")
endif()
execute_process(
  COMMAND [==[${quoted}]==] restore
          \"\$ENV{DESTDIR}\${_enzymebc_folder}/$<TARGET_FILE_NAME:${target}>\"
          --from [==[$<TARGET_FILE:${target}>]==] ${options}
  RESULT_VARIABLE _enzymebc_code
  ERROR_VARIABLE _enzymebc_error)
if(NOT _enzymebc_code EQUAL 0)
  string(REPLACE \"\\n\" \"\\n  \" _enzymebc_error \"\${_enzymebc_error}\")
  message(FATAL_ERROR \"enzymebc_install(): ${target} lost its bitcode while it was installed\\n  \${_enzymebc_error}\")
endif()
")
  install(CODE "include(\"${included}\")" ${ARGN})
endfunction()
