# Keywords of functions, and errors that name the function.

include_guard(GLOBAL)

# Stop with an error whose text keeps its lines.
function(_enzymebc_fail function text)
  string(REPLACE "\n" "\n  " text "${text}")
  message(FATAL_ERROR "${function}():\n  ${text}")
endfunction()

# Complain about what cmake_parse_arguments() left over, or found without a value. It is a macro: it reads ARG_*.
macro(_enzymebc_check_keywords function known)
  if(DEFINED ARG_UNPARSED_ARGUMENTS)
    _enzymebc_fail("${function}" "does not know '${ARG_UNPARSED_ARGUMENTS}'; the keywords are ${known}")
  endif()
  if(DEFINED ARG_KEYWORDS_MISSING_VALUES)
    _enzymebc_fail("${function}" "${ARG_KEYWORDS_MISSING_VALUES} needs a value")
  endif()
endmacro()

# Set `output` to the real target behind `name`, which must be a library of one of the types in ARGN of this project.
function(_enzymebc_own_target function output name)
  if(NOT TARGET "${name}")
    _enzymebc_fail("${function}" "there is no target '${name}'; call add_library() before")
  endif()
  get_target_property(aliased "${name}" ALIASED_TARGET)
  if(aliased)
    set(name "${aliased}")
  endif()
  get_target_property(imported "${name}" IMPORTED)
  get_target_property(type "${name}" TYPE)
  string(REPLACE ";" ", " allowed "${ARGN}")
  if(imported)
    _enzymebc_fail("${function}" "'${name}' is an imported target, which is not built here")
  elseif(NOT type IN_LIST ARGN)
    _enzymebc_fail("${function}" "'${name}' is of type ${type}; it must be one of ${allowed}")
  endif()
  set(${output} "${name}" PARENT_SCOPE)
endfunction()

# Append `option=value` to the list `output`; a generator expression may stand for several values.
function(_enzymebc_append_option output option value)
  set(result "${${output}}")
  if(value MATCHES "\\$<")
    list(APPEND result "$<$<BOOL:${value}>:${option}=$<JOIN:${value},$<SEMICOLON>${option}=>>")
  else()
    list(APPEND result "${option}=${value}")
  endif()
  set(${output} "${result}" PARENT_SCOPE)
endfunction()
